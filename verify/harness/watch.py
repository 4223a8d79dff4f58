"""What is put around torch and Lightning while a project trains, and what is told of it.

Runs in the target's interpreter, beside the harness: standard library, torch and Lightning alone. Works on Lightning
1.4 to 2.x.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from . import earlier, logger_calls, measures, short, silenced
from .gradients import Gradients
from .pace import TrainingPace

VALUES_EACH = 2000
VALUES_ALL = 200_000
RUNNING = ((".strategies", ("Strategy", "DDPStrategy")), (".accelerators", ("Accelerator",)))
"""What makes training steps and backward passes: up to 1.5 the accelerator does, up to 1.9 DDP its own steps."""


class Watch:
    """What is put around torch and Lightning, and what it has seen."""

    def __init__(self, record: Callable[..., None], spec: dict[str, Any]) -> None:
        self.spec = spec
        self.keeper = silenced.Keeper(spec, str(Path.cwd()), self.handed)
        self.pace = TrainingPace(spec, record)
        self.begin(record)

    def begin(self, record: Callable[..., None]) -> None:
        """Record into another place from here on, with nothing seen yet."""
        self.record = record
        self.inside_backward = False
        self.began = time.monotonic()
        self.steps = self.losses = 0
        self.asked: dict[str, Any] = {}
        self.autocast: str | None = None
        self.device = ""
        self.warned: list[str] = []
        self.gradients = Gradients(str(Path.cwd()))

    def seed(self) -> None:
        """Start every random generator anew; up to 1.5 Lightning itself does so from the environment in `fit`."""
        import numpy
        import torch

        os.environ["PL_GLOBAL_SEED"] = str(self.spec["seed"])
        random.seed(self.spec["seed"])
        numpy.random.seed(self.spec["seed"])
        torch.manual_seed(self.spec["seed"])
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False

    def patch_torch(self) -> None:
        """Record plain backward passes and optimizer steps."""
        import torch

        tensors: Any = torch.Tensor
        backward = tensors.backward

        @functools.wraps(backward)
        def recorded(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if self.inside_backward:
                return backward(tensor, *args, **kwargs)
            self.gradients.backward(tensor)
            if tensor.numel() == 1:
                self.record("loss", value=float(tensor.detach()), **self.measured(tensor))
            self.inside_backward = True  # what watches operations lets torch call the method a second time
            try:
                return backward(tensor, *args, **kwargs)
            finally:
                self.inside_backward = False

        def before(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.gradients.stepped(optimizer)

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.steps += 1
            rates = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
            self.record("step", rates=rates, norm=measures.norm(optimizer), at=round(time.monotonic() - self.began, 4))

        tensors.backward = recorded
        around_steps(before, after)

    def patch_lightning(self, package: ModuleType) -> None:
        """Put the smoke arguments and the recording around the Trainer and the backward of a package."""
        trainer: Any = package.Trainer
        self.patch_init(trainer, package)
        short.leave_out_searches(package)
        self.patch_log(package.LightningModule)
        logger_calls.watch_loggers(package, str(Path.cwd()), self.handed)
        self.patch_fit(trainer)
        short.steady_sanity_check(trainer, self.spec["seed"])
        trainer.save_checkpoint = self.keeper.saving(trainer.save_checkpoint)
        for name in ("validate", "test", "predict"):
            if hasattr(trainer, name):
                setattr(trainer, name, self.keeper.evaluating(getattr(trainer, name)))
        if "bars" not in self.spec.get("without", ()):
            silenced.quiet_bars(package)
        for place, names in RUNNING:
            with contextlib.suppress(ImportError, AttributeError):
                first, *others = [getattr(importlib.import_module(package.__name__ + place), name) for name in names]
                self.patch_backward(first)
                for strategy in (first, *(other for other in others if "training_step" in vars(other))):
                    self.patch_step(strategy)
                break

    def patch_init(self, trainer: Any, package: ModuleType) -> None:
        original = trainer.__init__
        names = list(inspect.signature(original).parameters)[1:]
        is_old = earlier.is_wanted(names)
        if is_old:
            earlier.lend(package)

        @functools.wraps(original)
        def init(this: Any, *args: Any, **kwargs: Any) -> None:
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            given = earlier.translated(given, names) if is_old else given
            arguments = short.smoke(given, frozenset(names), self.spec)
            self.keeper.arguments(arguments, frozenset(names), package)
            original(this, **arguments)
            self.spec["placed"] = self.spec.get("placed", False) or short.is_placed(given)
            self.asked = {name: given.get(name) for name in measures.ASKED}

        trainer.__init__ = init

    def patch_log(self, module: Any) -> None:
        """Record what a module logs, each time, unseen by those who watch operations."""
        import torch

        original = module.log

        @functools.wraps(original)
        def log(this: Any, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
            with torch._C.DisableTorchFunction():
                number = scalar(value)
            if number is not None:
                self.record("logged", name=str(name), value=number)
            return original(this, name, value, *args, **kwargs)

        module.log = log

    def handed(self, name: str, value: Any) -> None:
        """The project hands a value to a logger."""
        import torch

        with torch._C.DisableTorchFunction():
            number = scalar(value)
        if number is not None:
            self.record("handed", name=name, value=number)

    def patch_warnings(self) -> None:
        """Keep what is warned of."""
        original = warnings.showwarning

        @functools.wraps(original)
        def show(message: Any, category: Any, *args: Any, **kwargs: Any) -> None:
            self.warned.append(f"{category.__name__}: {message}")
            original(message, category, *args, **kwargs)

        warnings.showwarning = show

    def warnings(self) -> list[str]:
        """What was warned of so far."""
        return measures.short(iter(self.warned))

    def patch_fit(self, trainer: Any) -> None:
        original = trainer.fit

        @functools.wraps(original)
        def fit(this: Any, *args: Any, **kwargs: Any) -> Any:
            self.seed()
            if self.spec.get("nudged"):
                measures.nudge([*args, kwargs.get("model")][0], self.spec["seed"])
            try:
                result = original(this, *args, **kwargs)
            finally:
                self.pace.begun()
                with contextlib.suppress(Exception):
                    unheld = measures.unheld(this)
                    self.record("gradients", unheld=unheld, **self.gradients.report(this.lightning_module))
            self.record("fitted", **self.state(this))
            return result

        trainer.fit = fit

    def patch_backward(self, strategy: Any) -> None:
        original = strategy.backward

        @functools.wraps(original)
        def backward(this: Any, closure_loss: Any, *args: Any, **kwargs: Any) -> Any:
            self.gradients.hook(this.lightning_module)
            self.gradients.backward(closure_loss)
            self.record("loss", value=float(closure_loss.detach().sum()), **self.measured(closure_loss))
            self.inside_backward = True
            try:
                return original(this, closure_loss, *args, **kwargs)
            finally:
                self.inside_backward = False

        strategy.backward = backward

    def patch_step(self, strategy: Any) -> None:
        original = strategy.training_step

        @functools.wraps(original)
        def training_step(this: Any, *args: Any, **kwargs: Any) -> Any:
            self.gradients.hook(this.lightning_module)
            # at its end `fit` puts the module back on the CPU
            self.device = str(getattr(this.lightning_module, "device", ""))
            if self.gradients.steps:
                self.pace.begun()
            with contextlib.suppress(Exception):
                number, most = measures.batch(this.lightning_module.trainer)
                self.record("batch", number=number, of=most)
                self.pace.at(number, most)
            with measures.first_layer(self.gradients.steps < 2, self.look):
                return self.gradients.step(this.lightning_module, lambda: original(this, *args, **kwargs))

        strategy.training_step = training_step

    def state(self, trainer: Any) -> dict[str, Any]:
        """What a Trainer holds at the end of `fit`."""
        module = trainer.lightning_module
        named = list(module.named_parameters())
        each = max(16, min(VALUES_EACH, VALUES_ALL // max(1, len(named))))
        unreached = [name for name, p in named if p.requires_grad and id(p) not in self.gradients.seen]
        metrics = {**trainer.logged_metrics, **trainer.callback_metrics}
        return {
            "global_step": int(trainer.global_step),
            "epochs": int(trainer.current_epoch),
            "metrics": {str(name): number for name, value in metrics.items() if (number := scalar(value)) is not None},
            "weights": [[name, *sample(p, each)] for name, p in named],
            "unreached": unreached,
            "device": self.device or str(getattr(module, "device", "")),
            "devices": int(trainer.world_size),
            "precision": str(getattr(trainer, "precision", "")),
            **self.further(trainer),
        }

    def look(self) -> None:
        """A layer is about to work, inside a training step."""
        self.autocast = measures.autocast()

    def measured(self, loss: Any) -> dict[str, Any]:
        """What is looked at of a loss: of the first ones, since it costs time."""
        self.losses += 1
        if self.losses > measures.LOOKED:
            return {}
        with contextlib.suppress(Exception):
            nodes, casts = measures.graph(loss)
            return {"nodes": nodes, "casts": casts, "autocast": self.autocast}
        return {}

    def further(self, trainer: Any) -> dict[str, Any]:
        """What else is looked at at the end; a release or a module that does not know it leaves it out."""
        looks: dict[str, Callable[[], Any]] = {
            "digest": lambda: measures.digest(trainer.lightning_module),
            "peak_memory": measures.memory,
            "schedulers": lambda: measures.schedulers(trainer),
            "planned": lambda: measures.planned(trainer, self.asked, self.steps),
        }
        found = {}
        for name, look in looks.items():
            with contextlib.suppress(Exception):
                found[name] = look()
        return found


def around_steps(before: Callable[..., None], after: Callable[..., None]) -> None:
    """Call these around each step of any optimizer."""
    import torch

    with contextlib.suppress(ImportError):
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        register_optimizer_step_pre_hook(before)
        register_optimizer_step_post_hook(after)
        return
    optimizer: Any = torch.optim.Optimizer
    build = optimizer.__init__

    @functools.wraps(build)
    def init(this: Any, *args: Any, **kwargs: Any) -> None:
        build(this, *args, **kwargs)
        kind = type(this)
        if not hasattr(kind.step, "is_watched"):
            kind.step = watched(kind.step)

    def watched(step: Any) -> Any:
        @functools.wraps(step)
        def call(this: Any, *args: Any, **kwargs: Any) -> Any:
            before(this, args, kwargs)
            result = step(this, *args, **kwargs)
            after(this, args, kwargs)
            return result

        call.is_watched = True  # type: ignore[attr-defined]
        return call

    optimizer.__init__ = init


def scalar(value: Any) -> float | None:
    """A number, where the value is one."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def sample(parameter: Any, count: int) -> tuple[float, list[float]]:
    """The norm of a parameter and up to `count` of its values, evenly spaced."""
    import torch

    try:
        flat = parameter.detach().flatten().cpu().double()
        at = torch.linspace(0, max(0, flat.numel() - 1), min(count, flat.numel()), dtype=torch.float64).long()
        return float(flat.norm()), flat[at].tolist()
    except (RuntimeError, ValueError, TypeError):
        return float("nan"), []
