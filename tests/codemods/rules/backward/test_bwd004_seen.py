"""BWD004: what tensor hooks that read or step saw, and what the new ones see: run."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from codemods.rules.backward.accumulate_grad_hooks import NEW
from codemods.rules.backward.bwd004 import RULE
from tests.codemods.rules.backward.test_bwd004 import changed, findings, run
from tests.codemods.support import rewritten, run_rules

READER = """\
class Reducer:
    def __init__(self, module, reduce):
        self.reduce = reduce
        for p in module.parameters():
            p.register_hook(self.make(p))

    def make(self, p):
        def hook(grad):
            self.reduce(p.grad.tolist())

        return hook
"""


def test_tensor_hook_came_before_the_gradient_and_the_new_one_after() -> None:
    seen: list[Any] = []
    with pytest.raises(AttributeError, match="NoneType"):
        run(READER, seen.append, 1)
    run(rewritten({"hooks.py": READER}, RULE)["hooks.py"], seen.append, 2)
    assert seen == [[3.0, 3.0], [6.0, 6.0]]


STEPS = """\
import torch


def attach(model, optimizers):
    for p in model.parameters():
        def hook(grad, p=p):
            optimizers[p].step()
            optimizers[p].zero_grad()
        p.register_hook(hook)
"""


def test_a_hook_that_steps_uses_the_gradient_of_its_own_pass() -> None:
    [found] = findings(STEPS)
    assert (found.fix, "one backward pass late" in found.reason) == ("unsafe", True)
    after = run_rules({"hooks.py": STEPS}, RULE, unsafe=True).final()["hooks.py"].decode()
    assert f"p.{NEW}(hook)" in after and "def hook(p):" in after
    weights = []
    for text in (STEPS, after):
        space: dict[str, Any] = {}
        exec(text, space)
        model = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.ones_(model.weight)
        space["attach"](model, {p: torch.optim.SGD([p], lr=1.0) for p in model.parameters()})
        for number in (1.0, 10.0):
            model(torch.tensor([[number]])).sum().backward()
        weights.append(model.weight.item())
    assert weights == [0.0, -10.0]


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("optimizers[p].zero_grad()", "pass", "unsafe"),
        (
            "            optimizers[p].zero_grad()\n",
            "            optimizers[p].zero_grad()\n            return grad\n",
            "manual",
        ),
        ("optimizers[p].step()", "scheduler.step()", None),
        ("optimizers[p]", "optimizers", "unsafe"),
        ("model.parameters()", "model.outputs", None),
    ],
)
def test_what_a_hook_steps(old: str, new: str, level: str | None) -> None:
    assert [item.fix for item in findings(changed(old, new, STEPS))] == ([level] if level else [])


HANDED = """\
class Watch:
    def attach(self, model):
        for name, p in model.named_parameters():
            p.register_hook(lambda grad, name=name, p=p: self.record(name, p))

    def record(self, name, p):
        self.norms[name] = p.grad.norm()
"""


def test_a_hook_that_hands_the_parameter_on() -> None:
    assert [item.fix for item in findings(HANDED)] == ["safe"]
    made = rewritten({"hooks.py": HANDED}, RULE)["hooks.py"]
    assert f"p.{NEW}(lambda p, name=name: self.record(name, p))" in made
    looking = changed("        self.norms", "        if p.grad is not None:\n            self.norms", HANDED)
    assert [item.fix for item in findings(looking)] == ["unsafe"]
    assert findings(changed("p.grad.norm()", "p.norm()", HANDED)) == []
