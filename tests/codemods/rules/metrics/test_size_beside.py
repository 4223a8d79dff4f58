"""MET001 where another metric, which is given the same predictions, says how many classes there are."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule

TEXT = """\
import torch
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy, F1Score, Precision


class Model(LightningModule):
    def __init__(self, net, classes):
        super().__init__()
        self.net = net
        self.classes = classes
        self.first = Precision(num_classes=classes)
        self.second = F1Score()

    def validation_step(self, batch, batch_idx):
        x, y = batch
        preds = self.net(x).argmax(1)
        self.first(preds, y)
        self.second(preds, y)
"""


def second(old: str, new: str, text: str = TEXT) -> str:
    """What becomes of the metric that is not told, with another text in the program."""
    assert old in text
    after = rewritten({"train.py": text.replace(old, new)}, rule("MET001"))["train.py"]
    return next(line.strip() for line in after.splitlines() if line.strip().startswith("self.second ="))


@pytest.mark.parametrize(
    ("old", "new", "size"),
    [
        ("pass", "pass", "classes"),
        ("num_classes=classes", "num_classes=7", "7"),
        ("num_classes=classes", "classes", "classes"),
        ("num_classes=classes", "num_classes=self.classes", "self.classes"),
        ("self.second(preds, y)", "self.second(preds.detach(), y)", "classes"),
        ("self.second(preds, y)", "self.second.update(preds, y)\n        self.first(x.argmax(1), y)", "classes"),
    ],
)
def test_the_number_that_is_said_beside(old: str, new: str, size: str) -> None:
    assert second(old, new, f"{TEXT}        pass\n") == f'self.second = F1Score(task="multiclass", num_classes={size})'


def test_the_one_that_is_told_may_come_after() -> None:
    first, last = "        self.first = Precision(num_classes=classes)\n", "        self.second = F1Score()\n"
    assert second(first + last, last + first) == 'self.second = F1Score(task="multiclass", num_classes=classes)'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.second(preds, y)", "self.second(x.argmax(1), y)"),
        ("self.second(preds, y)", "self.second(preds, y)\n        self.second(x.argmax(1), y)"),
        ("self.first(preds, y)", "self.first(x.argmax(1), y)"),
        ("self.first(preds, y)", "pass"),
        ("self.first(preds, y)", "helper(self.first)"),
        ("num_classes=classes", "num_classes=None"),
        ("        self.second =", "        classes = 3\n        self.second ="),
        ("        self.first =", "        if classes:\n            self.first ="),
        ("num_classes=classes", "num_classes=count()"),
        ("F1Score()", "F1Score(top_k=2)"),
    ],
)
def test_what_says_no_number_of_the_same(old: str, new: str) -> None:
    left = new if old == "F1Score()" else "F1Score()"
    assert second(old, new) == f"self.second = {left}"


def test_an_average_over_classes_is_told_the_number_too() -> None:
    told = 'self.second = F1Score(task="multiclass", num_classes=classes, average="macro")'
    assert second("F1Score()", 'F1Score(average="macro")') == told
