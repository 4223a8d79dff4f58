"""STP001: what is a budget, or not provable, stays as it is."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp001 import RULE
from tests.codemods.rules.steps.test_stp001 import HEAD, levels, program
from tests.codemods.support import run_rules


@pytest.mark.parametrize(
    "arguments",
    [
        "max_steps=100000",
        "max_steps=100_000, max_epochs=-1",
        "max_steps=args.max_steps",
        "max_steps=10 * 1000",
        "max_steps=-1",
        "max_steps=args.max_steps or -1",
        "max_steps=len(dataset)",
        "max_steps=warmup + len(train_loader) * epochs",
        "max_steps=len(train_loader) // 10",
        "max_steps=0.5 * len(train_loader) * epochs",
        "max_steps=len(val_loader) * epochs",
        "max_steps=math.ceil(len(train_loader) / accumulate) * epochs, accumulate_grad_batches=accumulate, devices=1",
        "max_steps=epochs * len(train_loader), devices=1",
    ],
)
def test_left_alone(arguments: str) -> None:
    assert levels(program(arguments)) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("max_steps=len(train_loader) * epochs, max_epochs=7", "max_epochs is given too"),
        ("max_steps=len(train_loader) * epochs, limit_train_batches=0.1", "limit_train_batches"),
        ("max_steps=len(train_loader) * epochs, overfit_batches=2", "overfit_batches"),
        ("max_steps=len(train_loader) * epochs, **args", "`**`"),
    ],
)
def test_refused(arguments: str, reason: str) -> None:
    found = levels(program(arguments))
    assert [level for level, _ in found] == ["manual"]
    assert reason in found[0][1]


def test_fractions_of_epochs_are_refused() -> None:
    found = levels(program("max_steps=int(len(train_loader) * EPOCHS)").replace("\n\ndef", "EPOCHS = 2.5\n\n\ndef"))
    assert [level for level, _ in found] == ["manual"]
    assert "not whole" in found[0][1]


def test_another_loader_than_the_one_that_is_trained_on() -> None:
    text = program("max_steps=len(small_loader) * epochs", "small_loader = DataLoader(args.small)")
    found = levels(text)
    assert [level for level, _ in found] == ["manual"]
    assert "`train_loader` is trained on" in found[0][1]


def test_several_devices_and_a_reader_of_the_number() -> None:
    found = levels(program("max_steps=len(train_loader) * epochs"), other="def f(trainer):\n    trainer.max_steps\n")
    assert [level for level, _ in found] == ["manual"]
    assert "trainer.max_steps" in found[0][1]


def test_another_trainer() -> None:
    text = program("max_steps=len(train_loader) * epochs").replace("pytorch_lightning", "transformers")
    assert levels(text) == []


def test_limits_that_agree_or_cannot_be_computed() -> None:
    head = HEAD + "import torch\nfrom torch.utils.data import TensorDataset\n\n"
    made = "loader = DataLoader(TensorDataset(torch.randn({}, 3)), batch_size=64)\n"
    fit = "trainer = Trainer(max_epochs=2, max_steps={})\ntrainer.fit(model, loader)\n"
    assert levels(head + made.format("640") + fit.format("20")) == []
    assert levels(head + made.format("size") + fit.format("5")) == []
    assert levels(head + made.format("640") + fit.format("5").replace("max_epochs=2", "max_epochs=args.epochs")) == []
    assert levels(head + made.format("640") + fit.format("5").replace("max_epochs=2", "**args")) == []
    assert (
        levels(head + made.format("640") + fit.format("5").replace("epochs=2", "epochs=2, limit_train_batches=3")) == []
    )
    assert levels(head + made.format("640").replace("64)", "64, sampler=s)") + fit.format("5")) == []
    assert len(levels(head + made.format("640") + fit.format("5"))) == 1


@pytest.mark.parametrize("value", ["100000", "null", "-1", "${steps}", "${trainer.steps}  # epochs"])
def test_plain_configurations(value: str) -> None:
    assert run_rules({"conf.yaml": f"trainer:\n  max_steps: {value}\n"}, RULE).findings == ()


def test_names_of_another_function_or_hidden_by_a_parameter() -> None:
    away = program("max_steps=args.max_steps").replace(
        "\n\ndef main",
        "\n\ndef count(args, train_loader, n_epochs):\n    args.max_steps = len(train_loader) * n_epochs\n\n\ndef main",
    )
    assert [level for level, _ in levels(away) if level != "manual"] == []
    hidden = program("max_steps=max_steps").replace(
        "\n\ndef main",
        "train_loader = DataLoader(data)\nepochs = 3\nmax_steps = len(train_loader) * epochs\n\n\ndef main",
    )
    found = levels(hidden)
    assert [level for level, _ in found] == ["manual"]
    assert "another name" in found[0][1]


def test_names_that_are_looked_up_stay() -> None:
    text = program("max_steps=max_steps", "max_steps = len(train_loader) * epochs", "log(locals())")
    made = run_rules({"train.py": text}, RULE)
    assert "    max_steps = len(train_loader) * epochs\n" in made.final()["train.py"].decode()


def with_data(steps: str) -> str:
    text = program(f"max_steps={steps}").replace("fit(model, train_loader)", "fit(model, dm)")
    return text.replace("train_loader = DataLoader(dataset, batch_size=batch_size)", "dm = Data(dataset)")


def test_the_batches_of_validation_are_no_epoch_of_training() -> None:
    ((level, reason),) = levels(with_data("epochs * len(dm.val_dataloader())"))
    assert level == "manual" and "`dm.val_dataloader()` is counted" in reason and "max_epochs=epochs" in reason
    assert levels(with_data("epochs * len(other.val_dataloader())")) == []
    assert levels(with_data("len(dm.val_dataloader())")) == []


def test_a_function_of_the_project_that_rounds_is_named() -> None:
    text = program("max_steps=ceil(len(train_loader) / accumulate) * epochs")
    ((level, reason),) = levels(text.replace("import math\n", "from utils import ceil\n"))
    assert level == "manual" and "fixer cannot tell what `utils.ceil` rounds to" in reason
    assert [level for level, _ in levels(text.replace("import math\n", "from math import ceil\n"))] == ["safe"]
    length = program("max_steps=ceil(len(train_loader) / 3)").replace("import math\n", "from utils import ceil\n")
    assert levels(length) == []
