"""Modules beside a package that is not installed."""

import pytorch_lightning as pl
import surely_not_installed.part as part
import torch
from surely_not_installed import Thing, decorate
from torch import nn


class Other(Thing):
    """Never built."""


@decorate
def unused():
    return part.value


class Without(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Using(Without):
    def training_step(self, batch, batch_idx):
        return part.loss(self.net(batch))
