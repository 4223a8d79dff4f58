"""STP002: counts that are something else, right, or not provable."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp002 import RULE
from tests.codemods.rules.steps.test_stp002 import CONFIGURED, EST, HEAD, LIMITED, PROPERTY, levels, method, trainer
from tests.codemods.support import run_rules

TOTAL = "len(self.train_dataloader()) * self.trainer.max_epochs"


@pytest.mark.parametrize(
    "lines",
    [
        (f"warmup_steps = {TOTAL}",),
        (f"total_batches = {TOTAL}",),
        (f"length = {TOTAL}",),
        (f"total_steps = 0.1 * {TOTAL}",),
        (f"total_steps = {TOTAL} + 1",),
        ("total_steps = len(self.val_dataloader()) * self.trainer.max_epochs",),
        ("total_steps = len(self.train_dataloader()) * self.trainer.max_epochs ** 2",),
        ("total_steps = self.trainer.max_epochs * 100",),
        ("total_steps = len(self.train_dataloader()) * self.current_epoch",),
        ("steps_per_epoch = len(self.train_dataloader())",),
        (f"total_steps = {EST}",),
        (f"total_steps = int({EST} * 0.9)",),
        ("total_steps = self.hparams.total_steps",),
        ("total_steps = self.trainer.max_steps",),
        ("size = len(self.train_dataloader())", "size += 1", "total_steps = size * self.trainer.max_epochs"),
        ("scheduler = OneCycleLR(optimizer, 0.1, epochs=10, steps_per_epoch=100)",),
    ],
)
def test_left_alone(lines: tuple[str, ...]) -> None:
    assert levels(method(*lines)) == []


def test_names_that_stand_for_each_other_are_read_to_an_end() -> None:
    total = "total_steps = len(self.train_dataloader()) * one.max_epochs"
    assert [found[0] for found in levels(method("one = other", "other = one", total))] == ["unsafe"]


def test_hooks_that_build_nothing_are_left_alone() -> None:
    assert levels(method(f"steps = {TOTAL}", name="forward")) == []


def test_a_right_count_is_left_alone() -> None:
    per_device = "self.trainer.accumulate_grad_batches * self.trainer.world_size"
    total = f"math.ceil(len(self.train_dataloader()) / ({per_device})) * self.trainer.max_epochs"
    assert levels(method(f"total_steps = {total}")) == []


def test_another_kind_of_class() -> None:
    plain = method(f"total_steps = {TOTAL}").replace("(LightningModule)", "(torch.nn.Module)")
    found = run_rules({"train.py": plain}, RULE)
    assert found.changes == ()
    assert [finding.fix for finding in found.findings] == ["manual"]
    without = plain.replace("from pytorch_lightning import LightningModule\n", "")
    assert run_rules({"train.py": without}, RULE).findings == ()


@pytest.mark.parametrize("module", ["LightningDataModule", "Callback"])
def test_other_lightning_classes_are_named(module: str) -> None:
    text = (HEAD + PROPERTY + LIMITED).replace("LightningModule", module)
    found = levels(text)
    assert [level for level, _, _ in found] == ["manual"]


def refusal(text: str, **others: str) -> str:
    found = levels(text, **others)
    assert {level for level, _, _ in found} == {"manual"}
    return found[0][2]


def test_batches_from_elsewhere() -> None:
    text = method("total_steps = self.train_iters_per_epoch * self.trainer.max_epochs")
    assert "`self.train_iters_per_epoch`" in refusal(text)


def test_a_method_with_arguments() -> None:
    text = HEAD + PROPERTY.replace("(self)", "(self, scale)").replace("    @property\n", "") + LIMITED
    assert "takes arguments" in refusal(text)


def test_one_epoch_under_the_name_of_all() -> None:
    text = method("total_steps = len(self.train_dataloader()) // self.trainer.accumulate_grad_batches")
    assert "one epoch" in refusal(text)


MANUAL = """\

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
{step}"""
ONE = "        optimizer = self.optimizers()\n        optimizer.step()\n"
TWO = "        first, second = self.optimizers()\n        first.step()\n        second.step()\n"
LOOP = "        optimizer = self.optimizers()\n        for part in batch:\n            optimizer.step()\n"
SOMETIMES = "        optimizer = self.optimizers()\n        if batch_idx % 4 == 3:\n            optimizer.step()\n"
HIDDEN = "        self.update(batch)\n"


@pytest.mark.parametrize(
    ("step", "reason"),
    [(TWO, "several optimizers"), (LOOP, "in a loop"), (SOMETIMES, "not step in every"), (HIDDEN, "fixer cannot")],
)
def test_manual_optimization_that_is_not_one_step_a_batch(step: str, reason: str) -> None:
    assert reason in refusal(HEAD + PROPERTY + LIMITED + MANUAL.format(step=step))


def test_manual_optimization_with_one_step_a_batch() -> None:
    found = levels(HEAD + PROPERTY + LIMITED + MANUAL.format(step=ONE))
    assert [level for level, _, _ in found] == ["safe"]


def test_several_optimizers_of_1x() -> None:
    step = "\n    def training_step(self, batch, batch_idx, optimizer_idx):\n        return None\n"
    assert "several optimizers" in refusal(HEAD + PROPERTY + LIMITED + step)


def test_an_optimizer_index_that_nobody_reads_tells_of_no_second_optimizer() -> None:
    step = "\n    def training_step(self, batch, batch_idx, optimizer_idx=0):\n        return self(batch).mean()\n"
    assert [level for level, _, _ in levels(HEAD + PROPERTY + LIMITED + step)] == ["safe"]


def test_a_subclass_that_optimizes_by_hand() -> None:
    other = "from train import Model\n\n\nclass Gan(Model):\n    def __init__(self):\n        super().__init__()\n"
    other += "        self.automatic_optimization = False\n"
    assert "Gan (gan.py)" in refusal(HEAD + PROPERTY + LIMITED, gan=other)


def test_samples_of_a_stream() -> None:
    data = "from torch.utils.data import IterableDataset\n"
    reason = refusal(CONFIGURED, main=trainer("max_epochs=config.max_epochs"), data=data)
    assert "has no length" in reason


def test_samples_of_a_configuration_in_setup() -> None:
    text = CONFIGURED.replace("configure_optimizers", "setup")
    assert "before a test" in refusal(text, main=trainer("max_epochs=config.max_epochs"))


@pytest.mark.parametrize(
    ("use", "level"),
    [
        ("return get_schedule(total_steps)", "safe"),
        ("return CosineAnnealingLR(self.optimizer, int(0.9 * total_steps))", "safe"),
        ("return self.seen_batches / total_steps", "unsafe"),
        ("self.bar = Bar(total_steps)", "unsafe"),
    ],
)
def test_a_count_without_accumulation_is_safe_for_a_schedule_alone(use: str, level: str) -> None:
    assert [found for found, _, _ in levels(method(f"total_steps = {TOTAL}", use))] == [level]
    windows = TOTAL.replace(" *", " // self.trainer.accumulate_grad_batches *")
    assert [found for found, _, _ in levels(method(f"total_steps = {windows}", use))] == ["safe"]


def test_names_that_are_looked_up_stay() -> None:
    lines = (f"size = {TOTAL}", "total_steps = size", "return get_schedule(total_steps, **locals())")
    text = method(*lines)
    assert f"size = {TOTAL}" in run_rules({"train.py": text}, RULE).final().get("train.py", text.encode()).decode()


TAKEN = "return [optimizer], [OneCycleLR(optimizer, 0.1, total_steps=total)]"
UNREAD = {
    "multiplied in place": (("total = len(self.train_dataloader())", "total *= self.trainer.max_epochs"), "in place"),
    "one of several loaders": (
        ("loaders = self.trainer.train_dataloader", 'total = len(loaders["a"]) * self.trainer.max_epochs'),
        "which of several loaders",
    ),
    "a limit of the project's own": (
        ("total = self.args.max_steps or len(self.train_dataloader()) // self.args.gpus * self.args.epochs",),
        "`self.args.max_steps` comes first",
    ),
    "a function inside that is called twice": (
        ("def count():", f"    return {TOTAL}", "count()", "total = count()"),
        "`count` is a function inside",
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_total_of_which_a_part_is_not_followed_is_named(name: str) -> None:
    lines, reason = UNREAD[name]
    ((level, _, told),) = levels(method(*lines, TAKEN))
    assert level == "manual" and reason in told and EST in told
    assert levels(method(*lines, "return optimizer")) == []


def test_a_total_that_is_computed_before_there_is_a_trainer_is_named() -> None:
    init = (
        "    def __init__(self, dataset, batch_size, epochs):\n        super().__init__()\n"
        "        self.total_steps = len(dataset) // batch_size * epochs\n\n"
    )
    taken = TAKEN.replace("=total)", "=self.total_steps)")
    text = method(taken).replace(HEAD, HEAD + init)
    ((level, _, told),) = levels(text)
    assert level == "manual" and "before there is a Trainer" in told
    assert levels(text.replace(taken, "return optimizer")) == []
    assert levels(text.replace(" * epochs", "")) == []
