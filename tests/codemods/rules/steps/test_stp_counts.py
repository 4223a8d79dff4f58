"""The STP family by counting: the optimizer steps and epochs that run, before and after."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.rules.steps.stp001 import RULE as STP001
from codemods.rules.steps.stp002 import RULE as STP002
from codemods.rules.steps.stp003 import RULE as STP003
from codemods.rules.steps.stp004 import RULE as STP004
from tests.codemods.support import rewritten, run_rules
from tests.training import Case, Record, train, train_many

HEAD = """\
import math
import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self, **settings):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.settings = settings
        self.seen = 0

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.001)


"""
SCRIPT = """\
def main(samples, batch_size, accumulate, drop_last, epochs, devices=1):
    dataset = TensorDataset(torch.zeros(samples, 1))
    train_loader = DataLoader(dataset, batch_size=batch_size, drop_last=drop_last)
    trainer = Trainer(max_steps={steps}, accumulate_grad_batches=accumulate, devices={devices}, **EXTRA)
    trainer.fit(Model(), train_loader)
    return trainer.global_step
"""
SCHEDULED = """\
import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.rounds = 3
        self.first = torch.nn.Linear(1, 1)
        self.second = torch.nn.Linear(1, 1)

    def training_step(self, batch, batch_idx):
        one, other = self.lr_schedulers()
        LOOP
            for optimizer in self.optimizers():
                optimizer.zero_grad()
                self.manual_backward((self.first(batch[0]) + self.second(batch[0])).sum())
                optimizer.step()
            one.step()
            other.step()

    def train_dataloader(self):
        return DataLoader(TensorDataset(torch.zeros(10, 1)), batch_size=2)

    def configure_optimizers(self):
        total_steps = len(self.train_dataloader()) * self.trainer.max_epochs
        optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (self.first, self.second)]
        one = torch.optim.lr_scheduler.OneCycleLR(optimizers[0], 0.1, total_steps=total_steps)
        return optimizers, [one, torch.optim.lr_scheduler.OneCycleLR(optimizers[1], 0.1, total_steps=total_steps)]


def main():
    trainer = Trainer(max_epochs=2)
    model = Model()
    trainer.fit(model)
    return [(scheduler.last_epoch, scheduler.total_steps) for scheduler in model.lr_schedulers()]
"""
READER = {"reader.py": "def limit(trainer):\n    return trainer.max_steps\n"}
SAMPLES = "len(dataset) // (batch_size * accumulate) * epochs"
BATCHES = "len(train_loader) // accumulate * epochs"


def script(steps: str, devices: str = "1") -> str:
    return HEAD + SCRIPT.format(steps=steps, devices=devices).replace(", **EXTRA", "")


def run(text: str, *arguments: Any, **how: Any) -> Record:
    record = train({"train.py": text}, script=None, arguments=arguments, **how)
    assert record.failure is None, record.output
    return record


@pytest.mark.parametrize(
    ("arguments", "was", "steps"),
    [
        ((513, 64, 8, True, 3), (3, 3), 3),
        ((2500, 64, 8, True, 10), (40, 8), 50),
        ((21, 2, 4, False, 5), (10, 4), 15),
        ((20, 2, 5, False, 4), (8, 4), 8),
    ],
)
def test_max_epochs_ends_where_the_formula_did_not(
    arguments: tuple[Any, ...], was: tuple[int, int], steps: int
) -> None:
    before = script(SAMPLES)
    after = rewritten({"train.py": before}, STP001)["train.py"]
    old, new = run(before, *arguments), run(after, *arguments)
    assert (old.global_step, old.epoch) == was
    assert (new.global_step, new.epoch) == (steps, arguments[4])
    assert len(new.steps) == steps


def test_the_widely_given_formula_is_too_long_with_drop_last() -> None:
    before = script("math.ceil(len(dataset) / (batch_size * accumulate)) * epochs")
    arguments = (513, 64, 8, True, 3)
    assert (run(before, *arguments).global_step, run(before, *arguments).epoch) == (6, 6)
    after = rewritten({"train.py": before}, STP001)["train.py"]
    assert (run(after, *arguments).global_step, run(after, *arguments).epoch) == (3, 3)


def test_batches_are_not_steps_where_gradients_accumulate() -> None:
    before = script("len(train_loader) * epochs")
    after = rewritten({"train.py": before}, STP001)["train.py"]
    arguments = (2500, 64, 8, True, 1)
    assert (run(before, *arguments).global_step, run(before, *arguments).epoch) == (39, 8)
    assert (run(after, *arguments).global_step, run(after, *arguments).epoch) == (5, 1)


SHAPES = st.tuples(st.integers(1, 30), st.integers(1, 5), st.integers(1, 5), st.booleans(), st.integers(1, 3))


@given(SHAPES)
@settings(max_examples=15, deadline=None)
def test_what_is_written_equals_what_is_counted(shape: tuple[int, int, int, bool, int]) -> None:
    samples, batch_size, accumulate, drop_last, epochs = shape
    batches = samples // batch_size if drop_last else math.ceil(samples / batch_size)
    by_epochs = rewritten({"train.py": script(BATCHES)}, STP001)["train.py"]
    by_steps = rewritten({"train.py": script(BATCHES), **READER}, STP001)["train.py"]
    by_module = {"train.py": rewritten({"train.py": PROPERTY}, STP002)["train.py"]}
    assert "max_epochs=epochs" in by_epochs and "math.ceil(len(train_loader) / accumulate)" in by_steps
    files = ({"train.py": by_epochs}, {"train.py": by_steps}, by_module)
    arguments = (*shape,)
    first, second, third = train_many((Case(item, script=None, arguments=arguments), "target") for item in files)
    assert [record.failure for record in (first, second, third)] == [None] * 3
    assert len(first.steps) == first.global_step == second.global_step == third.global_step
    assert first.global_step == epochs * math.ceil(batches / accumulate)
    if batches:
        assert (first.epoch, second.epoch) == (epochs, epochs)
        assert third.returned == [third.global_step] * 2


def test_two_devices() -> None:
    before = script("epochs * len(train_loader)", '2, accelerator="cpu", strategy="ddp"')
    after = rewritten({"train.py": before}, STP001)["train.py"]
    arguments = (40, 2, 1, False, 1)
    old, new = run(before, *arguments, processes=2), run(after, *arguments, processes=2)
    assert (old.global_step, old.epoch) == (20, 2)
    assert (new.global_step, new.epoch) == (10, 1)
    assert new.ranks[0].global_step == 10


def test_two_devices_and_a_reader_of_the_number() -> None:
    before = script("epochs * len(train_loader) // accumulate", '2, accelerator="cpu", strategy="ddp"').replace(
        ", drop_last=drop_last)", ")"
    )
    after = rewritten({"train.py": before, **READER}, STP001)["train.py"]
    assert "max_steps=epochs * math.ceil(len(train_loader) / (2 * accumulate))" in after
    arguments = (21, 2, 2, False, 2)
    old, new = run(before, *arguments, processes=2), run(after, *arguments, processes=2)
    assert (old.global_step, old.epoch) == (11, 4)
    assert (new.global_step, new.epoch) == (6, 2)


def test_two_devices_that_drop_their_last_batch() -> None:
    before = script("epochs * len(train_loader) // accumulate", '2, accelerator="cpu", strategy="ddp"').replace(
        ", drop_last=drop_last)", ", drop_last=True)"
    )
    after = rewritten({"train.py": before, **READER}, STP001)["train.py"]
    assert "max_steps=epochs * math.ceil(math.ceil(len(dataset) / 2) // batch_size / accumulate)" in after
    assert rewritten({"train.py": after, **READER}, STP001)["train.py"] == after
    arguments = (21, 2, 2, True, 2)
    old, new = run(before, *arguments, processes=2), run(after, *arguments, processes=2)
    assert (old.global_step, old.epoch) == (10, 4)
    assert (new.global_step, new.epoch) == (6, 2)


PROPERTY = (
    HEAD.replace(
        "    def configure_optimizers",
        '''\
    @property
    def num_training_steps(self):
        """All steps."""
        if self.trainer.max_steps:
            return self.trainer.max_steps
        loader = self.trainer.train_dataloader
        devices = max(1, self.trainer.num_gpus, self.trainer.num_processes)
        effective = loader.batch_size * self.trainer.accumulate_grad_batches * devices
        return (len(loader) // effective) * self.trainer.max_epochs

    def configure_optimizers''',
    )
    + """\
def main(samples, batch_size, accumulate, drop_last, epochs):
    loader = DataLoader(TensorDataset(torch.zeros(samples, 1)), batch_size=batch_size, drop_last=drop_last)
    model, trainer = Model(), Trainer(max_epochs=epochs, accumulate_grad_batches=accumulate)
    trainer.fit(model, loader)
    return [model.num_training_steps, trainer.global_step]
"""
)


def test_the_property_that_people_copy() -> None:
    arguments = (21, 2, 4, False, 5)
    after = rewritten({"train.py": PROPERTY}, STP002)["train.py"]
    assert run(PROPERTY, *arguments).returned == [-1, 15]
    assert run(PROPERTY, *arguments, on="1.9.5").returned == [-1, 15]
    assert run(after, *arguments).returned == [15, 15]
    assert run(after, *arguments, on="1.9.5").returned == [15, 15]
    unguarded = PROPERTY.replace("self.trainer.max_steps:", "self.trainer.max_steps > 0:")
    broken = train({"train.py": unguarded}, script=None, arguments=arguments)
    assert broken.failure is not None
    assert broken.failure.type == "AttributeError"
    assert "no attribute 'num_training_steps'" in broken.failure.message


LOADER = "DataLoader(TensorDataset(torch.zeros(13, 1)), batch_size=2)"
STEP = "        return self.layer(batch[0]).sum()\n"


def scheduled(*lines: str, arguments: str = "max_epochs=3, accumulate_grad_batches=2", step: str = STEP) -> str:
    """A program whose configure_optimizers goes on with some lines behind `optimizer = ...`; 7 batches an epoch."""
    build = "        optimizer = torch.optim.SGD(self.parameters(), lr=0.001)\n"
    build += "".join(f"        {line}\n" for line in lines)
    head = HEAD.replace("        return torch.optim.SGD(self.parameters(), lr=0.001)\n", build).replace(STEP, step)
    loader = f"    def train_dataloader(self):\n        return {LOADER}\n\n    def training_step"
    end = f"def main():\n    model, trainer = Model(), Trainer({arguments})\n    trainer.fit(model)\n"
    return head.replace("    def training_step", loader) + end + "    return [model.seen, trainer.global_step]\n"


def both(text: str) -> tuple[Record, Record]:
    after = rewritten({"train.py": text}, STP002, unsafe=True)["train.py"]
    assert after != text
    first, second = train_many([(Case({"train.py": item}, script=None), "target") for item in (text, after)])
    return first, second


ONE_CYCLE = 'return [optimizer], [{"scheduler": torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, '


def test_a_one_cycle_that_is_too_short() -> None:
    floor = (
        "total_steps = len(self.train_dataloader()) // self.trainer.accumulate_grad_batches * self.trainer.max_epochs"
    )
    old, new = both(scheduled(floor, ONE_CYCLE + 'total_steps=total_steps), "interval": "step"}]'))
    assert old.failure is not None
    assert "Tried to step" in old.failure.message
    assert new.failure is None
    assert new.global_step == 12
    assert new.steps[-1].rates[0] < 1e-5


def test_a_one_cycle_with_epochs() -> None:
    lines = "epochs=self.trainer.max_epochs, steps_per_epoch=13 // self.batch_size), "
    text = scheduled("self.batch_size = 2", ONE_CYCLE + lines + '"interval": "step"}]', arguments="max_epochs=3")
    old, new = both(text)
    assert old.failure is not None and "Tried to step" in old.failure.message
    assert (new.failure, new.global_step) == (None, 21)


def test_a_cosine_that_does_not_get_there() -> None:
    total = "total_steps = len(self.train_dataloader()) * self.trainer.max_epochs"
    cosine = "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total_steps)"
    end = f'return [optimizer], [{{"scheduler": {cosine}, "interval": "step"}}]'
    old, new = both(scheduled(total, end))
    assert (old.global_step, new.global_step) == (12, 12)
    assert old.schedulers[0][1] > 0.0003
    assert new.schedulers[0][1] == pytest.approx(0.0, abs=1e-9)


def test_devices_of_the_machine() -> None:
    total = "total_steps = self.trainer.max_epochs * len(self.train_dataloader()) / torch.cuda.device_count()"
    end = "return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total_steps)]"
    old, new = both("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n" + scheduled(total, end))
    assert old.failure is not None and old.failure.type == "ZeroDivisionError"
    assert (new.failure, new.global_step) == (None, 12)


COMPARED = """\
        total = self.trainer.estimated_stepping_batches * self.trainer.accumulate_grad_batches
        self.seen += self.global_step < 0.5 * total
"""


def test_a_first_half_that_is_half() -> None:
    arguments = "max_epochs=3, accumulate_grad_batches=4"
    text = scheduled("return optimizer", arguments=arguments, step=COMPARED + STEP)
    after = rewritten({"train.py": text}, STP003)["train.py"]
    assert run(text).returned == [21, 6]
    assert run(after).returned == [11, 6]


RAW = """\
        optimizer = self.optimizers(use_pl_optimizer=False)
        self.manual_backward(self.layer(batch[0]).sum())
        optimizer.step()
"""
MANUAL = ("self.seen = 0", "self.seen = 0\n        self.automatic_optimization = False")


def test_raw_optimizers_never_reach_max_steps() -> None:
    text = scheduled("return optimizer", arguments="max_epochs=2, max_steps=3", step=RAW).replace(*MANUAL)
    raw, wrapped = run(text), run(text.replace("use_pl_optimizer=False", ""))
    assert (raw.global_step, raw.epoch, len(raw.steps)) == (0, 2, 14)
    assert (wrapped.global_step, wrapped.epoch, len(wrapped.steps)) == (3, 1, 3)


TWO = """\
        for optimizer in self.optimizers():
            optimizer.zero_grad()
            self.manual_backward(self.layer(batch[0]).sum())
            optimizer.step()
"""


def test_two_optimizers_count_twice() -> None:
    second = "return optimizer, torch.optim.SGD(self.parameters(), lr=0.001)"
    text = scheduled(second, arguments="max_epochs=1", step=TWO).replace(*MANUAL)
    assert run(text).global_step == 14


def test_a_window_longer_than_the_epoch() -> None:
    record = run(scheduled("return optimizer", arguments="max_epochs=3, accumulate_grad_batches=50"))
    assert (record.global_step, record.epoch, len(record.losses)) == (3, 3, 21)


@pytest.mark.parametrize("on", ["target", "1.9.5"])
def test_none_is_no_limit(on: str) -> None:
    text = scheduled("return optimizer", arguments="max_epochs=2, max_steps=None")
    broken = train({"train.py": text}, script=None, on=on)
    assert broken.failure is not None and broken.failure.type == "TypeError"
    record = run(rewritten({"train.py": text}, STP004)["train.py"], on=on)
    assert (record.global_step, record.epoch) == (14, 2)


def test_schedulers_that_do_not_step_in_every_batch_are_left() -> None:
    made = run_rules({"train.py": SCHEDULED.replace("LOOP", "if batch_idx % 2:")}, STP002, unsafe=True)
    assert made.changes == ()
    assert [finding.fix for finding in made.findings] == ["manual"]


def test_schedulers_that_step_once_in_a_batch_of_several_optimizers_take_a_look() -> None:
    before = SCHEDULED.replace("LOOP", "if True:")
    before = before.replace("    one.step()\n            other", "one.step()\n        other")
    assert "\n        one.step()\n        other.step()\n" in before
    (found,) = run_rules({"train.py": before}, STP002).findings
    assert found.fix == "unsafe" and "max_steps, which counts the steps of every optimizer" in found.reason


def test_schedulers_that_step_several_times_a_batch_get_that_many_steps() -> None:
    steps, before = 30, SCHEDULED.replace("LOOP", "for _ in range(self.rounds):")
    assert run_rules({"train.py": before}, STP002).findings[0].fix == "unsafe"
    after = rewritten({"train.py": before}, STP002, unsafe=True)["train.py"]
    assert "total_steps = self.trainer.estimated_stepping_batches * self.rounds\n" in after
    assert run(after).returned == [[steps, steps]] * 2
    broken = train({"train.py": before}, script=None).failure
    assert broken is not None and broken.type == "ValueError"


def test_a_product_keeps_its_place_in_what_stands_around_it() -> None:
    decay = "torch.optim.lr_scheduler.LambdaLR(optimizers[1], lambda step: 1 - step / ({}))"
    text = SCHEDULED.replace("LOOP", "for _ in range(self.rounds):").replace(
        "torch.optim.lr_scheduler.OneCycleLR(optimizers[1], 0.1, total_steps=total_steps)",
        decay.format("len(self.train_dataloader()) * self.trainer.max_epochs"),
    )
    after = rewritten({"train.py": text}, STP002, unsafe=True)["train.py"]
    assert decay.format("self.trainer.estimated_stepping_batches * self.rounds") in after
