"""MET001 where nothing says how many classes there are."""

from __future__ import annotations

import pytest
import torch
from torchmetrics.classification import MulticlassAccuracy, MulticlassPrecision, MulticlassRecall

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = """\
import torch.nn.functional as F
from pytorch_lightning import LightningModule
"""
MODULE = """\

class Model(LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net
        {made}

    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self.net(x)
        self.log("metric", self.metric(out, y))
        return F.cross_entropy(out, y)
"""
METRIC = "self.metric = Accuracy()"
OLD, NEW = "from torchmetrics import Accuracy\n", "from torchmetrics.classification import MulticlassAccuracy\n"
WRITTEN = 'MulticlassAccuracy(average="micro")'


def module(imports: str = OLD, made: str = METRIC, after: str = "") -> str:
    return HEAD + imports + MODULE.format(made=made) + after


def after(text: str, *codes: str) -> str:
    return rewritten({"train.py": text}, *map(rule, codes or ("MET001",)))["train.py"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Accuracy()", WRITTEN),
        ("Accuracy(0.5)", WRITTEN),
        ('Accuracy(average="micro", compute_on_step=False)', WRITTEN),
        ("Accuracy(ignore_index=0)", 'MulticlassAccuracy(average="micro", ignore_index=0)'),
        (
            'Accuracy(mdmc_average="global", dist_sync_on_step=True)',
            'MulticlassAccuracy(average="micro", dist_sync_on_step=True)',
        ),
    ],
)
def test_the_metric_that_need_not_know(old: str, new: str) -> None:
    assert after(module(made=f"self.metric = {old}")) == module(NEW, f"self.metric = {new}")


@pytest.mark.parametrize("name", ["Precision", "Recall"])
def test_others_that_count_over_all_classes(name: str) -> None:
    before = module(f"from torchmetrics import {name}\n", f"self.metric = {name}()")
    imported = f"from torchmetrics.classification import Multiclass{name}\n"
    assert after(before) == module(imported, f'self.metric = Multiclass{name}(average="micro")')


@pytest.mark.parametrize(
    ("imports", "old", "new"),
    [
        ("import torchmetrics\n", "torchmetrics.", "torchmetrics.classification."),
        ("import torchmetrics as tm\n", "tm.", "tm.classification."),
        ("import torchmetrics.classification as tc\n", "tc.", "tc."),
        ("from torchmetrics import classification\n", "classification.", "classification."),
    ],
)
def test_an_attribute_of_a_module(imports: str, old: str, new: str) -> None:
    before = module(imports, f"self.metric = {old}Accuracy()")
    assert after(before) == module(imports, f"self.metric = {new}{WRITTEN}")


@pytest.mark.parametrize(
    ("imports", "written"),
    [
        ("from torchmetrics import Accuracy, F1Score\n", f"from torchmetrics import F1Score\n{NEW}"),
        (f"{NEW}{OLD}", NEW),
        ("from torchmetrics import Accuracy as Acc\n", NEW),
        ("from torchmetrics.classification import Accuracy\n", NEW),
        ("from pytorch_lightning.metrics import Accuracy\n", NEW),
    ],
)
def test_the_import_goes_along(imports: str, written: str) -> None:
    name = "Acc" if " as " in imports else "Accuracy"
    before = module(imports, f"self.metric = {name}()")
    assert after(before, "LIT001", "MET001") == module(written, f"self.metric = {WRITTEN}")


@pytest.mark.parametrize(
    "more",
    [
        "\n\ndef is_accuracy(metric):\n    return isinstance(metric, Accuracy)\n",
        '\n__all__ = ["Accuracy"]\n',
        "\n\nclass Mine(Accuracy):\n    pass\n",
        '\nother = Accuracy(task="binary")\n',
    ],
)
def test_what_else_reads_the_old_name_keeps_it(more: str) -> None:
    assert after(module(after=more)) == module(f"{OLD}{NEW}", f"self.metric = {WRITTEN}", more)


def test_another_file_that_takes_the_old_name_keeps_it() -> None:
    other = "from train import Accuracy, Model\n"
    made = rewritten({"train.py": module(), "other.py": other}, rule("MET001"))
    assert made == {"train.py": module(f"{OLD}{NEW}", f"self.metric = {WRITTEN}"), "other.py": other}


def test_several_of_a_file_share_the_import() -> None:
    made = "self.metric = Accuracy()\n        self.other = Accuracy()"
    before = module(made=made).replace("self.log(", "self.other(out, y)\n        self.log(")
    assert after(before) == before.replace(OLD, NEW).replace("Accuracy()", WRITTEN)


def test_what_lightning_had() -> None:
    before = module("import pytorch_lightning as pl\n", "self.metric = pl.metrics.Accuracy()")
    made = after(before, "LIT001", "MET001")
    assert f"self.metric = torchmetrics.classification.{WRITTEN}" in made
    assert "import torchmetrics\n" in made


@pytest.mark.parametrize(
    "text",
    [
        module(made="self.metric = Accuracy(top_k=3)"),
        module(made='self.metric = Accuracy(average="macro")'),
        module(made="self.metric = Accuracy(average=how)"),
        module("from torchmetrics import F1Score\n", "self.metric = F1Score()"),
        module(after="\n\nclass MulticlassAccuracy:\n    pass\n"),
        module(after="\n\ndef made(MulticlassAccuracy=None):\n    return MulticlassAccuracy\n"),
        module(f"try:\n    {OLD}except ImportError:\n    Accuracy = None\n"),
        module("from torchmetrics import (  # the ones we use\n    Accuracy,\n)\n"),
        module("import os; from torchmetrics import Accuracy\n"),
        module(f"{OLD}if True:\n    {OLD}"),
        module(made=f"{METRIC}\n        self.other = wrap(Accuracy())"),
    ],
)
def test_left_to_a_person(text: str) -> None:
    assert refusals({"train.py": text}, "MET001")


@pytest.mark.parametrize("pin", ["torchmetrics>=0.11,<1.5", "torchmetrics==1.0.3"])
def test_a_torchmetrics_that_asks_for_the_number(pin: str) -> None:
    assert not run_rules({"train.py": module()}, rule("MET001"), pins=(pin,)).changes


@pytest.mark.parametrize("pin", ["torchmetrics>=0.7", "torchmetrics==0.5.0", "torchmetrics"])
def test_a_requirement_that_is_raised(pin: str) -> None:
    assert run_rules({"train.py": module()}, rule("MET001"), pins=(pin,)).changes


@pytest.mark.parametrize("metric", [MulticlassAccuracy, MulticlassPrecision, MulticlassRecall])
@pytest.mark.parametrize("ignored", [None, 1, -1])
def test_the_installed_torchmetrics_gives_the_same(metric: type, ignored: int | None) -> None:
    some = torch.Generator().manual_seed(3)
    logits, labels = torch.randn(50, 4, generator=some), torch.randint(0, 3, (50,), generator=some)
    for preds in (logits, logits.softmax(1), logits.argmax(1)):
        values = [
            metric(average="micro", ignore_index=ignored, **size)(preds, labels) for size in ({}, {"num_classes": 4})
        ]
        assert torch.equal(*values)
