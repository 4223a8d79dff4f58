"""STP001: what the parts of a number of steps are read as, and what stays because `max_epochs` needs it."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp001 import RULE
from tests.codemods.rules.steps.test_stp001 import HEAD, levels, program
from tests.codemods.support import rewritten, run_rules
from tests.training import Case, train_many

READER = {"reader.py": "def limit(trainer):\n    return trainer.max_steps\n"}
MODEL = """\
import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.001)


def loader(batches):
    return DataLoader(TensorDataset(torch.zeros(batches, 1)))


"""
LISTED = (
    MODEL
    + """\
def main():
    num_epochs = [2, 3]
    train_loader = loader(4)
    steps = []
    for i in range(2):
        trainer = Trainer(max_steps=len(train_loader) * num_epochs[i])
        trainer.fit(Model(), train_loader)
        steps.append(trainer.global_step)
    return steps
"""
)
NUMBERED = (
    MODEL
    + """\
def main():
    epochs = 3
    train_loader = loader(4)
    trainer = Trainer(max_steps=len(train_loader) * epochs)
    trainer.fit(Model(), train_loader)
    return [trainer.global_step]
"""
)
ELSEWHERE = (
    MODEL
    + """\
EPOCHS = 3
train_loader = loader(2)
STEPS = len(train_loader) * EPOCHS


def train(train_loader):
    trainer = Trainer(max_steps=STEPS)
    trainer.fit(Model(), train_loader)
    return [trainer.global_step]


def main():
    return train(loader(10))
"""
)


def test_what_max_epochs_is_given_is_still_there() -> None:
    after = rewritten({"train.py": NUMBERED}, RULE)["train.py"]
    assert after == NUMBERED.replace("max_steps=len(train_loader) * epochs", "max_epochs=epochs")
    by_steps = rewritten({"train.py": NUMBERED.replace("(max", '(devices=1, accelerator="cpu", max'), **READER}, RULE)
    assert "    epochs = 3\n" in by_steps["train.py"]


def test_an_item_of_several_numbers_of_epochs_is_no_list_of_them() -> None:
    after = rewritten({"train.py": LISTED}, RULE)["train.py"]
    assert after == LISTED.replace("max_steps=len(train_loader) * num_epochs[i]", "max_epochs=num_epochs[i]")
    keyed = program("max_steps=len(train_loader) * epochs['main']")
    assert rewritten({"train.py": keyed}, RULE)["train.py"] == program("max_epochs=epochs['main']")


def test_epochs_that_are_spelled_over_several_lines_are_written_on_one() -> None:
    text = program("max_steps=(\n        args\n        .epochs * len(train_loader)\n    )")
    assert rewritten({"train.py": text}, RULE)["train.py"] == program("max_epochs=args.epochs")


@pytest.mark.parametrize("steps", ["(len(train_loader) * epochs)[0]", "len(train_loader) * (epochs * accumulate)[0]"])
def test_an_item_of_a_product_is_nothing(steps: str) -> None:
    assert levels(program(f"max_steps={steps}")) == []


def test_a_loader_of_the_same_name_is_another_where_the_trainer_is_built() -> None:
    ((level, reason),) = levels(ELSEWHERE)
    assert level == "manual" and "`train_loader` is another name where the Trainer is built" in reason
    assert rewritten({"train.py": ELSEWHERE}, RULE, unsafe=True)["train.py"] == ELSEWHERE


def test_what_is_rewritten_trains_as_long() -> None:
    texts = [NUMBERED, LISTED, *(rewritten({"train.py": text}, RULE)["train.py"] for text in (NUMBERED, LISTED))]
    made = train_many([(Case({"train.py": text}, script=None), "target") for text in (*texts, ELSEWHERE)])
    assert [record.failure for record in made] == [None] * 5
    assert [record.returned for record in made] == [[12], [8, 12], [12], [8, 12], [6]]


@pytest.mark.parametrize(
    ("size", "divisor", "doubts"),
    [
        ("args.train.batch_size", "args.val.batch_size", True),
        ("args.batch_size", "batch_size", False),
        ("args.train.batch_size", "train.batch_size", False),
    ],
)
def test_settings_of_one_name_in_two_sections_are_two(size: str, divisor: str, doubts: bool) -> None:
    text = program(f"max_steps=len(dataset) // {divisor} * epochs").replace("=batch_size)", f"={size})")
    ((level, reason),) = levels(text)
    assert level == ("unsafe" if doubts else "safe")
    assert ("which fixer assumes to be the same" in reason) is doubts


@pytest.mark.parametrize(
    "steps",
    [
        "len(train_loader) // 4 * 4",
        "len(train_loader) // 4 * 8",
        "int(0.5 * len(train_loader)) * 2",
        "len(train_loader) // 4 * 4 * epochs",
        "len(dataset) // batch_size // 3 * 3",
    ],
)
def test_what_is_rounded_between_two_numbers_is_no_epoch(steps: str) -> None:
    assert levels(program(f"max_steps={steps}")) == []


def test_batches_that_are_divided_by_their_size_again_are_unsafe() -> None:
    for steps in ("len(train_loader) * epochs // batch_size", "len(train_loader) // batch_size * epochs"):
        ((level, reason),) = levels(program(f"max_steps={steps}"))
        assert level == "unsafe" and "divided by the batch size again" in reason


def test_the_right_steps_are_as_sure_as_the_epochs() -> None:
    text = program("max_steps=len(train_loader) * epochs // batch_size, devices=1")
    (found,) = run_rules({"train.py": text, **READER}, RULE).findings
    assert found.fix == "unsafe" and "divided by the batch size again" in found.reason and "stays" in found.reason


@pytest.mark.parametrize("name", ["pretrain_loader", "trainer.loader"])
def test_a_name_that_does_not_say_training(name: str) -> None:
    text = program(f"max_steps=len({name}) * epochs", "pretrain_loader = DataLoader(dataset)")
    ((level, reason),) = levels(text.replace("    trainer.fit(model, train_loader)\n", ""))
    assert level == "unsafe" and f"fixer assumes that `{name}` is" in reason


@pytest.mark.parametrize("steps", ["len(dataset) // 32 * 10", "10 * len(dataset) // 32", "10 * (len(dataset) // 32)"])
def test_numbers_of_epochs_and_of_samples_in_a_batch(steps: str) -> None:
    before = program(f"max_steps={steps}").replace("=batch_size)", "=32)")
    after = program("max_epochs=10").replace("=batch_size)", "=32)")
    assert rewritten({"train.py": before}, RULE)["train.py"] == after
    assert levels(before.replace("=32)", "=16)")) == []


def test_a_part_of_the_samples_is_what_its_name_says() -> None:
    lines = ("train_size = int(0.8 * len(dataset))", "train_set, _ = random_split(dataset, [train_size, 9])")
    text = program("max_steps=train_size // 32 * epochs", *lines).replace(
        "(dataset, batch_size=batch", "(train_set, batch"
    )
    ((level, reason),) = levels(text.replace("_size)\n    train_size", "_size=32)\n    train_size"))
    assert level == "unsafe" and "fixer assumes that `train_size` is that of the training" in reason


@pytest.mark.parametrize(
    ("made", "counted"),
    [
        ("train_loaders = {'a': train_loader, 'b': train_loader}", "train_loaders['a']"),
        ("train_loaders = [train_loader, train_loader]", "train_loaders[0]"),
        ("loaders = {'train': train_loader, 'val': args.other}", "loaders['train']"),
    ],
)
def test_one_of_several_loaders_is_named(made: str, counted: str) -> None:
    text = program(f"max_steps=len({counted}) * epochs", made)
    ((level, reason),) = levels(text)
    assert level == "manual" and f"`{counted}`" in reason and "only max_epochs=epochs" in reason
    assert levels(text.replace(f"len({counted})", "len(loaders['val'])")) == []


def test_the_name_of_a_parameter_divides_by_another_size() -> None:
    text = HEAD + (
        "batch_size = 8\ndata = Data()\nSTEPS = len(data) // batch_size * 3\n\n\n"
        "def main(model, batch_size):\n    train_loader = DataLoader(data, batch_size=batch_size)\n"
        "    trainer = Trainer(max_steps=STEPS)\n    trainer.fit(model, train_loader)\n"
    )
    ((level, reason),) = levels(text)
    assert level == "unsafe" and "loader is `batch_size`" in reason
