"""Metrics in a collection keep the names under which it gave their values."""

from __future__ import annotations

import pytest
import torchmetrics

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = """\
import torch
import torch.nn.functional as F
import torchmetrics
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy, F1, MeanMetric, MetricCollection, Precision


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)
        self.metrics = {made}

    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self.layer(x)
        self.log_dict(self.metrics(out, y))
        return F.cross_entropy(out, y)
"""
TOLD = '(task="multiclass", num_classes=3)'


def module(made: str) -> str:
    return HEAD.format(made=made)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("MetricCollection([Accuracy(), Precision()])", 'MetricCollection({"Accuracy": A, "Precision": P})'),
        ("MetricCollection((Accuracy(), Precision(),))", 'MetricCollection({"Accuracy": A, "Precision": P,})'),
        ("MetricCollection(Accuracy(), Precision())", 'MetricCollection({"Accuracy": A, "Precision": P})'),
        ("MetricCollection(Accuracy())", 'MetricCollection({"Accuracy": A})'),
        (
            'MetricCollection([Accuracy(), MeanMetric()], prefix="a")',
            'MetricCollection({"Accuracy": A, "MeanMetric": MeanMetric()}, prefix="a")',
        ),
        ('MetricCollection(Accuracy(), prefix="a")', 'MetricCollection({"Accuracy": A}, prefix="a")'),
        ("MetricCollection(metrics=[Accuracy()])", 'MetricCollection(metrics={"Accuracy": A})'),
        ("torchmetrics.MetricCollection([torchmetrics.Accuracy()])",
         'torchmetrics.MetricCollection({"Accuracy": torchmetrics.A})'),
        ('MetricCollection({"acc": Accuracy()})', 'MetricCollection({"acc": A})'),
        ("MetricCollection([F1()])", 'MetricCollection({"F1": F1Score(task="multiclass", num_classes=3)})'),
    ],
)  # fmt: skip
def test_the_names_are_written_out(before: str, after: str) -> None:
    made = rewritten({"train.py": module(before)}, rule("MET001"))["train.py"]
    told = after.replace("A,", f"Accuracy{TOLD},").replace("A}", f"Accuracy{TOLD}}}").replace("P,", f"Precision{TOLD},")
    assert f"self.metrics = {told.replace('P}', f'Precision{TOLD}}}')}\n" in made


@pytest.mark.parametrize(
    "made",
    [
        "MetricCollection([Accuracy(), mine()])",
        "MetricCollection([Accuracy(), self.other])",
        "MetricCollection([Accuracy(), *more])",
        "MetricCollection([Accuracy(), Accuracy(top_k=2)])",
        "MetricCollection([(Accuracy()), Precision()])",
        "MetricCollection([Accuracy(), (Precision())])",
    ],
)
def test_names_that_cannot_be_told(made: str) -> None:
    assert any("names it by its class" in reason for reason in refusals({"train.py": module(made)}, "MET001"))


def test_names_that_torchmetrics_gave_up() -> None:
    before = "from torchmetrics import MetricCollection, PSNR\n\nall = MetricCollection([PSNR(data_range=1.0)])\n"
    after = before.replace("PSNR", "PeakSignalNoiseRatio").replace("[P", '{"PSNR": P').replace(")])", ")})")
    assert rewritten({"train.py": before}, rule("MET002"))["train.py"] == after
    unsure = before.replace("[PSNR", "[mine(), PSNR")
    assert any("names it by its class" in reason for reason in refusals({"train.py": unsure}, "MET002"))


@pytest.mark.parametrize(
    "made",
    [
        "MetricCollection([Accuracy(), Accuracy()])",
        "MetricCollection(metrics=Accuracy())",
        "MetricCollection([Accuracy() for _ in range(1)])",
        "MetricCollection(Accuracy() for _ in range(1))",
    ],
)
def test_a_collection_whose_names_would_change_is_left(made: str) -> None:
    assert refusals({"a.py": HEAD.format(made=made)}, "MET001")


def test_a_collection_that_is_sorted_by_its_names_is_for_who_accepts_that() -> None:
    before = HEAD.format(made="MetricCollection([Precision(), Accuracy()])")
    made = run_rules({"a.py": before}, rule("MET001"))
    assert made.changes == ()
    assert [item.fix for item in made.findings] == ["unsafe", "unsafe"]
    assert all("in the order of their names" in item.reason for item in made.findings)
    after = rewritten({"a.py": before}, rule("MET001"), unsafe=True)["a.py"]
    assert f'MetricCollection({{"Precision": Precision{TOLD}, "Accuracy": Accuracy{TOLD}}})' in after
    given = {"Precision": torchmetrics.MeanMetric(), "Accuracy": torchmetrics.MeanMetric()}
    assert [*torchmetrics.MetricCollection(given)] == sorted(given)


def test_a_new_name_alone_sorts_no_collection() -> None:
    before = "from torchmetrics import MetricCollection, PSNR, MeanMetric\n\n"
    before += "all = MetricCollection([PSNR(data_range=1.0), MeanMetric()])\n"
    assert any("names it by its class" in reason for reason in refusals({"train.py": before}, "MET002"))
