"""OPT003: classes that may have several optimizers, and a step that takes no index."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rule, run_rules

ONE = "torch.optim.SGD(self.one.parameters(), lr=1)"
TWO = ONE.replace("one", "two")
MODULE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx{args}):
        return self.one(batch).mean()

    def configure_optimizers(self):
        {body}
"""
PERHAPS = f"made = [{ONE}]\n        if self.gan:\n            made.append({TWO})\n        return made"


def told(body: str, args: str = "") -> list[tuple[str, bool, str]]:
    made = run_rules({"m.py": MODULE.format(body=body, args=args)}, rule("OPT003"))
    assert made.changes == ()
    return [(item.message, item.stops, item.reason) for item in made.findings]


@pytest.mark.parametrize(
    "body",
    [
        PERHAPS,
        f"return [{ONE}, {TWO}] if self.gan else {ONE}",
        f"if self.gan:\n            return [{ONE}, {TWO}]\n        return {ONE}",
        "return [torch.optim.SGD(each.parameters(), lr=1) for each in self.parts]",
    ],
)
def test_optimizers_that_may_be_several(body: str) -> None:
    ((message, stops, reason),) = told(body)
    assert message.startswith("Model may have several optimizers") and not stops
    assert "refused to train several" in reason


@pytest.mark.parametrize("body", [f"return [{ONE}, {TWO}]", PERHAPS])
def test_a_step_that_takes_the_index_with_the_rest(body: str) -> None:
    ((_, stops, reason),) = told(body, ", *rest")
    assert "with several `*rest` got the index in 1.x" in reason
    assert stops == (body != PERHAPS)


@pytest.mark.parametrize(
    "body", [f"return {ONE}", f"return [{ONE}]", f"return {ONE} if self.gan else {TWO}", "return self.make()"]
)
def test_one_optimizer(body: str) -> None:
    assert told(body) == told(body, ", *rest") == []


BASE = MODULE[: MODULE.index("    def training_step")] + MODULE[MODULE.index("    def configure") :]
BELOW = """

class Below(Model):
    def training_step(self, {args}):
        return self.one(batch).mean()
"""


def below(args: str, body: str = f"return [{ONE}, {TWO}]", more: str = "") -> list[str]:
    text = BASE.format(body=body) + BELOW.format(args=args) + more
    made = run_rules({"m.py": text}, rule("OPT003"))
    assert made.changes == () and made.bugs == ()
    return [item.message for item in made.findings]


@pytest.mark.parametrize("args", ["batch, batch_idx", "*args", "batch, batch_idx, **kwargs"])
def test_a_step_below_a_class_with_several_optimizers(args: str) -> None:
    assert below(args) == ["Below has several optimizers, and a training step that takes no `optimizer_idx`"]


def test_steps_below_that_train_as_they_are() -> None:
    assert below("batch, batch_idx, optimizer_idx") == []
    assert below("batch, batch_idx", f"return {ONE}") == []
    assert below("batch, batch_idx", more="\n    automatic_optimization = False\n") == []
    own = f"\n    def configure_optimizers(self):\n        return {ONE}\n"
    assert below("batch, batch_idx", more=own) == []


UNSEEN = """\
from pytorch_lightning import LightningModule


class Pair(LightningModule):
    def configure_optimizers(self):
        first, second = self.made("a"), self.made("b")
        return {"optimizer": first, "frequency": self.often}, {"optimizer": second, "frequency": 1}
"""
TASK = "\n\nclass Task:\n    def training_step(self, batch, batch_idx, optimizer_idx):\n        return self(batch)\n"


@pytest.mark.parametrize("more", ["", TASK])
def test_several_optimizers_of_a_class_whose_step_is_not_seen_are_named(more: str) -> None:
    (reason,) = refusals({"a.py": UNSEEN + more}, "OPT003")
    assert "no training step is seen here" in reason


@pytest.mark.parametrize(
    "change",
    [
        ("    def configure", "    automatic_optimization = False\n\n    def configure"),
        (', {"optimizer": second, "frequency": 1}', ""),
        ("(LightningModule)", ""),
    ],
)
def test_classes_without_a_step_that_are_not_spoken_of(change: tuple[str, str]) -> None:
    assert run_rules({"a.py": UNSEEN.replace(*change)}, rule("OPT003")).findings == ()


def test_a_step_that_is_mixed_in_below_is_judged_by_itself() -> None:
    below = f"{UNSEEN}{TASK}\n\nclass Both(Task, Pair):\n    pass\n"
    assert run_rules({"a.py": below}, rule("OPT003")).findings == ()
