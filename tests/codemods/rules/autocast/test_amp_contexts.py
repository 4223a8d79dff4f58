"""Regions and gradient modes that are not written where they are entered, and modules behind properties."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.codemods.amp import NET, after, levels, run_programs, torch210

CODE = "AMP001"
REGION = 'torch.autocast("cpu", dtype=torch.bfloat16)'
HEAD = f"""import contextlib
import functools
{NET}

@contextlib.contextmanager
def half():
    with {REGION}:
        yield


def region(enabled):
    if not enabled:
        return contextlib.nullcontext()
    return {REGION}


without = torch.no_grad
opened = functools.partial(torch.autocast, "cpu", dtype=torch.bfloat16)
kept = {REGION} if hasattr(torch, "autocast") else contextlib.nullcontext()


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self._net = Net()
        self.region = contextlib.nullcontext() if self._net is None else {REGION}

    @property
    def net(self):
        return self._net

    def half(self):
        return {REGION}

    def forward(self, x):
"""
TAIL = """

model = trained(Twice())
model(torch.rand(4, 8)).backward()
"""
TWO = """with torch.no_grad():
    target = seen(self.net(x))
return (seen(self._net(x + 1)) - target).float().pow(2).mean()
"""
LAMBDA = """run = lambda value: seen(self.net(value))
with torch.no_grad():
    target = run(x)
return (run(x + 1) - target).float().pow(2).mean()
"""


def _program(*lines: str, body: str = TWO) -> str:
    inner = [*lines, *(f"    {line}" for line in body.splitlines())] if lines[-1].endswith(":") else [*lines, body]
    return HEAD + "".join(f"        {line}\n" for line in inner) + TAIL


POISONED = {
    "a function that returns a region": _program("with region(True):"),
    "a function that enters one": _program("with half():"),
    "a method that returns one": _program("with self.half():"),
    "one kept by the module": _program("with self.region:"),
    "one kept by the file": _program("with kept:"),
    "one kept in a name": _program(f"chosen = {REGION} if x is not None else contextlib.nullcontext()", "with chosen:"),
    "a partial": _program("with opened():"),
    "a lambda": _program(f"with {REGION}:", body=LAMBDA),
    "a stack": _program(
        "with contextlib.ExitStack() as stack:",
        body=f"stack.enter_context({REGION})\n{TWO}",
    ),
    "a gradient mode in a stack": _program(
        f"with {REGION}:",
        body=TWO.replace(
            "with torch.no_grad():\n",
            "with contextlib.ExitStack() as stack:\n    stack.enter_context(torch.no_grad())\n",
        ),
    ),
}


@pytest.mark.parametrize("name", POISONED)
def test_what_is_entered_is_followed(name: str) -> None:
    made = after(POISONED[name], CODE)
    assert made.count("torch.clear_autocast_cache()") == 1
    assert after(made, CODE) == made


def test_forwards_compute_what_they_did(tmp_path: Path) -> None:
    repaired = {f"{name}, repaired": after(text, CODE) for name, text in POISONED.items()}
    made = run_programs({**POISONED, **repaired}, tmp_path)
    for name in POISONED:
        assert made[name].failure is None
        assert len(made[name].forwards) == 2 and made[name].forwards == made[f"{name}, repaired"].forwards


@pytest.mark.torch210
def test_every_one_loses_gradients_and_the_repaired_ones_do_not(tmp_path: Path) -> None:
    repaired = {f"{name}, repaired": after(text, CODE) for name, text in POISONED.items()}
    made = run_programs({**POISONED, **repaired}, tmp_path, torch210())
    for name in POISONED:
        assert made[name].without == ["_net.first.weight", "_net.first.bias", "_net.last.weight", "_net.last.bias"]
        assert made[f"{name}, repaired"].without == []
        assert made[name].forwards == made[f"{name}, repaired"].forwards


SAFE = {
    "a region that is off": _program('with torch.autocast("cpu", torch.bfloat16, False):'),
    "a region without a cache": _program('with torch.autocast("cpu", torch.bfloat16, True, False):'),
    "an old name without a cache": _program("with torch.cpu.amp.autocast(True, torch.bfloat16, False):"),
    "a function that returns nothing of the kind": _program("with contextlib.suppress(ValueError):"),
    "a stack that is left": _program(
        "with contextlib.ExitStack() as stack:",
        body=f"stack.enter_context({REGION})\ntarget = x\n",
    ).replace(TAIL, "".join(f"        {line}\n" for line in TWO.splitlines()) + TAIL),
    "regions apart": _program("with kept:", body="with torch.no_grad():\n    target = self.net(x)\n").replace(
        TAIL, f"        with kept:\n            return (self.net(x) - target).float().mean()\n{TAIL}"
    ),
}


@pytest.mark.parametrize("name", SAFE)
def test_correct_programs_stay(name: str) -> None:
    assert levels(SAFE[name], CODE) == []


@pytest.mark.parametrize(
    "frozen",
    [
        "self._net.requires_grad_(requires_grad=False)",
        "self._net = Net().eval().requires_grad_(False)",
    ],
)
def test_frozen_weights_are_left_out(frozen: str) -> None:
    text = (
        POISONED["a partial"]
        .replace("seen(", "(")
        .replace("        self.region =", f"        {frozen}\n        self.region =")
    )
    assert levels(text, CODE) == []


KEPT = """import torch
from accelerate import Accelerator

accelerator = Accelerator()
net = torch.nn.Linear(8, 8)
x = torch.rand(4, 8)
{made}with {entered}:
    with torch.no_grad():
        target = net(x)
    loss = (net(x) - target).mean()
net.parameters()
"""


@pytest.mark.parametrize(
    ("made", "entered", "split"),
    [
        ("", "torch.autocast('cpu')", True),
        ("", "accelerator.autocast()", False),
        ("context = accelerator.autocast()\n", "context", False),
    ],
)
def test_a_context_that_is_kept_is_not_entered_twice(made: str, entered: str, split: bool) -> None:
    text = after(KEPT.format(made=made, entered=entered), CODE)
    assert text.count(f"with {entered}:") == 1 + split
    assert text.count("torch.clear_autocast_cache()") == 1 - split


@pytest.mark.parametrize("around", ["half()", "opened()", "kept", "contextlib.ExitStack()"])
def test_a_function_called_in_what_may_be_a_region_is_not_split(around: str) -> None:
    text = f"{HEAD}        return x\n\n\nnet = Net()\nnet.parameters()\n\n\ndef step(x):\n    with {REGION}:\n"
    text += "        with torch.no_grad():\n            y = net(x)\n        return net(x) - y\n\n\n"
    assert after(f"{text}step(1)\n", CODE).count("torch.clear_autocast_cache()") == 0
    assert after(f"{text}with {around}:\n    step(1)\n", CODE).count("torch.clear_autocast_cache()") == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_torchscript_compiles_is_named() -> None:
    with pytest.raises(RuntimeError, match="Unknown builtin op: aten::clear_autocast_cache"):
        torch.jit.script(clearing)
    text = POISONED["a partial"].replace("seen(", "(")
    assert [level for _, level in levels(f"{text}\nfast = torch.jit.script(model)\n", CODE)] == ["manual"]


def clearing(x: torch.Tensor) -> torch.Tensor:
    torch.clear_autocast_cache()
    return x
