"""STP002: a total for schedulers that a manual training step steps itself."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp002 import RULE
from tests.codemods.rules.steps.test_stp002 import CONFIGURED, EST, PROPERTY, levels, method, trainer
from tests.codemods.rules.steps.test_stp002 import HEAD as CLASS
from tests.codemods.support import rewritten, run_rules

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
    ("text", "level", "times"),
    [
        (TWICE, "unsafe", ""),
        (LOOP.format("1"), "safe", ""),
        (LOOP.format("self.rounds"), "unsafe", " * self.rounds"),
    ],
)
def test_a_step_that_is_seen_is_counted(text: str, level: str, times: str) -> None:
    (found,) = run_rules({"train.py": text}, RULE).findings
    assert found.fix == level and ("times" in found.reason) is bool(times) and "1:" not in found.reason
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


WINDOW = "self.trainer.accumulate_grad_batches"
SCHEDULE = "return get_schedule(optimizer, {})"
AGAIN = {
    "in place": (f"total_steps //= {WINDOW}", SCHEDULE.format("total_steps")),
    "by the same name": (f"total_steps = total_steps // {WINDOW}", SCHEDULE.format("total_steps")),
    "where it is used": (SCHEDULE.format(f"total_steps // {WINDOW}"),),
    "by a name": (f"window = {WINDOW}", SCHEDULE.format("num=int(total_steps / window)")),
}


@pytest.mark.parametrize("lines", AGAIN.values(), ids=AGAIN.keys())
def test_a_total_that_is_divided_again_is_left(lines: tuple[str, ...]) -> None:
    ((level, _, reason),) = levels(method(f"total_steps = {TOTAL}", *lines))
    assert level == "manual" and "divided again in line 1" in reason


def test_a_property_that_is_divided_again_is_left() -> None:
    text = f"{CLASS}{PROPERTY}        return {TOTAL}\n\n    def configure_optimizers(self):\n"
    ((level, _, reason),) = levels(f"{text}        return get_schedule(self.num_training_steps // {WINDOW})\n")
    assert level == "manual" and "divided again in line 13" in reason


def test_a_total_that_is_divided_by_what_counts_nothing_is_rewritten() -> None:
    text = method(f"total_steps = {TOTAL}", "return get_schedule(total_steps, warmup=total_steps // 10)")
    assert rewritten({"train.py": text}, RULE)["train.py"] == text.replace(TOTAL, EST)


@pytest.mark.parametrize(
    "lines",
    [
        ("total_steps = len(self.train_dataloader()) * max(self.trainer.max_epochs, 10)",),
        (
            "epochs = self.trainer.max_epochs",
            "if self.debug:",
            "    epochs = 1",
            "total_steps = len(self.train_dataloader()) * epochs",
        ),
    ],
)
def test_another_number_in_some_cases_is_left(lines: tuple[str, ...]) -> None:
    ((level, _, reason),) = levels(method(*lines, SCHEDULE.format("total_steps")))
    assert level == "manual" and "another number in some cases" in reason


@pytest.mark.parametrize(
    "line", ["warm, total_steps = 3, {}", "if (total_steps := {}) > 3:\n            pass", "total_steps: int = {}"]
)
@pytest.mark.parametrize("total", [TOTAL, f"{TOTAL} // torch.distributed.get_world_size()"])
def test_ways_to_assign(line: str, total: str) -> None:
    text = method(line.format(total), SCHEDULE.format("total_steps"))
    wanted = text.replace(total, EST).replace("import torch\n" if "torch." in total else "\0", "")
    assert rewritten({"train.py": text}, RULE)["train.py"] == wanted
