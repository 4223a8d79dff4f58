"""MET001 where the last hook of an epoch joins what its step gave for each batch."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from pytorch_lightning import LightningModule
from torchmetrics.functional import confusion_matrix


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        out = self.layer(x)
        loss = F.cross_entropy(out, y)
        return {"loss": loss, "preds": out.argmax(dim=1), "probs": out.softmax(dim=1), "out": out, "y": y}

    def validation_epoch_end(self, outputs):
        preds = torch.cat([x["preds"] for x in outputs])
        y = torch.cat([x["y"] for x in outputs])
        self.show(confusion_matrix(preds, y, num_classes=4))
"""
TOLD = 'task="multiclass", num_classes=4'


def levels(text: str) -> set[str]:
    return {item.fix for item in run_rules({"a.py": text}, rule("MET001")).findings}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"preds"] for', '"probs"] for'),
        ('"preds"] for', '"out"] for'),
        ("in outputs])", "in outputs], dim=0)"),
        ("torch.cat(", "torch.concat("),
        ("(preds, y", "(torch.ravel(preds)[y > 0], y[y > 0]"),
        ("(preds, y", "(torch.cat([each['preds'] for each in outputs]), y"),
        ("        return {", "        made = {"),
    ],
)
def test_what_a_step_gives_for_each_batch_is_followed(old: str, new: str) -> None:
    text = TEXT.replace(old, new, 2 if "cat" in old else 1)
    text = text.replace('"y": y}\n', '"y": y}\n        return made\n') if "made" in new else text
    assert text != TEXT
    after = rewritten({"a.py": text}, rule("MET001"))["a.py"]
    assert after == text.replace("num_classes=4", TOLD)


def test_it_is_followed_where_the_step_fills_a_list() -> None:
    after = rewritten({"a.py": TEXT}, rule("LIT201"))["a.py"]
    assert "def on_validation_epoch_end(self):" in after
    assert rewritten({"a.py": after}, rule("MET001"))["a.py"] == after.replace("num_classes=4", TOLD)
    other = after.replace("self.validation_step_outputs, []\n", "self.others, []\n")
    assert other != after and levels(other) == {"unsafe"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"preds": out.argmax(dim=1)', '"preds": out'),
        ('"preds": out.argmax(dim=1)', '"preds": out.sigmoid()'),
        ('"preds": out.argmax(dim=1)', '"preds": x.argmax(dim=1), "preds": x'),
        ("for x in outputs])\n        y", "for x in outputs if x])\n        y"),
        ("for x in outputs])\n        y", "for x in outputs], dim=1)\n        y"),
        ("for x in outputs])\n        y", "for x in outputs[0]])\n        y"),
        ('x["preds"] for', 'x["labels"] for'),
        ('x["preds"] for', 'y["preds"] for'),
        ("        preds =", "        outputs = self.others\n        preds ="),
        ('torch.cat([x["preds"]', 'torch.stack([x["preds"]'),
        ('        return {"loss"', '        if batch_idx:\n            return {"preds": out}\n        return {"loss"'),
        ('        return {"loss"', '        return {**self.more, "loss"'),
        (
            "    def validation_epoch_end",
            "    def validation_step_end(self, x):\n        return x\n\n    def validation_epoch_end",
        ),
        ("    def validation_step", "    def test_step"),
        ("    def validation_epoch_end", "    def show_end"),
    ],
)
def test_what_may_be_something_else_is_not(old: str, new: str) -> None:
    text = TEXT.replace(old, new)
    if old == '"preds": out.argmax(dim=1)' and new == '"preds": out':
        text = text.replace("loss = F.cross_entropy(out, y)", "loss = out.mean()")
    assert text != TEXT and levels(text) in ({"unsafe"}, {"manual"})


BINARY = (
    TEXT.replace("F.cross_entropy(out, y)", "F.binary_cross_entropy_with_logits(out, y)")
    .replace("out.argmax(dim=1)", "out.sigmoid()")
    .replace("confusion_matrix(preds, y, num_classes=4)", "accuracy(preds, y)")
    .replace("import confusion_matrix", "import accuracy")
)


def test_labels_are_those_of_the_loss_only_where_the_step_gives_them() -> None:
    assert levels(BINARY) == {"unsafe"}
    assert levels(BINARY.replace('"y": y}', '"y": x}')) == {"manual"}
    assert levels(BINARY.replace('torch.cat([x["y"] for x in outputs])', "self.labels")) == {"manual"}


BELOW = "from a import Model\n\n\nclass Below(Model):\n    def {}(self, *args):\n        return super().{}(*args)\n"


@pytest.mark.parametrize(("name", "level"), [("validation_step", "unsafe"), ("training_step", "safe")])
def test_a_class_below_may_give_other_predictions(name: str, level: str) -> None:
    files = {"a.py": TEXT, "b.py": BELOW.format(name, name)}
    (finding,) = run_rules(files, rule("MET001")).findings
    assert finding.fix == level and ("Below gives it the same" in finding.reason) is (level == "unsafe")


COUNTED = """\
import torch.nn as nn
import torch.nn.functional as F
from pytorch_lightning import LightningModule
from torchmetrics.functional import f1_score


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        return self.layer(x)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        out = self(x)
        self.log("score", f1_score(out.softmax(1), y{}))
        return F.cross_entropy(out, y)
"""


@pytest.mark.parametrize(
    ("said", "name", "level"),
    [("", "forward", "unsafe"), ("", "validation_step", "safe"), (", num_classes=4", "forward", "safe")],
)
def test_a_class_below_may_have_another_number_of_classes(said: str, name: str, level: str) -> None:
    files = {"a.py": COUNTED.format(said), "b.py": BELOW.format(name, name)}
    (finding,) = run_rules(files, rule("MET001")).findings
    assert finding.fix == level
