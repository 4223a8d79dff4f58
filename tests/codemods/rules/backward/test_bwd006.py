"""BWD006: one gradient read by a backward pass of its own."""

from __future__ import annotations

import pytest

from codemods.rules.backward.bwd006 import AFTER, BEFORE, RULE
from tests.codemods.support import rewritten, run_rules


def changed(old: str, new: str, text: str = BEFORE) -> str:
    assert old in text
    return text.replace(old, new)


def levels(text: str) -> list[str]:
    return [finding.fix for finding in run_rules({"train.py": text}, RULE).findings]


def test_raw_passes_and_clones_too() -> None:
    text = changed("self.manual_backward(fit, retain_graph=True)", "fit.backward(retain_graph=True)")
    text = changed("first = self.last.weight.grad.norm()", "first = self.last.weight.grad.clone().norm()", text)
    after = changed(
        "[0].norm()\n        optimizer.zero_grad()\n        second",
        "[0].clone().norm()\n        optimizer.zero_grad()\n        second",
        AFTER,
    )
    assert rewritten({"train.py": text}, RULE, unsafe=True)["train.py"] == after


def test_torch_is_imported() -> None:
    text = changed("import torch\n", "")
    assert rewritten({"train.py": text}, RULE, unsafe=True)["train.py"].count("import torch\n") == 1


NAMED = {
    "not zeroed before": changed(
        "        optimizer.zero_grad()\n        self.manual_backward(fit, r", "        self.manual_backward(fit, r"
    ),
    "two gradients": changed(
        "first = self.last.weight.grad.norm()", "first = self.last.weight.grad.norm() + self.b.grad.norm()"
    ),
    "something between": changed("        first =", "        self.seen += 1\n        first ="),
    "other arguments": changed("(fit, retain_graph=True)", "(fit, retain_graph=True, create_graph=True)"),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_and_left(name: str) -> None:
    assert sorted(levels(NAMED[name])) == ["manual", "unsafe"]


SILENT = {
    "gradient that is used": changed(
        "        optimizer.zero_grad()\n        self.manual_backward(fool", "        self.manual_backward(fool"
    ),
    "step after it": changed(
        "first = self.last.weight.grad.norm()\n", "first = self.last.weight.grad.norm()\n        optimizer.step()\n"
    ),
    "nothing read": changed("first = self.last.weight.grad.norm()", "first = 1"),
    "autograd.grad": AFTER,
}


@pytest.mark.parametrize("name", SILENT)
def test_left_alone(name: str) -> None:
    assert run_rules({"train.py": SILENT[name]}, RULE, unsafe=True).changes == () or levels(SILENT[name]) == ["unsafe"]
    assert len(levels(SILENT[name])) == (0 if name == "autograd.grad" else 1)
