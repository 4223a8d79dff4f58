"""Trains for an epoch, saves, and goes on from there with another Trainer."""

import tempfile
from pathlib import Path

import pytorch_lightning as pl
import torch
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


def main():
    pl.seed_everything(31)
    x = torch.rand(40, 4)
    loader = DataLoader(TensorDataset(x, x.sin().sum(1, keepdim=True)), batch_size=8)
    with tempfile.TemporaryDirectory() as folder:
        first = pl.Trainer(max_epochs=1, logger=CSVLogger("logs"))
        first.fit(Model(), loader)
        saved = str(Path(folder) / "first.ckpt")
        first.save_checkpoint(saved)
        second = pl.Trainer(max_epochs=2, logger=CSVLogger("logs"), resume_from_checkpoint=saved)
        second.fit(Model(), loader)


if __name__ == "__main__":
    main()
