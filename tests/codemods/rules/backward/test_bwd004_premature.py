"""BWD004: hooks in the middle of a backward pass that are after gradients which are not there yet."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rule, run_rules

BWD = rule("BWD004")
LOOP = "def attach(module, reduce, masks):\n    for name, p in module.named_parameters():\n"
HEAD = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(1, 1)
        self.seen = []
"""
OWN = {
    "a weight": HEAD
    + "        self.net.weight.register_hook(lambda g: self.seen.append(self.net.weight.grad.norm()))\n",
    "by a method": HEAD
    + "        self.net.bias.register_hook(self.look)\n\n"
    + "    def look(self, grad):\n        print(self.net.bias.grad)\n",
    "by a second name": HEAD + "        w = self.net.weight\n        w.register_hook(lambda g: print(w.grad))\n",
    "a parameter of its own": HEAD
    + "        self.scale = torch.nn.Parameter(torch.ones(1))\n"
    + "        self.scale.register_hook(lambda g: print(self.scale.grad))\n",
    "returned": LOOP
    + "        def hook(grad):\n            reduce(p.grad)\n            return torch.zeros(1)\n\n"
    + "        p.register_hook(hook)\n",
    "between try and finally": HEAD
    + "        self.net.weight.register_hook(self.look)\n\n    def look(self, grad):\n        try:\n"
    + "            self.seen.append(self.net.weight.grad)\n        finally:\n            print('seen')\n",
}
OTHERS = {
    "clips all": HEAD
    + "        for p in self.parameters():\n            p.register_hook(self.clip)\n\n"
    + "    def clip(self, grad):\n        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)\n",
    "clips all in a helper": HEAD
    + "        for p in self.parameters():\n            p.register_hook(lambda g: self.clip())\n\n"
    + "    def clip(self):\n        torch.nn.utils.clip_grad_value_(self.parameters(), 1.0)\n",
    "reads all": HEAD
    + "        next(self.parameters()).register_hook(self.total)\n\n    def total(self, grad):\n"
    + "        self.norm = sum(p.grad.norm() for p in self.parameters() if p.grad is not None)\n",
    "steps one optimizer": HEAD
    + "        self.opt = torch.optim.SGD(self.parameters(), lr=0.1)\n"
    + "        for p in self.parameters():\n            p.register_hook(lambda g: self.opt.step())\n",
    "steps Lightning's": HEAD
    + "        self.net.weight.register_hook(self.step)\n\n"
    + "    def step(self, grad):\n        self.optimizers().step()\n",
    "another's gradient": LOOP
    + "        def hook(grad):\n            for q in module.parameters():\n                reduce(q.grad)\n\n"
    + "        p.register_hook(hook)\n",
    "bound to another": LOOP + "        p.register_hook(lambda grad, p=masks: reduce(p.grad))\n",
}
TENSOR = {
    "activation": "def watch(out, seen):\n    out.register_hook(lambda grad: seen.append(out.grad))\n",
    "activation of a module": HEAD
    + "\n    def forward(self, x):\n        h = self.net(x)\n        h.retain_grad()\n"
    + "        h.register_hook(lambda g: print(h.grad))\n        return h\n",
}


@pytest.mark.parametrize("text", [*OWN.values(), *OTHERS.values(), *TENSOR.values()], ids=[*OWN, *OTHERS, *TENSOR])
def test_is_named_and_left(text: str) -> None:
    made = run_rules({"train.py": text}, BWD, unsafe=True)
    assert (made.changes, made.bugs) == ((), ())
    assert [item.fix for item in made.findings] == ["manual"]
    assert "a tensor hook" in made.findings[0].message


SILENT = {
    "what it gets": HEAD + "        self.net.weight.register_hook(lambda g: g * 2)\n",
    "what it gets, beside what is there": HEAD
    + "        w = self.net.weight\n        w.register_hook(lambda g: print(w.grad + g))\n",
    "history": HEAD + "        self.net.weight.register_hook(lambda g: print(self.net.weight.grad_fn))\n",
    "an activation's": HEAD
    + "\n    def forward(self, x):\n        h = self.net(x)\n        h.register_hook(self.save)\n        return h\n\n"
    + "    def save(self, g):\n        self.gradient = g\n",
    "an activation, and others' gradients": HEAD
    + "\n    def forward(self, x):\n        h = self.net(x)\n"
    + "        h.register_hook(lambda g: print(self.net.weight.grad))\n        return h\n",
    "a runner's hook": "def build(runner, hook):\n    runner.register_hook(hook)\n",
    "a scheduler's step": HEAD + "        self.net.weight.register_hook(lambda g: self.profiler.step())\n",
    "the new hook": HEAD
    + "        w = self.net.weight\n        w.register_post_accumulate_grad_hook(lambda p: print(p.grad))\n",
}


@pytest.mark.parametrize("name", SILENT)
def test_says_nothing(name: str) -> None:
    assert run_rules({"train.py": SILENT[name]}, BWD).findings == ()


def test_gradient_is_that_of_the_pass_before() -> None:
    """What torch does: the hook sees None, then the gradient without this pass; the new one sees it with."""
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.ones(1))
    early: list[float | None] = []
    late: list[float | None] = []
    weight.register_hook(lambda g: early.append(None if weight.grad is None else float(weight.grad)))
    weight.register_post_accumulate_grad_hook(lambda p: late.append(float(p.grad)))
    for _ in range(2):
        (weight * 3).sum().backward()
    assert (early, late) == ([None, 3.0], [3.0, 6.0])


HANDING = """\
from pytorch_lightning import LightningModule
from torch.nn.utils import clip_grad_norm_


def limit(p, grad):
    clip_grad_norm_([p], 1.0)


class Own(LightningModule):
    def on_fit_start(self):
        for p in self.parameters():
            p.register_hook(HOOK)

    def add(self, p, grad):
        self.sums[p] += p.grad

    def weigh(self, p, grad):
        self.sums[p] += p.grad + grad
"""


@pytest.mark.parametrize("hook", ["lambda grad, p=p: self.add(p, grad)", "lambda grad, q=p: limit(q, grad)"])
def test_a_gradient_that_is_handed_to_what_does_not_read_it_is_not_looked_at(hook: str) -> None:
    (reason,) = refusals({"a.py": HANDING.replace("HOOK", hook)}, "BWD004")
    assert "before the gradient of its parameter is accumulated" in reason


@pytest.mark.parametrize("hook", ["lambda grad, p=p: self.weigh(p, grad)", "lambda grad, p=p: other(p, grad)"])
def test_a_gradient_that_is_handed_to_what_may_read_it_is_looked_at(hook: str) -> None:
    assert run_rules({"a.py": HANDING.replace("HOOK", hook)}, rule("BWD004")).findings == ()
