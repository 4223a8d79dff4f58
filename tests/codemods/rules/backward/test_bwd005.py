"""BWD005: retain_graph on the last backward pass of a step."""

from __future__ import annotations

import pytest

from codemods.rules.backward.bwd005 import BEFORE, GIVEN, KEPT, RULE
from tests.codemods.support import rewritten, run_rules

CALL = "self.manual_backward(self.net(batch).mean(), retain_graph=True)"
FREED = CALL.replace(", retain_graph=True", "")


def levels(text: str) -> list[str]:
    return [finding.fix for finding in run_rules({"train.py": text}, RULE).findings]


def changed(old: str, new: str, text: str = BEFORE) -> str:
    assert old in text
    return text.replace(old, new)


def test_what_a_step_shows_whole_is_safe_and_the_rest_is_not() -> None:
    assert levels(BEFORE) == ["safe"]
    assert levels(GIVEN) == ["unsafe"]
    assert rewritten({"train.py": GIVEN}, RULE, unsafe=True)["train.py"] == changed(CALL, FREED, GIVEN)


UNSAFE = {
    "module of the project": changed("torch.nn.ReLU()", "Memory()"),
    "function of the project": changed("self.net(batch).mean()", "criterion(self.net(batch))"),
    "subclasses": BEFORE
    + "".join(
        f"\n\nclass {name}(Model):\n    def forward(self, x):\n        return x\n" for name in ("Child", "Other")
    ),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_something_else_may_keep_a_tensor(name: str) -> None:
    assert levels(UNSAFE[name]) == ["unsafe"]


def test_state_kept_on_the_module_is_named() -> None:
    made = run_rules({"train.py": KEPT}, RULE, unsafe=True)
    assert made.changes == () and "keeps something of this batch" in made.findings[0].reason
    cut = changed("self.net(batch)\n", "self.net(batch).detach()\n", KEPT)
    assert levels(cut) == ["safe"]


NEEDED = {
    "pass after it": f"{CALL}\n        self.manual_backward(self.net(batch).sum())",
    "gradient after it": f"{CALL}\n        torch.autograd.grad(self.net(batch).sum(), self.w)",
    "helper after it": f"{CALL}\n        self.descend()",
    "loop": f"for _ in range(2):\n            {CALL}",
    "closure": f"def closure():\n            {CALL}\n\n        optimizer.step(closure)",
    "nothing kept": FREED,
}
HELPER = "\n    def descend(self):\n        self.manual_backward(self.net(1).sum())\n"


@pytest.mark.parametrize("name", NEEDED)
def test_left_alone(name: str) -> None:
    assert levels(changed(CALL, NEEDED[name]) + HELPER) == []


def test_an_argument_that_is_not_seen_is_named() -> None:
    made = run_rules({"train.py": changed(CALL, CALL.replace("True", "self.keep"))}, RULE, unsafe=True)
    assert made.changes == () and [finding.fix for finding in made.findings] == ["manual"]
    assert "fixer cannot tell whether `retain_graph` is True" in made.findings[0].reason


def test_other_classes_are_left_alone() -> None:
    assert (
        levels(BEFORE.replace("lightning.pytorch import LightningModule", "torch.nn import Module as LightningModule"))
        == []
    )
    assert levels(BEFORE + "\n    def twice(self, batch):\n        self.training_step(batch, 0)\n") == []


@pytest.mark.parametrize(
    ("returned", "found"), [("", ["safe"]), ("loss.detach()", ["safe"]), ("loss.item()", ["safe"]), ("loss", [])]
)
def test_under_automatic_optimization_what_lightning_gets_decides(returned: str, found: list[str]) -> None:
    """Behind a step that gives it nothing with a history, Lightning goes backward through nothing."""
    step = changed(
        "        optimizer.step()\n", f"        optimizer.step()\n        loss = 1.0\n        return {returned}\n"
    )
    assert levels(step) == ["safe"]
    assert levels(changed("    automatic_optimization = False\n", "", step)) == found


def test_a_constant_of_the_module_is_seen() -> None:
    text = changed(CALL, CALL.replace("True", "KEEP")).replace("\n\nclass Model", "KEEP = True\n\n\nclass Model", 1)
    assert levels(text) == ["safe"]
    assert levels(text.replace("KEEP = True", "KEEP = False")) == []
    assert levels(text.replace("KEEP = True", "KEEP = load()")) == ["manual"]
