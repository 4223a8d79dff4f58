"""Modules that the project itself builds in several ways, one of which trains."""

import pytorch_lightning as pl
from torch import nn
from torch.nn import functional as F


class Net(nn.Sequential):
    def __init__(self, across: int):
        super().__init__(nn.Linear(across, 2))


class Smoked(pl.LightningModule):
    """Its first call is one that builds it without anything, to see whether it can be built."""

    def __init__(self, net, optimizer, scheduler):
        super().__init__()
        self.net = net
        self.optimizer = optimizer
        self.scheduler = scheduler

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self.net(x), y))

    def configure_optimizers(self):
        optimizer = self.optimizer(params=self.parameters())
        scheduler = self.scheduler(optimizer=optimizer)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "val_loss"}}


if __name__ == "__main__":
    Smoked(None, None, None)
