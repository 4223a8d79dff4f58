"""MET004: metrics that no module registers."""

from __future__ import annotations

import pytest
import torch
from lightning.pytorch import Trainer
from lightning.pytorch.demos.boring_classes import BoringModel
from lightning.pytorch.utilities.exceptions import MisconfigurationException
from torchmetrics import MeanSquaredError

from tests.codemods.support import refusals, rule, run_rules

MODULE = """\
import pytorch_lightning as pl
import torch
import torchmetrics
from torchmetrics import MeanSquaredError
from torchmetrics.functional import mean_squared_error


class Model(pl.LightningModule):
    def __init__(self, device):
        super().__init__()
        {made}

    def validation_step(self, batch, batch_idx):
        {used}
"""
PLAIN = "self.metrics = {'mse': MeanSquaredError()}"
USED = "self.metrics['mse'](self(batch), batch)"


def text(made: str = PLAIN, used: str = USED) -> str:
    return MODULE.format(made=made, used=used)


@pytest.mark.parametrize(
    ("made", "advice"),
    [
        (PLAIN, "ModuleDict"),
        ("self.metrics = dict(mse=MeanSquaredError())", "ModuleDict"),
        ("self.metrics = {n: torchmetrics.MeanSquaredError() for n in 'ab'}", "ModuleDict"),
        ("self.metrics = {'val': {'mse': MeanSquaredError()}}", "ModuleDict"),
        ("self.metrics: dict = {'mse': pl.metrics.MeanSquaredError()}", "ModuleDict"),
        ("metrics = {'mse': MeanSquaredError()}\n        self.metrics = metrics", "ModuleDict"),
        ("self.metrics = {}\n        self.metrics['mse'] = MeanSquaredError()", "ModuleDict"),
        ("self.metrics = [MeanSquaredError()]", "ModuleList"),
        ("self.metrics = [MeanSquaredError() for _ in 'ab']", "ModuleList"),
        ("self.metrics = (MeanSquaredError(), MeanSquaredError())", "ModuleList"),
        ("self.metrics = []\n        self.metrics.append(MeanSquaredError())", "ModuleList"),
        (PLAIN + "\n        setattr(self, 'loss', torch.nn.MSELoss())", "ModuleDict"),
        (PLAIN + "\n        self.other = torch.nn.ModuleDict({'a': torch.nn.ReLU()})", "ModuleDict"),
        (PLAIN + "\n        self.net = torch.nn.ReLU().to(device)", "ModuleDict"),
    ],
)
def test_named(made: str, advice: str) -> None:
    [reason] = refusals({"a.py": text(made)}, "MET004")
    assert advice in reason


@pytest.mark.parametrize(
    "made",
    [
        "self.metrics = torch.nn.ModuleDict({'mse': MeanSquaredError()})",
        "self.metrics = torchmetrics.MetricCollection({'mse': MeanSquaredError()})",
        "self.metrics = torch.nn.ModuleList([MeanSquaredError()])",
        "self.mse = MeanSquaredError()\n        self.metrics = {'mse': self.mse}",
        "self.metrics = {'mse': MeanSquaredError}",
        "self.metrics = {'mse': lambda: MeanSquaredError()}",
        "self.metrics = {'mse': mean_squared_error}",
        "self.metrics = {'mse': MeanSquaredError().to(device)}",
        "self.metrics = {'mse': torch.nn.MSELoss()}",
        "self.metrics = {'mse': mean_squared_error(device, device)}",
        PLAIN + "\n        self.all = torch.nn.ModuleDict(self.metrics)",
        PLAIN + "\n        for name, each in self.metrics.items():\n            setattr(self, name, each)",
        PLAIN + "\n        for name, each in self.metrics.items():\n            self.add_module(name, each)",
        PLAIN + "\n        [each.to(device) for each in self.metrics.values()]",
        PLAIN + "\n        self.metrics['mse'].cuda()",
        "metrics = {'mse': MeanSquaredError()}\n        metrics = 3\n        self.metrics = metrics",
        "metrics = {'mse': MeanSquaredError()}",
    ],
)
def test_left_alone(made: str) -> None:
    assert run_rules({"a.py": text(made)}, rule("MET004")).findings == ()


def test_metrics_of_what_is_no_lightning_module_are_left() -> None:
    assert run_rules({"a.py": text().replace("pl.LightningModule", "Base")}, rule("MET004")).findings == ()


class Logging(BoringModel):
    def __init__(self, kept: type) -> None:
        super().__init__()
        self.metrics = kept({"mse": MeanSquaredError()})

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        self.metrics["mse"].update(self(batch), self(batch))
        self.log("mse", self.metrics["mse"])
        return self(batch).sum()


def test_a_metric_in_a_dictionary_cannot_be_logged() -> None:
    trainer = Trainer(fast_dev_run=True, accelerator="cpu", enable_progress_bar=False, enable_model_summary=False)
    with pytest.raises(MisconfigurationException, match="Could not find the `LightningModule` attribute"):
        trainer.fit(Logging(dict))
    trainer.fit(Logging(torch.nn.ModuleDict))
    assert trainer.global_step == 1
