"""What an old release of Lightning does otherwise on the Python and the devices of today, which says nothing of a
rewrite."""

from __future__ import annotations

import random

import numpy
import torch

from tests.mutations.judging import recorded
from tests.training.interpreters import TARGET
from verify.harness.short import steady_sanity_check
from verify.judging.verdict import judge

DRAWING = """
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class Data(pl.LightningDataModule):
    def setup(self, stage=None):
        if stage == "fit":
            self.rows = TensorDataset(torch.ones(16, 2))

    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=4)

    def val_dataloader(self):
        return DataLoader(self.rows, batch_size=4)


class Drawing(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch[0] + torch.randn(4, 2)).pow(2).mean()

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.net(batch[0] + torch.randn(4, 2)).pow(2).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


pl.Trainer(max_epochs=2).fit(Drawing(), datamodule=Data())
"""


def test_a_data_module_is_set_up_and_the_sanity_check_draws_for_itself() -> None:
    before, after = (recorded({"train.py": DRAWING}, release) for release in ("1.5.10", TARGET))
    judgement = judge(before, after, ())
    assert (judgement.verdict, judgement.rung) == ("preserved", "same"), judgement
    assert [len(run.recording.losses) for run in (before, after)] == [8, 8]


def test_a_sanity_check_gives_back_every_generator() -> None:
    class Trainer:
        def _run_sanity_check(self) -> float:
            random.seed(1)
            numpy.random.seed(1)
            torch.manual_seed(1)
            return random.random() + numpy.random.random() + float(torch.rand(()))

    def draws() -> tuple[float, ...]:
        return random.random(), float(numpy.random.random()), float(torch.rand(()))

    steady_sanity_check(Trainer, 42)
    found = []
    for check in (False, True):
        random.seed(7)
        numpy.random.seed(7)
        torch.manual_seed(7)
        if check:
            assert Trainer()._run_sanity_check() > 0
        found.append(draws())
    assert found[0] == found[1]
