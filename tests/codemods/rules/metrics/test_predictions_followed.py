"""MET001 where predictions reach a metric by a helper of the class, or a metric is reached through a container."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy, F1Score


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)
        self.first = Accuracy(num_classes=4)
        self.second = F1Score(num_classes=4)
        {kept}

    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self.layer(x)
        preds = {preds}
        {call}
        return F.cross_entropy(out, y)

    def measure(self, preds, labels, stage="train"):
        {fed}
"""
BOTH = "self.log(stage, self.first(preds, labels))\n        self.second.update(preds, labels)"
DICT = 'self.metrics = {"first": self.first, "second": self.second}'
TOLD = '(task="multiclass", num_classes=4)'


def doubts(files: dict[str, str]) -> list[str]:
    """The reasons for which nothing is rewritten without asking."""
    made = run_rules(files, rule("MET001"))
    assert (made.changes, made.bugs) == ((), ())
    return [item.reason for item in made.findings]


def module(
    kept: str = "pass", fed: str = BOTH, call: str = "self.measure(preds, y)", preds: str = "out.argmax(dim=1)"
) -> str:
    return TEXT.format(kept=kept, fed=fed, call=call, preds=preds)


def is_told(text: str) -> bool:
    after = text.replace("(num_classes=4)", TOLD)
    return rewritten({"train.py": text}, rule("MET001"))["train.py"] == after


@pytest.mark.parametrize(
    "call",
    [
        "self.measure(preds, y)",
        'self.measure(preds, labels=y, stage="a")',
        "self.measure(labels=y, preds=preds.detach())",
        "self.measure(preds, y)\n        self.measure(out.argmax(dim=-1), y)",
        "self.measure(preds, y)\n        self.measure(out, y)",
    ],
)
def test_a_helper_of_the_class(call: str) -> None:
    assert is_told(module(call=call))


@pytest.mark.parametrize("preds", ["torch.argmax(out, axis=1)", "out.argmax(dim=2)", "out", "out.softmax(axis=1)"])
def test_kinds_of_predictions(preds: str) -> None:
    assert is_told(module(preds=preds))


@pytest.mark.parametrize(
    "fed",
    [
        f"preds = preds[labels != -100]\n        labels = labels[labels != -100]\n        {BOTH}",
        "self.first(preds[labels >= 0], labels[labels >= 0])\n        self.second(preds, labels)",
    ],
)
def test_predictions_that_a_mask_leaves(fed: str) -> None:
    assert is_told(module(fed=fed))


@pytest.mark.parametrize(
    "fed",
    [
        'return {f"{stage}_{name}": metric(preds, labels) for name, metric in self.metrics.items()}',
        "for name, metric in self.metrics.items():\n            metric.update(preds, labels)\n"
        "            self.log(name, metric)",
        "for metric in self.metrics.values():\n            metric(preds, labels)\n            metric.reset()",
        "for metric in self.metrics.values():\n            metric.to(self.device)(preds, labels)",
        "for metric in self.metrics.values():\n            metric.cpu().update(preds, labels)",
        "return {name: metric.to(preds.device)(preds, labels) for name, metric in self.metrics.items()}",
    ],
)
@pytest.mark.parametrize("kept", [DICT, DICT.replace("{", "nn.ModuleDict({").replace("}", "})")])
def test_metrics_that_a_loop_feeds(kept: str, fed: str) -> None:
    assert is_told(module(kept, fed))


LOOP = "for name, metric in self.metrics.items():\n            "


@pytest.mark.parametrize(
    "text",
    [
        module(call="self.measure(*pair)"),
        module(call="self.measure(stage=preds)"),
        module(call="self.measure(out[0], y)"),
        module(call="self.measure(preds, y)\n        self.measure(torch.sigmoid(out), y)"),
        module(call="self.measure(preds, y)\n        other.measure(x, y)"),
        module(call="run(self.measure)\n        self.measure(preds, y)"),
        module(call="[self.measure(preds, each) for each in y]\n        (lambda: self.measure(x, y))()"),
        module().replace("measure", "on_train_batch_end"),
        module().replace("measure", "validation_step"),
        module().replace("    def measure(self, ", "    @staticmethod\n    def measure(other, ").replace("self.f", "f"),
        module(fed="if stage:\n            preds = preds - 1\n        " + BOTH),
        module(fed="preds = self.more(preds)\n        " + BOTH),
        module(DICT, LOOP + "helper(metric, preds)"),
        module(DICT, LOOP + "metric = metric.to(preds.device)\n            metric(preds, labels)"),
        module(DICT, LOOP + "metric(preds, labels)\n        helper(metric)"),
        module(DICT, LOOP + "metric.to(preds.device)(self.more(preds), labels)"),
        module(DICT, LOOP + "metric.clone()(preds, labels)"),
        module(DICT, LOOP + "metric(preds, labels)\n        self.first(torch.sigmoid(preds), labels)"),
        module(DICT, "for pair in self.metrics.items():\n            pair[1](preds, labels)"),
        module(DICT, "for metric in list(self.metrics.values()):\n            metric(preds, labels)"),
        module(DICT, "for name in self.metrics:\n            helper(self.metrics)"),
    ],
)
def test_what_cannot_be_followed(text: str) -> None:
    assert doubts({"train.py": text})


@pytest.mark.parametrize(
    "fed",
    [
        "def score(preds):\n            return self.first(preds, labels)\n        score(preds.sigmoid())",
        "score = lambda preds: self.first(preds, labels)\n        score(preds.sigmoid())",
        "def score():\n            self.first(preds, labels)\n        preds = preds.sigmoid()\n        score()",
    ],
)
def test_names_of_functions_inside_a_helper_are_their_own(fed: str) -> None:
    text = TEXT.format(kept="pass", preds="out", call="self.measure(preds, y)", fed=fed)
    assert doubts({"a.py": text})


def test_a_helper_that_another_file_calls_may_be_given_anything() -> None:
    text = TEXT.format(kept="pass", preds="out", call="self.measure(preds, y)", fed=BOTH)
    assert 'first = Accuracy(task="multiclass", num_classes=4)' in rewritten({"a.py": text}, rule("MET001"))["a.py"]
    other = "from a import Model\n\nModel().measure(out.sigmoid(), y)\n"
    assert doubts({"a.py": text, "b.py": other})


@pytest.mark.parametrize(("index", "is_rewritten"), [("out > 0.5", False), ("y > 0", True)])
def test_a_mask_of_the_values_themselves_picks_single_numbers(index: str, is_rewritten: bool) -> None:
    call = "".join(f"\n        self.{name}(out[{index}], y[{index}])" for name in ("first", "second"))
    text = TEXT.format(kept="pass", preds="torch.softmax(out, 1)", call=f"out = preds{call}", fed="pass")
    after = rewritten({"a.py": text}, rule("MET001"))["a.py"]
    assert ('first = Accuracy(task="multiclass"' in after) is is_rewritten


OTHER = """\
from torch import nn
from a import Model


class Other(nn.Module):
    def forward(self, out, y):
        return self.measure(out.sigmoid(), y)

    def measure(self, preds, labels):
        return preds
"""


@pytest.mark.parametrize("base", ["nn.Module", "LightningModule"])
def test_a_helper_of_the_same_name_of_a_class_in_another_file_is_its_own(base: str) -> None:
    other = OTHER.replace("nn.Module", base).replace("from a import", "from pytorch_lightning import LightningModule #")
    assert 'first = Accuracy(task="multiclass"' in rewritten({"a.py": module(), "b.py": other}, rule("MET001"))["a.py"]


@pytest.mark.parametrize(
    "other",
    [
        OTHER.replace("nn.Module", "Model"),
        OTHER.replace("nn.Module", "nn.Module, Model"),
        OTHER.replace("    def measure(self, preds, labels):\n        return preds\n", ""),
        f"{OTHER}\n\nModel().measure(out.sigmoid(), y)\n",
        OTHER.replace("return self.measure", "return getattr(model, 'measure')"),
        OTHER.replace("self.measure", "self.model.measure"),
        f"{OTHER}\n\nclass Both(Model, Other):\n    pass\n",
    ],
)
def test_a_helper_that_a_class_in_another_file_may_ask_for(other: str) -> None:
    assert doubts({"a.py": module(), "b.py": other})
