"""MET001 where layers of torch and casts stand between the model and a metric, or a function makes one for itself."""

from __future__ import annotations

import pytest
import torch

from tests.codemods.support import refusals, rewritten, rule

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy


class Model(LightningModule):
    def __init__(self, device):
        super().__init__()
        self.layer = nn.Linear(8, {width})
        self.loss = {loss}
        self.squash = {squash}
        {kept}

    def validation_step(self, batch, batch_idx):
        x, y = batch
        out = self.layer(x)
        loss = self.loss(out, y)
        {fed}
        return loss
"""
KEPT = "self.metric = Accuracy()"
TOLD = 'Accuracy(task="multiclass", num_classes=4)'


def module(fed: str, loss: str = "nn.CrossEntropyLoss()", squash: str = "nn.Softmax(dim=1)", kept: str = KEPT) -> str:
    return TEXT.format(fed=fed, loss=loss, squash=squash, kept=kept, width=1 if "BCE" in loss else 4)


def after(text: str) -> str:
    return rewritten({"train.py": text}, rule("MET001"))["train.py"]


@pytest.mark.parametrize(
    "fed",
    [
        "self.metric(self.squash(out), y)",
        "probs = self.squash(out)\n        self.metric(probs, y)",
        "self.metric(nn.Softmax(dim=-1)(out), y)",
        "self.metric(torch.nn.Softmax(1)(out), y)",
        "self.metric(nn.LogSoftmax(dim=1)(out), y)",
        "squash = nn.Softmax(dim=1)\n        self.metric(squash(out), y)",
        "self.metric(torch.exp(out), y)",
        "self.metric(F.log_softmax(out, dim=1).exp(), y)",
        "self.metric(out.argmax(dim=1).view(-1), y)",
        "self.metric(torch.argmax(out, dim=1).view(-1).to(self.device), y)",
        "preds = torch.argmax(out, dim=1).flatten()\n        self.metric(preds, y)",
        "self.metric(torch.argmax(out, dim=1, keepdim=True).squeeze(), y)",
        "self.metric(out.argmax(dim=1).int(), y)",
        "self.metric(out.argmax(dim=1).to(y.device), y)",
        "self.metric(out.softmax(dim=1).float(), y)",
        'self.metric(out.to("cpu"), y)',
        "crit = nn.CrossEntropyLoss()\n        other = x\n        crit(out, y)\n        self.metric(out, y)",
    ],
)
def test_what_keeps_the_classes(fed: str) -> None:
    text = module(fed)
    assert after(text) == text.replace("Accuracy()", TOLD)


@pytest.mark.parametrize("squash", ["nn.Sigmoid()", "torch.nn.Sigmoid()"])
def test_a_sigmoid_that_is_a_layer(squash: str) -> None:
    text = module("self.metric(self.squash(out), y)", "nn.BCEWithLogitsLoss()", squash)
    told = rewritten({"train.py": text}, rule("MET001"), unsafe=True)["train.py"]
    assert told == text.replace("Accuracy()", 'Accuracy(task="binary")')


@pytest.mark.parametrize(
    "text",
    [
        module("self.metric(self.squash(out), y)", squash="nn.Softmax()"),
        module("self.metric(self.squash(out), y)", squash="nn.Softmax(dim=0)"),
        module("self.metric(self.squash(out), y)", squash="nn.Softplus()"),
        module("self.metric(self.squash(out), y)", squash="make(nn.Softmax(dim=1))"),
        module("self.metric(self.squash(out), y)", kept=f"{KEPT}\n        self.squash = nn.Tanh()"),
        module("self.metric(self.squash(out), y)", squash="nn.Sigmoid()"),
        module("squash = nn.Softmax(1)\n        squash = nn.Tanh()\n        self.metric(squash(out), y)"),
        module("self.metric(nn.Softmax(dim=1)(out)[:, 1], y)"),
        module("self.metric(torch.exp(self.other(x)), y)"),
        module("self.metric(torch.exp(out.sigmoid()), y)"),
        module("self.metric(out.view(-1), y)"),
        module("self.metric(out.softmax(dim=1).flatten(), y)"),
        module("self.metric(out.argmax(dim=1).view(-1, 1), y)"),
        module("self.metric(out.argmax(dim=1).flatten(1), y)"),
        module("self.metric(out.argmax(dim=1).float(), y)"),
        module("self.metric(out.argmax(dim=1).to(torch.float), y)"),
        module("self.metric(out.argmax(dim=1).type_as(out), y)"),
        module("self.metric(out.softmax(dim=1).long(), y)"),
        module("self.metric(out.long(), y)"),
        module("self.metric(out.softmax(dim=1).to(kind), y)"),
    ],
)
def test_what_may_be_anything_else(text: str) -> None:
    assert refusals({"train.py": text}, "MET001")


@pytest.mark.parametrize(
    "fed",
    [
        "metric = Accuracy()\n        self.log('a', metric(out, y))",
        "metric = Accuracy().to(self.device)\n        metric(out, y)",
        "metric = Accuracy().cuda()\n        metric.update(out, y)\n        self.log('a', metric.compute())",
        "self.log('a', Accuracy()(out, y))",
        "self.log('a', Accuracy().to(x.device)(out, y))",
    ],
)
def test_a_metric_that_a_method_makes_for_itself(fed: str) -> None:
    text = module(fed, kept="pass")
    assert after(text) == text.replace("Accuracy()", TOLD)


def test_a_metric_that_a_function_makes_for_itself() -> None:
    text = (
        "import torch\nimport torchmetrics\n\n\ndef score(out, y):\n    metric = torchmetrics.Accuracy()\n"
        "    return metric(out.argmax(1), y)\n"
    )
    assert after(text) == text.replace(
        "torchmetrics.Accuracy()", 'torchmetrics.classification.MulticlassAccuracy(average="micro")'
    )


@pytest.mark.parametrize(
    "fed",
    [
        "metric = Accuracy()\n        metric(out, y)\n        feed(metric)",
        "metric = Accuracy()\n        metric(out, y)\n        self.kept = metric",
        "metric = Accuracy()\n        metric(out, y)\n        feed({'a': metric})",
        "metric = Accuracy()\n        metric(out, y)\n        feed(value=metric)",
        "metric = Accuracy()\n        metric(out, y)\n        metric(self.other(x), y)",
        "metric = Accuracy()\n        metric(out, y)\n        metric = make()",
        "metric = other = Accuracy()\n        metric(out, y)\n        other(self.other(x), y)",
        "metric = Accuracy()\n        feed(lambda preds: metric(preds, y))",
        "feed(lambda: Accuracy()(out, y))",
        "feed(Accuracy())",
        "feed(Accuracy().to(self.device))",
        "return Accuracy()",
    ],
)
def test_a_metric_that_is_seen_elsewhere(fed: str) -> None:
    assert refusals({"train.py": module(fed, kept="pass")}, "MET001")


def test_a_metric_gives_the_same_for_what_the_steps_make_of_predictions() -> None:
    import torchmetrics

    out, y = torch.randn(50, 4), torch.randint(4, (50,))
    metric = torchmetrics.classification.MulticlassAccuracy(average="micro")
    right = (out.argmax(1) == y).float().mean()
    made = (out, torch.nn.Softmax(dim=1)(out), torch.exp(out), out.argmax(1).view(-1).int(), out.softmax(1).float())
    assert [metric(each, y) for each in made] == [right] * len(made)
