"""STP002: a total for schedulers that a manual training step steps itself."""

from __future__ import annotations

import pytest

from codemods.steps.stp002 import RULE
from tests.codemods.support import rewritten, run_rules
from tests.codemods.test_stp002 import CONFIGURED, EST, method, trainer

TOTAL = "len(self.trainer.datamodule.train_dataloader()) * self.trainer.max_epochs"
HEAD = f"""import torch
import pytorch_lightning as pl
from torch.optim.lr_scheduler import OneCycleLR


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.rounds = 4

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), 0.1)
        total_steps = {TOTAL}
        return [optimizer], [OneCycleLR(optimizer, 0.1, total_steps=total_steps)]

    def training_step(self, batch, batch_idx):
        optimizer, scheduler = self.optimizers(), self.lr_schedulers()
"""


def step(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines)


TWICE = step("optimizer.step()", "optimizer.step()", "scheduler.step()")
LOOP = step("for _ in range({}):", "    optimizer.step()", "    scheduler.step()")


@pytest.mark.parametrize(
    ("text", "times"), [(TWICE, ""), (LOOP.format("1"), ""), (LOOP.format("self.rounds"), " * self.rounds")]
)
def test_a_step_that_is_seen_is_counted(text: str, times: str) -> None:
    (found,) = run_rules({"train.py": text}, RULE).findings
    assert found.fix == "unsafe" and ("times" in found.reason) is bool(times) and "1:" not in found.reason
    assert rewritten({"train.py": text}, RULE, unsafe=True)["train.py"] == text.replace(TOTAL, EST + times)


OTHERS = {
    "an early return": step(
        "if batch_idx % 2:", "    return", "optimizer.step()", "optimizer.step()", "scheduler.step()"
    ),
    "a range of nothing": LOOP.format("0"),
    "a range that changes": LOOP.format("self.rounds").replace(
        "        for", "        self.rounds = batch_idx\n        for"
    ),
    "schedulers that are kept": TWICE.replace("optimizer, scheduler =", "optimizer, self.scheduler =").replace(
        "scheduler.step", "self.scheduler.step"
    ),
    "a class below that steps otherwise": (
        f"{TWICE}\n\nclass Other(Model):\n    def training_step(self, batch, batch_idx):\n"
        "        self.lr_schedulers().step()\n"
    ),
    "a hook that steps them": (
        f"{TWICE}\n    def on_train_batch_end(self, *args):\n        for config in self.trainer.lr_scheduler_configs:\n"
        "            config.scheduler.step()\n"
    ),
    "a callback that steps them": (
        f"{TWICE}\n\nclass Steps(pl.Callback):\n    def on_train_batch_end(self, trainer, pl_module, *args):\n"
        "        pl_module.lr_schedulers().step()\n"
    ),
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS.keys())
def test_a_step_that_is_not_seen_is_left(text: str) -> None:
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.changes == () and made.bugs == ()
    assert [found.fix for found in made.findings] == ["manual"]


def test_classes_of_one_name_in_two_files_are_judged_apart() -> None:
    sure = method(f"total_steps = {TOTAL}", "return get_schedule(self.parameters(), total_steps)")
    files = {"one.py": sure, "two.py": CONFIGURED, "main.py": trainer("max_epochs=10")}
    assert rewritten(files, RULE) == files | {"one.py": sure.replace(TOTAL, EST)}
    kept = sure.replace("max_epochs\n", "max_epochs  # fixer: ignore[STP002]\n")
    files = {"one.py": sure, "two.py": kept}
    assert rewritten(files, RULE) == files | {"one.py": sure.replace(TOTAL, EST)}
