"""MET001: metrics that nothing gives predictions, beside others that are."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

TEXT = """\
import torch
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy


class Model(LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = torch.nn.Linear(8, 5)
        self.train_acc = Accuracy()
        self.test_acc = Accuracy()

    def training_step(self, batch, batch_idx):
        x, y = batch
        self.train_acc(self.net(x).argmax(1), y)

    def test_step(self, batch, batch_idx):
        x, y = batch
"""
NEW = 'Accuracy(task="multiclass", num_classes=5)'


def test_it_gets_the_task_of_the_one_beside_it() -> None:
    files = {"train.py": TEXT}
    assert rewritten(files, rule("MET001"), unsafe=True)["train.py"] == TEXT.replace("Accuracy()", NEW)
    found = run_rules(files, rule("MET001")).findings
    assert [item.fix for item in found] == ["unsafe", "unsafe"]
    assert any("Nothing that fixer sees gives it predictions" in item.reason for item in found)


def test_an_attribute_that_is_asked_for_by_its_name_is_none_of_the_metrics() -> None:
    other = 'def run(args):\n    return getattr(args, "width", 1), getattr(args.data, "height")\n'
    assert (
        NEW
        in rewritten({"train.py": TEXT, "other.py": other}, rule("MET001"), unsafe=True)["train.py"].splitlines()[10]
    )


def test_an_unrelated_class_may_have_an_attribute_of_that_name() -> None:
    other = "class Other:\n    def ask(self):\n        return self.test_acc(1, 2)\n"
    assert (
        NEW
        in rewritten({"train.py": TEXT, "other.py": other}, rule("MET001"), unsafe=True)["train.py"].splitlines()[10]
    )


@pytest.mark.parametrize(
    "other",
    [
        "from train import Model\n\n\ndef run(model, x, y):\n    model.test_acc(x, y)\n",
        "from train import Model\n\n\nclass Mine(Model):\n    def ask(self, x, y):\n        self.test_acc(x, y)\n",
        "from train import Model\n\nModel(1).test_acc = None\n",
        'def run(model, stage, x, y):\n    getattr(model, f"{stage}_acc")(x, y)\n',
        'def run(model, stage, x, y):\n    getattr(model, "%s_acc" % stage)(x, y)\n',
        "def run(model, x, y):\n    for name, part in model.named_children():\n        part.update(x, y)\n",
    ],
)
def test_what_may_be_fed_elsewhere_is_for_a_person(other: str) -> None:
    files = {"train.py": TEXT, "other.py": other}
    assert "self.test_acc = Accuracy()\n" in rewritten(files, rule("MET001"), unsafe=True)["train.py"]
    assert any("nothing in its class gives it predictions" in reason for reason in refusals(files, "MET001"))


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("self.net(x).argmax(1)", "strange(x)"),
        TEXT.replace("        self.train_acc = Accuracy()\n", "").replace("self.train_acc(", "print("),
    ],
)
def test_without_one_whose_task_is_known_it_is_for_a_person(text: str) -> None:
    assert rewritten({"train.py": text}, rule("MET001"), unsafe=True)["train.py"] == text
    assert refusals({"train.py": text}, "MET001")
