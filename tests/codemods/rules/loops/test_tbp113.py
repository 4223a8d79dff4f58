"""TBP113: steps of an optimizer that the module keeps itself."""

from __future__ import annotations

import pytest

from codemods.rules.loops.tbp113 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import Case, train_many

FITTED = (
    BEFORE.replace("lightning.pytorch", "pytorch_lightning")
    + """

if __name__ == "__main__":
    from pytorch_lightning import Trainer

    torch.manual_seed(1)
    data = torch.utils.data.DataLoader(torch.randn(12, 8), batch_size=4)
    Trainer(max_epochs=2, logger=False, enable_checkpointing=False).fit(Model(), data)
"""
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("opt = self.optimizer\n", "opt = self.optimizers()\n"),
        ("        opt = self.optimizer\n        opt.zero_grad()", "        self.optimizer.zero_grad()"),
    ],
)
@pytest.mark.parametrize(
    "given",
    ["[self.optimizer]", "self.optimizer", "{'optimizer': self.optimizer}", "[self.optimizer], [self.schedule]"],
)
def test_what_lightning_gives_is_stepped(old: str, new: str, given: str) -> None:
    text = BEFORE.replace("return [self.optimizer]", f"return {given}")
    if "zero_grad" in old:
        text = text.replace(old, new).replace("opt.step()", "self.optimizer.step()")
        after = text.replace("self.optimizer.step()", "self.optimizers().step()")
    else:
        after = text.replace(old, new)
    assert [item.fix for item in run_rules({"a.py": text}, rule("TBP113")).findings] == ["unsafe"]
    assert rewritten({"a.py": text}, rule("TBP113"), unsafe=True)["a.py"] == after
    assert rewritten({"a.py": after}, rule("TBP113"), unsafe=True)["a.py"] == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("opt = self.optimizer\n", "opt = self.optimizers()\n"),
        ("self.automatic_optimization = False", "self.automatic_optimization = True"),
        ("opt.step()", "print(opt)"),
        ("return [self.optimizer]", "return torch.optim.SGD(self.parameters(), lr=0.1)"),
    ],
)
def test_left_alone(old: str, new: str) -> None:
    assert run_rules({"a.py": BEFORE.replace(old, new)}, rule("TBP113")).findings == ()


@pytest.mark.parametrize(
    "given",
    [
        "[self.optimizer, self.other]",
        "([self.optimizer, self.other], [])",
        "self.optimizer if self.x else None",
        "[self.optimizer] if self.x else []",
        "[self.other if self.x else self.optimizer], []",
    ],
)
def test_one_of_several_is_for_a_person(given: str) -> None:
    text = BEFORE.replace("return [self.optimizer]", f"return {given}")
    found = run_rules({"a.py": text}, rule("TBP113")).findings
    assert [item.fix for item in found] == ["manual"]
    assert all("global_step stays 0" in reason for reason in refusals({"a.py": text}, "TBP113"))


def test_a_schedule_is_stepped_by_hand() -> None:
    text = BEFORE.replace("return [self.optimizer]", "return [self.optimizer], [self.schedule]")
    text = text.replace("opt = self.optimizer\n", "opt = self.optimizers()\n")
    text = text.replace("opt.step()", "opt.step()\n        self.schedule.step()")
    assert run_rules({"a.py": text}, rule("TBP113")).findings == ()


def test_steps_outside_training_and_classes_below_are_for_a_person() -> None:
    before = BEFORE.replace("    def training_step(self, batch, batch_idx)", "    def warm_up(self, batch)")
    loop = "\n    def training_step(self, batch, batch_idx):\n        self.manual_backward(self.warm_up(batch))\n"
    below = "\n\nclass Two(Model):\n    def configure_optimizers(self):\n        return [self.optimizer, self.other]\n"
    for text in (before + loop, BEFORE + below):
        assert [item.fix for item in run_rules({"a.py": text}, rule("TBP113")).findings] == ["manual"]


def test_steps_are_counted_again_and_the_weights_are_the_same() -> None:
    after = rewritten({"train.py": FITTED}, rule("TBP113"), unsafe=True)["train.py"]
    cases = [(Case({"train.py": text}, script="train.py"), "target") for text in (FITTED, after)]
    old, new = train_many(cases)
    assert (old.failure, new.failure) == (None, None)
    assert (old.global_step, new.global_step) == (0, 6)
    assert old.weights.keys() == new.weights.keys()
    assert all(old.weights[name] == pytest.approx(new.weights[name]) for name in old.weights)
