"""STP002: whether what a number of steps serves counts optimizer steps, or batches."""

from __future__ import annotations

import pytest

from tests.codemods.rules.steps.test_stp002 import EST, PROPERTY, levels, method
from tests.codemods.rules.steps.test_stp002 import HEAD as CLASS
from tests.training import Case, train_many

TOTAL = "len(self.train_dataloader()) * self.trainer.max_epochs"
WINDOWS = "len(self.train_dataloader()) // self.trainer.accumulate_grad_batches * self.trainer.max_epochs"
TRAINED = f"""\
import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def train_dataloader(self):
        return DataLoader(torch.ones(20, 4), batch_size=2)

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.scheduler.step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        total_steps = {TOTAL}
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=total_steps + 1)
        return optimizer


def main():
    model = Model()
    Trainer(max_epochs=2, accumulate_grad_batches=4).fit(model)
    return [model.scheduler.last_epoch, model.scheduler.total_steps]
"""
SCHEDULED = ("total_steps = {}", "self.plan = get_schedule(self.parameters(), total_steps)", "return self.plan")
HOOK = "\n    def on_train_batch_end(self, *args):\n        {}\n"


def with_hook(line: str, total: str = TOTAL, hook: str = HOOK) -> str:
    return method(*(item.format(total) for item in SCHEDULED)) + hook.format(line)


def test_a_scheduler_that_is_stepped_in_every_batch_counts_batches() -> None:
    ((level, _, reason),) = levels(TRAINED)
    assert level == "manual" and "on_train_batch_end steps a scheduler itself (line 18)" in reason
    old, new = train_many(
        (Case({"train.py": text}, script=None), "target") for text in (TRAINED, TRAINED.replace(TOTAL, EST))
    )
    assert (old.failure, old.returned) == (None, [20, 21])
    assert new.failure is not None and "Tried to step" in new.failure.message


def test_a_method_that_may_take_optimization_over_leaves_it_open() -> None:
    line = "self.automatic_optimization = False; self.scheduler.step()"
    assert [level for level, _, _ in levels(with_hook(line).replace("on_train_batch_end", "steps"))] == ["manual"]


@pytest.mark.parametrize(
    "line",
    [
        "self.lr_scheduler.step()",
        "self.plan.step()",
        "self.lr_schedulers().step()",
        "one = self.lr_schedulers(); one.step()",
        "[item.step() for item in self.lr_schedulers()]",
        "[item.scheduler.step() for item in self.trainer.lr_scheduler_configs]",
    ],
)
def test_ways_to_step_a_scheduler(line: str) -> None:
    assert [level for level, _, _ in levels(with_hook(line))] == ["manual"]
    assert [level for level, _, _ in levels(with_hook(line, WINDOWS))] == ["safe"]


@pytest.mark.parametrize(
    "text",
    [
        with_hook("self.optimizer.step()"),
        with_hook("self.scheduler.step()", hook=HOOK.replace("on_train_batch_end", "optimizer_step")),
        with_hook("scheduler.step()", hook=HOOK.replace("on_train_batch_end", "lr_scheduler_step")),
    ],
)
def test_what_steps_with_the_optimizer_is_safe(text: str) -> None:
    if "automatic_optimization" in text:
        text += (
            "\n    def training_step(self, batch):\n        optimizer = self.optimizers()\n        optimizer.step()\n"
        )
    assert [level for level, _, _ in levels(text)] == ["safe"]


def test_a_base_or_a_callback_that_steps_the_scheduler() -> None:
    base = "from pytorch_lightning import LightningModule\n\n\nclass Base(LightningModule):\n"
    base += "    def on_train_batch_end(self, *args):\n        self.scheduler.step()\n"
    text = method(*(item.format(TOTAL) for item in SCHEDULED))
    below = text.replace("(LightningModule)", "(Base)").replace("import math", "import math\nfrom base import Base")
    assert [level for level, _, _ in levels(text, base=base)] == ["safe"]
    ((level, _, reason),) = levels(below, base=base)
    assert level == "manual" and "on_train_batch_end steps a scheduler itself (base.py, line 6)" in reason
    callback = (
        "from pytorch_lightning import Callback\n\n\nclass Steps(Callback):\n"
        "    def on_train_batch_end(self, trainer, pl_module, *args):\n        pl_module.lr_schedulers().step()\n"
    )
    ((level, _, reason),) = levels(text, steps=callback)
    assert level == "manual" and "steps the schedulers of a module" in reason


KEPT = CLASS + f"    def setup(self, stage):\n        self.total_steps = {TOTAL}\n"
TAKEN = "\n    def configure_optimizers(self):\n        return get_schedule(self.parameters(), self.total_steps)\n"
BETA = "\n    def training_step(self, batch, batch_idx):\n        return batch_idx / self.total_steps\n"


def test_a_total_that_serves_something_else_too_is_unsafe() -> None:
    assert [level for level, _, _ in levels(KEPT + TAKEN)] == ["safe"]
    ((level, _, reason),) = levels(KEPT + TAKEN + BETA)
    assert level == "unsafe" and "line 15" in reason and "counts batches" in reason
    through = BETA.replace("return", "beta =") + "        loss = 1 - beta\n        return loss\n"
    ((level, _, reason),) = levels(KEPT + TAKEN + through)
    assert level == "unsafe" and "line 17" in reason
    assert [level for level, _, _ in levels(KEPT.replace(TOTAL, WINDOWS) + TAKEN + BETA)] == ["safe"]
    whole = f"{CLASS}{PROPERTY}        return {TOTAL}\n"
    taken, beta = (text.replace("total_steps", "num_training_steps") for text in (TAKEN, BETA))
    assert [level for level, _, _ in levels(whole + taken)] == ["safe"]
    assert [level for level, _, _ in levels(whole + taken + beta)] == ["unsafe"]


@pytest.mark.parametrize(
    "lines",
    [
        ("warm = int(0.1 * total_steps)", "return get_schedule(warm, total_steps)"),
        ("self.warm = total_steps // 10", "assert total_steps > 0", "return get_schedule(self.warm, total_steps)"),
        ("print('steps', total_steps)", "return get_schedule(total_steps)"),
        ("def decay(step):", "    return 1 - step / total_steps", "return get_schedule(decay, total_steps)"),
        ("shape = lambda step: step / total_steps", "return get_schedule(shape, total_steps)"),
        ("config = {'num_training_steps': total_steps}", "return get_schedule(config, total_steps)"),
        ("if total_steps > 0:", "    return get_schedule(total_steps)"),
    ],
)
def test_what_ends_in_a_scheduler_or_is_told_is_safe(lines: tuple[str, ...]) -> None:
    assert [level for level, _, _ in levels(method(f"total_steps = {TOTAL}", *lines))] == ["safe"]


@pytest.mark.parametrize(
    "lines",
    [
        ("self.ramp = Ramp(total_steps)", "return get_schedule(total_steps)"),
        ("if self.seen > total_steps:", "    return None", "return get_schedule(total_steps)"),
        ("if total_steps - self.seen < 100:", "    return None", "return get_schedule(total_steps)"),
        ("if self.seen % int(total_steps * 0.1) == 0:", "    return None", "return get_schedule(total_steps)"),
        ("self.half = total_steps // 2", "return get_schedule(total_steps)", "", "self.log('half', self.half)"),
    ],
)
def test_what_does_not_is_unsafe(lines: tuple[str, ...]) -> None:
    assert [level for level, _, _ in levels(method(f"total_steps = {TOTAL}", *lines))] == ["unsafe"]


def test_the_same_name_in_another_class_is_its_own() -> None:
    other = (
        "\n\nclass Bar:\n    def draw(self, n):\n        self.total_steps = n\n        self.show(self.total_steps)\n"
    )
    assert [level for level, _, _ in levels(KEPT + TAKEN + other)] == ["safe"]


def test_a_total_behind_many_expressions_is_still_found() -> None:
    group = "groups.append({{'lr': h.lr * h.decay ** (120 - {0}), 'wd': h.wd * (1 + h.decay * {0})}})"
    lines = ("h = self.hparams", "groups = []", *(group.format(number) for number in range(120)))
    text = method(*lines, f"total_steps = {WINDOWS}", "return get_schedule(groups, total_steps)")
    assert [level for level, _, _ in levels(text)] == ["safe"]


def test_names_of_each_other_are_read_to_an_end_in_every_line() -> None:
    names = [f"v{number}" for number in range(14)]
    lines = [f"{name} = {' * '.join(names)}" for name in names]
    text = method(*lines, f"total_steps = {WINDOWS}", "return get_schedule(v0, total_steps)")
    assert [level for level, _, _ in levels(text)] == ["safe"]
