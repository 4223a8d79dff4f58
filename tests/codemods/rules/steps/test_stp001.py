"""STP001: `max_steps` computed from an epoch becomes `max_epochs`."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp001 import RULE
from tests.codemods.support import rewritten, run_rules

HEAD = "import math\nfrom pytorch_lightning import Trainer\nfrom torch.utils.data import DataLoader\n\n\n"
BODY = """\
def main(args, model, dataset, epochs, batch_size, accumulate, devices):
    train_loader = DataLoader(dataset, batch_size=batch_size)
    trainer = Trainer({arguments})
    trainer.fit(model, train_loader)
"""


def program(arguments: str, *before: str) -> str:
    lines = "".join(f"    {line}\n" for line in before)
    return HEAD + BODY.format(arguments=arguments).replace("    trainer = ", f"{lines}    trainer = ")


def levels(text: str, **others: str) -> list[tuple[str, str]]:
    made = run_rules({"train.py": text, **{f"{name}.py": other for name, other in others.items()}}, RULE)
    assert made.bugs == ()
    return [(finding.fix, finding.reason) for finding in made.findings]


@pytest.mark.parametrize(
    "steps",
    [
        "len(train_loader) * epochs",
        "epochs * len(train_loader)",
        "len(train_loader) // accumulate * epochs",
        "math.ceil(len(train_loader) / accumulate) * epochs",
        "int(len(train_loader) / accumulate / devices) * epochs",
        "len(dataset) // (batch_size * accumulate * devices) * epochs",
        "int(epochs * len(dataset) / batch_size)",
        "(len(dataset) // batch_size) // accumulate * epochs",
        "len(train_loader.dataset) // batch_size * epochs",
    ],
)
def test_epochs_are_what_it_means(steps: str) -> None:
    before = program(f"max_steps={steps}, accumulate_grad_batches=accumulate")
    after = rewritten({"train.py": before}, RULE)["train.py"]
    wanted = program("max_epochs=epochs, accumulate_grad_batches=accumulate")
    assert after == wanted.removeprefix("import math\n" if "math." in steps else "")


def test_names_are_followed_and_go_where_nothing_else_needs_them() -> None:
    before = program(
        "logger=False, max_steps=max_steps",
        "steps_per_epoch = len(train_loader) // accumulate",
        "max_steps = steps_per_epoch * epochs",
    )
    assert rewritten({"train.py": before}, RULE)["train.py"] == program("logger=False, max_epochs=epochs")


def test_a_name_that_is_used_elsewhere_stays() -> None:
    lines = ("max_steps = len(train_loader) * epochs", "model.warm_up(max_steps)")
    before = program("max_steps=max_steps", *lines)
    assert rewritten({"train.py": before}, RULE)["train.py"] == program("max_epochs=epochs", *lines)


def test_a_commented_line_stays_and_is_named() -> None:
    line = "max_steps = len(train_loader) * epochs  # see the paper"
    before = program("max_steps=max_steps", line)
    assert rewritten({"train.py": before}, RULE)["train.py"] == program("max_epochs=epochs", line)
    assert "Not used any more: `max_steps`." in levels(before)[0][1]


def test_attributes_and_module_names_are_followed() -> None:
    before = program("max_steps=args.max_steps", "args.max_steps = len(train_loader) * EPOCHS").replace(
        "\n\ndef", "EPOCHS = 3\n\n\ndef"
    )
    after = rewritten({"train.py": before}, RULE)["train.py"]
    assert "Trainer(max_epochs=EPOCHS)" in after
    assert "args.max_steps = len(train_loader) * EPOCHS" in after


@pytest.mark.parametrize(("steps", "epochs"), [("len(train_loader)", "1"), ("len(train_loader) * 5", "5")])
def test_a_literal_number_of_epochs(steps: str, epochs: str) -> None:
    after = rewritten({"train.py": program(f"max_steps={steps}")}, RULE)["train.py"]
    assert after == program(f"max_epochs={epochs}")


@pytest.mark.parametrize("given", ["max_epochs=epochs", "max_epochs=None", "max_epochs=-1"])
def test_max_epochs_that_says_the_same_or_nothing(given: str) -> None:
    before = program(f"{given}, max_steps=len(train_loader) * epochs")
    assert rewritten({"train.py": before}, RULE)["train.py"] == program("max_epochs=epochs")


def test_samples_that_are_only_named_are_unsafe() -> None:
    before = program("max_steps=args.num_samples // args.batch_size * args.epochs")
    assert [level for level, _ in levels(before)] == ["unsafe"]


def test_the_number_stays_where_something_reads_it() -> None:
    reader = "def total(trainer):\n    return trainer.max_steps\n"
    arguments = "max_steps={}, accumulate_grad_batches=accumulate, devices=1"
    before = program(arguments.format("len(dataset) // (batch_size * accumulate) * epochs"))
    assert "max_epochs=epochs" in levels(before, other=reader)[0][1]
    before = program(arguments.format("len(train_loader) // accumulate * epochs"))
    after = rewritten({"train.py": before, "other.py": reader}, RULE)["train.py"]
    assert after == program(arguments.format("epochs * math.ceil(len(train_loader) / accumulate)"))


READER = {"other.py": "def total(trainer):\n    return trainer.max_steps\n"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("devices=4", "math.ceil(len(train_loader) / 4)"),
        ("devices=4, num_nodes=2", "math.ceil(len(train_loader) / (4 * 2))"),
        ("gpus=torch.cuda.device_count()", "math.ceil(len(train_loader) / max(1, torch.cuda.device_count()))"),
        (
            "devices=found, accumulate_grad_batches=accumulate",
            "math.ceil(len(train_loader) / (max(1, found) * accumulate))",
        ),
    ],
)
def test_the_number_is_a_device_s_share(arguments: str, expected: str) -> None:
    text = program(f"max_steps={{}}, {arguments}", "found = torch.cuda.device_count()").replace(
        "import math\n", "import math\nimport torch\n"
    )
    before = {"train.py": text.format("len(train_loader) * epochs"), **READER}
    after = rewritten(before, RULE)["train.py"]
    assert after == text.format(f"epochs * {expected}")
    assert rewritten({"train.py": after, **READER}, RULE)["train.py"] == after


@pytest.mark.parametrize(
    ("arguments", "loader"),
    [
        ('devices="auto"', "dataset, batch_size=batch_size"),
        ("devices=-1", "dataset, batch_size=batch_size"),
        ("devices=args.devices", "dataset, batch_size=batch_size"),
        ("devices=2", "dataset, batch_size=batch_size, drop_last=drop"),
        ("devices=2", "dataset, batch_size=sizes[0], drop_last=True"),
        ("devices=torch.cuda.device_count()", "dataset, batch_size=batch_size, drop_last=True"),
        ("devices=2", "dataset, batch_size=batch_size, sampler=sampler"),
        ("devices=2, num_nodes=nodes", "dataset, batch_size=batch_size"),
        ('gpus=2, accelerator="dp"', "dataset, batch_size=batch_size"),
        ("devices=2, use_distributed_sampler=False", "dataset, batch_size=batch_size"),
    ],
)
def test_a_share_that_is_not_known_is_left_to_a_person(arguments: str, loader: str) -> None:
    text = program(f"max_steps=len(train_loader) * epochs, {arguments}").replace(
        "dataset, batch_size=batch_size", loader
    )
    made = run_rules({"train.py": text, **READER}, RULE)
    assert made.changes == () and made.bugs == ()
    assert "estimated_stepping_batches" in made.findings[0].reason


def test_two_limits_that_contradict() -> None:
    text = (
        HEAD
        + "from torch import randn\nimport torch\nfrom torch.utils.data import TensorDataset\n\n"
        + "data = TensorDataset(torch.randn(2500, 3))\nloader = DataLoader(data, batch_size=64, drop_last=True)\n"
        + "trainer = Trainer(max_epochs=10, max_steps=40, accumulate_grad_batches=8)\ntrainer.fit(model, loader)\n"
    )
    made = run_rules({"train.py": text}, RULE)
    assert made.changes == ()
    assert [finding.message for finding in made.findings] == [
        "max_steps=40 ends training after 8 epochs, before max_epochs=10 (50 steps)"
    ]
    assert "39 batches and 5 steps" in made.findings[0].reason


def test_a_total_that_is_kept_for_a_scheduler() -> None:
    text = HEAD + "def main(config, trainset, total_batch_size, epochs):\n    print(len(trainset))\n"
    text += "    config.optimizer.max_steps = len(trainset) // total_batch_size * epochs\n"
    made = run_rules({"train.py": text}, RULE)
    assert made.changes == ()
    assert [finding.fix for finding in made.findings] == ["manual"]


def test_a_configuration_that_computes_it() -> None:
    text = "trainer:\n  max_steps: ${eval:'${data.size} // ${data.batch} * ${epochs}'}\n  devices: 1\n"
    made = run_rules({"conf.yaml": text}, RULE)
    assert [(finding.fix, finding.span.line) for finding in made.findings] == [("manual", 2)]
