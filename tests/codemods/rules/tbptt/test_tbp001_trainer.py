"""TBP001: the flag that Trainers took before 1.5, from a literal, an argument or a configuration."""

from __future__ import annotations

import pytest

from codemods.rules.tbptt.tbp001 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

TBP = rule("TBP001")
WITHOUT = BEFORE.replace("        self.truncated_bptt_steps = 4\n", "")
GIVEN = WITHOUT.replace("gradient_clip_val=0.5", "truncated_bptt_steps=4")
PLAIN = """\
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return self(batch)


def build(steps=None):
    return Trainer(max_epochs=2, truncated_bptt_steps=steps)
"""


def test_literal_moves_into_the_module() -> None:
    after = rewritten({"train.py": GIVEN}, TBP)["train.py"]
    assert "class Model(LightningModule):\n    truncated_bptt_steps = 4\n" in after
    assert "    trainer = Trainer(max_epochs=2)\n" in after
    assert "part.split(self.truncated_bptt_steps, dim=1)" in after


def test_flag_and_clipping_move_together() -> None:
    text = WITHOUT.replace("gradient_clip_val=0.5", "gradient_clip_val=0.5, truncated_bptt_steps=4")
    after = rewritten({"train.py": text}, TBP)["train.py"]
    assert "    truncated_bptt_steps = 4\n" in after
    assert "    gradient_clip_val = 0.5\n" in after
    assert "    trainer = Trainer(max_epochs=2)\n" in after


def test_reason_names_how_steps_are_counted() -> None:
    found = run_rules({"train.py": GIVEN}, TBP).findings
    assert {finding.fix for finding in found} == {"safe"}
    assert any("counted one global_step for a batch" in finding.reason for finding in found)


def test_what_counts_steps_makes_it_unsafe() -> None:
    text = GIVEN.replace("max_epochs=2", "max_steps=100")
    found = run_rules({"train.py": text}, TBP)
    assert {finding.fix for finding in found.findings} == {"unsafe"}
    assert found.changes == ()


REFUSED = {
    "worked out": (GIVEN.replace("steps=4", "steps=loader.steps()"), "truncated_bptt_steps=loader.steps()"),
    "set on the module too": (
        BEFORE.replace("gradient_clip_val=0.5", "truncated_bptt_steps=4"),
        "is given truncated_bptt_steps too",
    ),
    "another module": (
        GIVEN.replace("fit(Model(), loader)", "fit(build(), loader)")
        + "\n\nclass Other(LightningModule):\n    def training_step(self, batch, batch_idx):\n        ...\n",
        "may train other modules too",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[str, str]) -> None:
    text, reason = case
    assert any(reason in found for found in refusals({"train.py": text}, "TBP001"))


@pytest.mark.parametrize("value", ["None", "0"])
def test_flag_that_is_off_goes(value: str) -> None:
    after = rewritten({"train.py": PLAIN.replace("steps=steps", f"steps={value}")}, TBP)["train.py"]
    assert "    return Trainer(max_epochs=2)\n" in after


def test_parameter_that_is_none_by_default_goes_from_the_call_and_is_named() -> None:
    made = run_rules({"train.py": PLAIN}, TBP)
    assert b"    return Trainer(max_epochs=2)\n" in made.final()["train.py"]
    left = [finding for finding in made.findings if finding.fix == "manual"]
    assert [finding.span.line for finding in left] == [9]
    assert "needs `for chunk in batch.split(..., dim=1):`" in left[0].reason


def test_subclass_of_trainer_hands_it_on_no_more() -> None:
    text = (
        "import pytorch_lightning as pl\n\n\nclass Mine(pl.Trainer):\n    def __init__(self, steps=None, **rest):\n"
        "        super().__init__(truncated_bptt_steps=steps, **rest)\n"
    )
    after = rewritten({"train.py": text}, TBP)["train.py"]
    assert "        super().__init__(**rest)\n" in after


LEFT = {
    "configuration": (PLAIN.replace("steps=steps", "steps=args.steps"), "needs `for chunk in"),
    "default that is a number": (PLAIN.replace("steps=None", "steps=8"), "needs `for chunk in"),
    "bound again": (PLAIN.replace("    return T", "    steps = steps or 5\n    return T"), "needs `for chunk in"),
    "module that is refused": (
        PLAIN.replace("batch_idx):", "batch_idx, hiddens):").replace("self(batch)", 'dict(hiddens=hiddens, **batch)'),
        "may be trained by it",
    ),
    "inside a version check": (
        PLAIN.replace("    return T", '    if pl.__version__ < "1.5":\n        return T'),
        "inside a version check",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT.values(), ids=LEFT.keys())
def test_argument_that_may_say_something_is_left(case: tuple[str, str]) -> None:
    text, reason = case
    assert any(reason in found for found in refusals({"train.py": text}, "TBP001"))


def test_call_that_serves_both_versions_is_left_alone() -> None:
    text = PLAIN.replace(
        "    return Trainer(max_epochs=2, truncated_bptt_steps=steps)\n",
        "    try:\n        return Trainer(max_epochs=2, truncated_bptt_steps=steps)\n    except TypeError:\n"
        "        return Trainer(max_epochs=2)\n",
    )
    assert refusals({"train.py": text}, "TBP001") == []


READERS = {
    "module": BEFORE.replace(
        "        x, y = batch\n", "        x, y = batch\n        k = self.trainer.truncated_bptt_steps\n"
    ),
    "its Trainer": BEFORE + "    print(trainer.truncated_bptt_steps)\n",
}


@pytest.mark.parametrize("text", READERS.values(), ids=READERS.keys())
def test_reader_of_the_trainers_flag_is_named(text: str) -> None:
    found = [item for item in run_rules({"train.py": text}, TBP).findings if item.fix == "manual"]
    assert len(found) == 1
    assert "read it from the module" in found[0].reason


def test_other_objects_may_have_such_an_attribute() -> None:
    text = (
        PLAIN.replace("steps=steps", "steps=None") + "\n\ndef show(config):\n    print(config.truncated_bptt_steps)\n"
    )
    assert [item.fix for item in run_rules({"train.py": text}, TBP).findings] == ["safe"]
