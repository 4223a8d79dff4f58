"""STP003: a warm-up that is compared with the index of a batch, which begins anew in each epoch."""

from __future__ import annotations

import pytest

from codemods.finding import Finding
from tests.codemods.support import rule, run_rules

HEAD = """\
from lightning.pytorch import Callback, LightningModule


class Model(LightningModule):
    def __init__(self, warmup_steps=100):
        super().__init__()
        self.warmup_steps = warmup_steps

"""
STEP = "    def training_step(self, batch, batch_idx):\n"
FIRST = "        if {}:\n            return 0 * self(batch)\n        return self(batch)\n"


def found(text: str) -> list[Finding]:
    made = run_rules({"train.py": text}, rule("STP003"), unsafe=True)
    assert (made.changes, made.bugs) == ((), ())
    return [item for item in made.findings if "begins at 0 in each epoch" in item.message]


NAMED = {
    "attribute": STEP + FIRST.format("batch_idx < self.warmup_steps"),
    "the other way round": STEP + FIRST.format("self.warmup_steps > batch_idx"),
    "one more": STEP + FIRST.format("batch_idx + 1 <= self.warmup_steps"),
    "an option": STEP + FIRST.format("batch_idx < self.hparams.num_warmup_steps"),
    "an item": STEP + FIRST.format('batch_idx < self.hparams["warm_up_iters"]'),
    "a local name": STEP + "        warmup_steps = self.warmup_steps\n" + FIRST.format("batch_idx < warmup_steps"),
    "another name for the index": STEP.replace("batch_idx", "i") + FIRST.format("i < self.warmup_steps"),
    "before 1.0": STEP.replace("batch_idx", "batch_nb") + FIRST.format("batch_nb < self.burn_in"),
    "the whole training": STEP + FIRST.format("batch_idx > self.hparams.total_steps"),
    "an expression": STEP + "        return self(batch) * (0 if batch_idx < self.warmup_steps else 1)\n",
    "in optimizer_step": (
        "    def optimizer_step(self, epoch, batch_idx, optimizer, closure):\n"
        "        if batch_idx < self.warmup_steps:\n            optimizer.param_groups[0]['lr'] = 0.1\n"
        "        optimizer.step(closure=closure)\n"
    ),
    "in a helper": STEP
    + "        return self(batch) * self.weight(batch_idx)\n\n"
    + "    def weight(self, batch_idx):\n        return 0 if batch_idx < self.warmup_steps else 1\n",
    "between try and finally": STEP
    + "        try:\n            if batch_idx < self.warmup_steps:\n                return None\n"
    + "        finally:\n            print('done')\n        return self(batch)\n",
}


@pytest.mark.parametrize("body", NAMED.values(), ids=NAMED.keys())
def test_is_named(body: str) -> None:
    assert [item.fix for item in found(HEAD + body)] == ["manual"]


def test_callback_is_named() -> None:
    text = HEAD + "    pass\n\n\nclass Warm(Callback):\n"
    text += "    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):\n"
    text += "        if batch_idx < self.warmup_steps:\n            print(batch_idx)\n"
    assert len(found(text)) == 1


def test_subclass_in_another_file_is_named() -> None:
    child = "from base import Model\n\n\nclass Child(Model):\n" + STEP + FIRST.format("batch_idx < self.warmup_steps")
    made = run_rules({"base.py": HEAD + "    pass\n", "train.py": child}, rule("STP003"))
    assert [(item.path, item.fix) for item in made.findings] == [("train.py", "manual")]


SILENT = {
    "of the first epoch": STEP + FIRST.format("self.current_epoch == 0 and batch_idx < self.warmup_steps"),
    "in a test of the epoch": STEP
    + "        if self.trainer.current_epoch < 1:\n            if batch_idx < self.warmup_steps:\n"
    + "                return None\n        return self(batch)\n",
    "in validation": STEP.replace("training", "validation") + FIRST.format("batch_idx < self.warmup_steps"),
    "in batches": STEP + FIRST.format("batch_idx < self.warmup_batches"),
    "by the epoch": STEP + FIRST.format("batch_idx < self.warmup_steps_per_epoch"),
    "a number": STEP + FIRST.format("batch_idx < 10"),
    "counted on": STEP
    + "        step = self.current_epoch * 100 + batch_idx\n"
    + FIRST.format("step < self.warmup_steps"),
    "global_step": STEP + FIRST.format("self.global_step < self.warmup_steps"),
    "accumulation": STEP + FIRST.format("(batch_idx + 1) % self.accumulate_steps == 0"),
    "equal": STEP + FIRST.format("batch_idx == self.warmup_steps"),
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT.keys())
def test_says_nothing(body: str) -> None:
    assert found(HEAD + body) == []


def test_class_that_is_no_module_is_left_alone() -> None:
    text = "class Loop:\n" + STEP + FIRST.format("batch_idx < self.warmup_steps")
    assert found(text) == []
