"""AMP001 and AMP002 where the code leads back to itself, or is too long to be followed."""

from __future__ import annotations

import pytest

from codemods.rules.autocast.amp001 import CLEARED
from tests.codemods.amp import after, amp, levels

FIT = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(precision=16)\n"
CLEAR = f"        torch.clear_autocast_cache()  # {CLEARED}\n"
MODULE = """import pytorch_lightning as pl
import torch
from torch import nn


class Model(pl.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.enc = nn.Linear(8, 8)
        {init}

    {method}

    def training_step(self, batch, batch_idx):
        with torch.no_grad():
            target = {call}
        return ({call} - target).pow(2).mean()
"""


def program(call: str, init: str = "pass", *method: str) -> str:
    return MODULE.format(call=call, init=init, method="\n    ".join(method or ("pass",)))


CASES = {
    "a property of the module inside": (
        program("self.net(batch)", "self.module = net", "@property", "def net(self):", "    return self.module.net"),
        "unsafe",
    ),
    "two properties": (
        program(
            "self.enc(self.left + batch)",
            "pass",
            "@property",
            "def left(self):",
            "    return self.right",
            "",
            "@property",
            "def right(self):",
            "    return self.left",
        ),
        "safe",
    ),
    "an attribute called module": (program("self.module(batch)", "self.module = nn.Linear(8, 8)"), "safe"),
    "a method that calls itself": (
        program(
            "self.run(batch, 3)",
            "pass",
            "def run(self, x, n):",
            "    if n == 0:",
            "        return self.enc(x)",
            "    return self.run(x, n - 1)",
        ),
        "safe",
    ),
}


@pytest.mark.parametrize(("text", "level"), CASES.values(), ids=CASES.keys())
def test_what_leads_to_itself_is_followed_once(text: str, level: str) -> None:
    assert [fix for _, fix in levels(text, "AMP001", fit=FIT)] == [level]
    assert after(text, "AMP001", unsafe=True, fit=FIT) == text.replace("        return (", f"{CLEAR}        return (")


LONG = program("self.enc(batch)").replace(
    "        with torch",
    "".join(f"        {'    ' * depth}for x in batch:\n" for depth in range(15))
    + "        " + "    " * 15 + "self.optimizers().step()\n        with torch",
)  # fmt: skip


@pytest.mark.parametrize("code", ["AMP001", "AMP002"])
def test_what_is_too_long_to_be_followed_is_said(code: str) -> None:
    (found,) = amp(LONG, code, fit=FIT).findings
    assert (found.fix, found.span.line) == ("manual", LONG[: LONG.index("def training_step")].count("\n") + 1)
    assert "`training_step` is too long to be followed" in found.message and "clear_autocast_cache" in found.reason


def chain(length: int, last: str = "self.enc(x)") -> str:
    """A program whose loss comes from methods that call each other."""
    methods = [
        line
        for number in range(length)
        for line in (f"def run{number}(self, x):", f"    return self.run{number + 1}(x)", "")
    ]
    return program("self.run0(batch)", "pass", *methods, f"def run{length}(self, x):", f"    return {last}")


@pytest.mark.parametrize("code", ["AMP001", "AMP002"])
def test_what_is_called_too_deep_to_be_followed_is_said(code: str) -> None:
    text = chain(9, "self.enc(x) + self.optimizers().step()")
    found = amp(text, code, fit=FIT).findings[-1]
    assert (found.fix, found.span.line) == ("manual", text[: text.index("def training_step")].count("\n") + 1)
    assert "`training_step` calls too deep or too late to be followed" in found.message
    assert "clear_autocast_cache" in found.reason


def test_what_is_called_less_deep_is_followed() -> None:
    assert [fix for _, fix in levels(chain(4), "AMP001", fit=FIT)] == ["safe"]


@pytest.mark.parametrize(
    ("made", "expected"),
    [("requires_grad_(False).eval()", []), ("requires_grad_(False).requires_grad_(True)", ["safe"])],
)
def test_weights_that_are_frozen_where_they_are_made(made: str, expected: list[str]) -> None:
    text = program("self.net(batch)", f"self.net = nn.Linear(8, 8).{made}")
    assert [fix for _, fix in levels(text, "AMP001", fit=FIT)] == expected
