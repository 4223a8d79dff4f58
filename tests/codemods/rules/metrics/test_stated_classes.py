"""MET001: metrics that are told how many classes there are, and are fed what cannot be followed."""

from __future__ import annotations

import pytest
import torch
import torchmetrics

from tests.codemods.support import rewritten, rule, run_rules

TEXT = """\
from pytorch_lightning import LightningModule
from torchmetrics import FBetaScore


class Model(LightningModule):
    def __init__(self, n):
        super().__init__()
        self.score = FBetaScore(num_classes=n, average="macro")

    def training_step(self, batch, batch_idx):
        x = self.unknown(batch)
        self.score(x, batch[1])
        return F.cross_entropy(x, batch[1])
"""
WANTED = TEXT.replace("(num_classes=n,", '(task="multiclass", num_classes=n,')


def test_they_are_taken_for_classes_where_the_doubt_is_accepted() -> None:
    made = run_rules({"a.py": TEXT}, rule("MET001"))
    assert (made.changes, made.bugs) == ((), ())
    assert [(item.fix, "assumes that it is given classes" in item.reason) for item in made.findings] == [
        ("unsafe", True)
    ]
    assert rewritten({"a.py": TEXT}, rule("MET001"), unsafe=True)["a.py"] == WANTED
    assert rewritten({"a.py": WANTED}, rule("MET001"), unsafe=True)["a.py"] == WANTED


@pytest.mark.parametrize(
    "said", ["F.softmax(x)", "self.loss", "torch.sigmoid(F.softmax(x))", "self.multilabel.argmax()"]
)
def test_without_a_sign_of_one_class_among_several_it_is_for_a_person(said: str) -> None:
    text = TEXT.replace("F.cross_entropy(x, batch[1])", said)
    made = run_rules({"a.py": text}, rule("MET001"), unsafe=True)
    assert {item.fix for item in made.findings} == {"unsafe" if said == "F.softmax(x)" else "manual"}


def test_labels_would_be_counted_without_a_word() -> None:
    preds, target = torch.tensor([[0.9, 0.8], [0.1, 0.7]]), torch.tensor([[1, 1], [0, 1]])
    labels = torchmetrics.F1Score(task="multilabel", num_labels=2)(preds, target)
    assert labels == 1.0 != torchmetrics.F1Score(task="multiclass", num_classes=2)(preds, target)


@pytest.mark.parametrize(
    "given", ["num_classes=1", "**n", "num_classes=n, multilabel=True", "num_classes=n, average=None", "threshold=0.3"]
)
def test_what_says_less_or_more_is_for_a_person(given: str) -> None:
    text = TEXT.replace('num_classes=n, average="macro"', given)
    made = run_rules({"a.py": text}, rule("MET001"), unsafe=True)
    assert made.changes == ()
    assert {item.fix for item in made.findings} == {"manual"}
