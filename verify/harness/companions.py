"""Names that companions of Lightning had in the day of the code and have no more: transformers' own AdamW.

Runs in the target's interpreter, beside the harness: both trees get the same, and it is told.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from .compat_shims import asking
from .trackers import Changed

_GONE = "AdamW"


def lend(used: dict[str, None]) -> None:
    """Have transformers that no longer has it answer for it; who asks is added to `used`."""

    def answer() -> Any:
        used[f"transformers.{_GONE} to {asking(__name__, 'transformers.')}"] = None
        return _adamw()

    def package(module: Any) -> None:
        kind: Any = type(sys.modules.get("transformers", module))  # it puts an object of its own in its place
        plain = kind.__getattr__ if "__getattr__" in vars(kind) else None
        if plain is None:
            return

        @functools.wraps(plain)
        def lent(self: Any, name: str) -> Any:
            try:
                return plain(self, name)
            except AttributeError:
                if name != _GONE or self.__name__ != "transformers":
                    raise
            return answer()

        kind.__getattr__ = lent

    def part(module: Any) -> None:
        def lent(name: str) -> Any:
            if name != _GONE:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)
            return answer()

        if not hasattr(module, _GONE):
            module.__getattr__ = lent

    sys.meta_path.insert(0, Changed("transformers", package))
    sys.meta_path.insert(0, Changed("transformers.optimization", part))


@functools.cache
def _adamw() -> Any:
    """Adam with decoupled weight decay as transformers computed it: without decay by default, which comes last."""
    import torch

    class AdamW(torch.optim.Optimizer):
        def __init__(
            self,
            params: Any,
            lr: float = 1e-3,
            betas: tuple[float, float] = (0.9, 0.999),
            eps: float = 1e-6,
            weight_decay: float = 0.0,
            correct_bias: bool = True,
            no_deprecation_warning: bool = False,
        ) -> None:
            given = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "correct_bias": correct_bias}
            super().__init__(params, given)

        @torch.no_grad()
        def step(self, closure: Any = None) -> Any:
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for weight in group["params"]:
                    if weight.grad is not None:
                        _move(weight, self.state[weight], group)
            return loss

    return AdamW


def _move(weight: Any, state: Any, group: Any) -> None:
    import torch

    if not state:
        state.update(step=0, exp_avg=torch.zeros_like(weight), exp_avg_sq=torch.zeros_like(weight))
    (first, second), rate = group["betas"], group["lr"]
    state["step"] += 1
    state["exp_avg"].mul_(first).add_(weight.grad, alpha=1.0 - first)
    state["exp_avg_sq"].mul_(second).addcmul_(weight.grad, weight.grad, value=1.0 - second)
    step = rate
    if group["correct_bias"]:
        step = rate * (1.0 - second ** state["step"]) ** 0.5 / (1.0 - first ** state["step"])
    weight.addcdiv_(state["exp_avg"], state["exp_avg_sq"].sqrt().add_(group["eps"]), value=-step)
    if group["weight_decay"] > 0.0:
        weight.add_(weight, alpha=-rate * group["weight_decay"])
