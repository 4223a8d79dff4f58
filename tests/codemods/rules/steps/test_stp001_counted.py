"""STP001: whether what is counted is what is trained on, and counts that lead back to themselves."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp001 import RULE
from tests.codemods.rules.steps.test_stp001 import HEAD, levels
from tests.codemods.support import rewritten

STEPS = "len({}) // batch_size * epochs"


def program(steps: str, fit: str = "train_loader, val_loader", *before: str) -> str:
    lines = (
        "train_loader = DataLoader(trainset, batch_size=batch_size)",
        "val_loader = DataLoader(probe, batch_size=batch_size)",
        *before,
        f"trainer = Trainer(max_steps={steps})",
        *([f"trainer.fit(model, {fit})"] if fit else ()),
    )
    head = "def main(model, dm, dataset, trainset, probe, epochs, batch_size):\n"
    return HEAD + head + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("steps", "fit"),
    [
        (STEPS.format("trainset"), "train_loader, val_loader"),
        (STEPS.format("trainset"), "train_dataloaders=train_loader"),
        (STEPS.format("train_loader.dataset"), "train_loader"),
        (STEPS.format("trainset"), "DataLoader(trainset, shuffle=True)"),
        ("len(dm.train_dataloader()) * epochs", "datamodule=dm"),
        ("len(train_loader) * epochs", ""),
        ("len(model.train_dataloader()) * epochs", "model=model"),
        ("len(train_loader) * epochs", "train_loader)\n    trainer.fit(model, train_loader, ckpt_path='last'"),
        (STEPS.format("trainset"), "DataLoader(trainset, batch_size, sampler=None)"),
    ],
)
def test_what_is_trained_on_is_safe(steps: str, fit: str) -> None:
    text = program(steps, fit)
    assert [level for level, _ in levels(text)] == ["safe"]
    assert rewritten({"train.py": text}, RULE)["train.py"] == text.replace(f"max_steps={steps}", "max_epochs=epochs")


@pytest.mark.parametrize(
    ("counted", "fit"),
    [
        (STEPS.format("probe"), "train_loader, val_loader"),
        (STEPS.format("val_loader.dataset"), "train_loader, val_loader"),
        ("len(val_loader) * epochs", "train_loader"),
        ("len(val_loader) * epochs", ""),
        (STEPS.format("val_loader.dataset"), ""),
    ],
)
def test_what_something_else_is_made_of_is_refused(counted: str, fit: str) -> None:
    ((level, reason),) = levels(program(counted, fit))
    assert level == "manual" and "is counted, but" in reason and "is trained on" in reason


@pytest.mark.parametrize(
    ("counted", "fit", "before"),
    [
        (STEPS.format("dataset"), "train_loader", ()),
        ("len(probe_loader) * epochs", "datamodule=dm", ("probe_loader = DataLoader(probe)",)),
        ("len(dm.train_dataloader()) * epochs", "datamodule=other", ()),
        ("len(train_loader) * epochs", "[train_loader, second]", ()),
        ("steps_per_epoch * epochs", "train_loader", ("steps_per_epoch = read(model)",)),
    ],
)
def test_what_is_not_seen_to_be_trained_on_is_unsafe(counted: str, fit: str, before: tuple[str, ...]) -> None:
    ((level, reason),) = levels(program(counted, fit, *before))
    assert level == "unsafe" and "is that of the training" in reason


@pytest.mark.parametrize("size", ["64", "eval_batch_size", "args.train_size"])
def test_samples_by_another_batch_size_are_unsafe(size: str) -> None:
    (found,) = levels(program(STEPS.format("trainset"), f"DataLoader(trainset, batch_size={size})"))
    assert found[0] == "unsafe" and f"loader is `{size}`" in found[1]


def test_an_epoch_that_is_a_number_of_its_own_is_refused() -> None:
    ((level, reason),) = levels(program("steps_per_epoch * epochs", "stream", "steps_per_epoch = 1000"))
    assert level == "manual" and "`steps_per_epoch` is a fixed number" in reason


@pytest.mark.parametrize(
    ("steps", "before", "reason"),
    [
        (
            "steps",
            ("steps = len(train_loader) * epochs", "if dm:", "    steps = 10"),
            "in one case it is another number",
        ),
        (
            "steps * n_epochs",
            ("n_epochs = dm.epochs", "if dm.debug:", "    n_epochs = 1", "steps = len(train_loader)"),
            "in one case it is another number",
        ),
        ("len(train_loader) * max(epochs, 10)", (), "in one case it is another number"),
        ("min(len(train_loader), 100) * epochs", (), "in one case it is another number"),
        ("len(train_loader) * (epochs or 10)", (), "in one case it is another number"),
        ("steps", ("steps = len(train_loader) * epochs", "epochs += 1"), "`epochs` is assigned again"),
        (
            "steps",
            ("steps = len(train_loader) * epochs", "train_loader = DataLoader(probe)"),
            "`train_loader` is assign",
        ),
    ],
)
def test_what_max_epochs_would_not_keep_is_refused(steps: str, before: tuple[str, ...], reason: str) -> None:
    ((level, found),) = levels(program(steps, "train_loader", *before))
    assert level == "manual" and reason in found


def test_a_sampler_decides_how_long_an_epoch_is() -> None:
    text = program(STEPS.format("trainset"), "train_loader").replace("trainset, batch", "trainset, sampler=dm, batch")
    ((level, reason),) = levels(text)
    assert level == "manual" and "a sampler of its own" in reason


def test_a_count_with_at_least_one_step_is_no_case() -> None:
    text = program("max(1, len(train_loader) // 4) * epochs", "train_loader").replace(
        "Trainer(", "Trainer(accumulate_grad_batches=4, "
    )
    assert [level for level, _ in levels(text)] == ["safe"]


LOADERS = """class Data(LightningDataModule):
    def train_dataloader(self):
        return [DataLoader(self.one), DataLoader(self.other)]


"""


def test_several_loaders_in_one_have_another_length() -> None:
    text = program("len(data.train_dataloader()) * epochs", "data", "data = Data()").replace(
        "def main", f"{LOADERS}def main"
    )
    text = text.replace("import Trainer", "import LightningDataModule, Trainer")
    assert ["several loaders" in reason for _, reason in levels(text)] == [True]
    listed = program("len(train_loaders) * epochs", "train_loaders", "train_loaders = [train_loader, val_loader]")
    assert levels(listed) == []


@pytest.mark.parametrize(
    ("steps", "window", "level"),
    [
        ("len(trainset) // 16 * epochs", 1, "safe"),
        ("len(trainset) // (16 * 4) * epochs", 4, "safe"),
        ("len(trainset) // 16 // 4 * epochs", 4, "safe"),
        ("len(train_loader) // 4 * epochs", 4, "safe"),
        ("len(trainset) // 17 * epochs", 1, None),
        ("len(train_loader) // 16 * epochs", 4, None),
    ],
)
def test_numbers_that_the_loader_and_the_trainer_are_given(steps: str, window: int, level: str | None) -> None:
    text = program(steps, "train_loader").replace("trainset, batch_size=batch_size", "trainset, batch_size=16")
    text = text.replace("Trainer(", f"Trainer(accumulate_grad_batches={window}, ")
    assert [found for found, _ in levels(text)] == ([level] if level else [])
    after = text.replace(f"max_steps={steps}", "max_epochs=epochs") if level else text
    assert rewritten({"train.py": text}, RULE)["train.py"] == after


ITSELF = {
    "a function called like a builtin": (
        "def sum(items):\n    return sum(items)\n\n\ntrainer = Trainer(max_steps=sum([1, 2]))\n"
    ),
    "two functions": (
        "def f(n):\n    return g(n)\n\n\ndef g(n):\n    return f(n)\n\n\ntrainer = Trainer(max_steps=f(3) * epochs)\n"
    ),
    "a length of another kind": (
        "def len(items):\n    return 3\n\n\nloader = DataLoader(data)\n"
        "trainer = Trainer(max_steps=len(loader) * epochs)\ntrainer.fit(model, loader)\n"
    ),
    "properties": (
        "class Settings:\n    @property\n    def a(self):\n        return self.b\n\n    @property\n    def b(self):\n"
        "        return self.a\n\n    def __len__(self):\n        return len(self)\n\n\nsettings = Settings()\n"
        "trainer = Trainer(max_steps=settings.a, devices=settings.b)\ntrainer.fit(model, DataLoader(settings))\n"
    ),
    "a split of itself": (
        "from torch.utils.data import random_split\n\ntrain, val = random_split(train, [len(train) - 10, 10])\n"
        "loader = DataLoader(train)\ntrainer = Trainer(max_steps=100)\ntrainer.fit(model, loader)\n"
    ),
    "tensors": (
        "from torch.utils.data import TensorDataset\n\nx = y\ny = x\nloader = DataLoader(TensorDataset(x))\n"
        "trainer = Trainer(max_steps=100)\ntrainer.fit(model, loader)\n"
    ),
}
NAMES = [f"v{number}" for number in range(14)]
ITSELF["names of each other"] = (
    "".join(f"{name} = {' * '.join(NAMES)}\n" for name in NAMES) + "trainer = Trainer(max_steps=v0)\n"
)


@pytest.mark.parametrize("text", ITSELF.values(), ids=ITSELF.keys())
def test_what_leads_to_itself_is_not_followed_for_ever(text: str) -> None:
    assert levels(HEAD + text) == []
