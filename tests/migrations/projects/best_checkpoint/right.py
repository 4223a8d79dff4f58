"""Keeps the best checkpoint and tests with it."""

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import LearningRateMonitor, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.test_losses = []
        self.net = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))

    def loss(self, batch):
        return nn.functional.l1_loss(self.net(batch[0]), batch[1])

    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def test_step(self, batch, batch_idx):
        self.test_losses.append(self.loss(batch))

    def on_test_epoch_end(self):
        self.log("test_loss", torch.stack(self.test_losses).mean())
        self.test_losses.clear()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.02)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.7)]


class Data(pl.LightningDataModule):
    def setup(self, stage=None):
        generator = torch.Generator().manual_seed(11)
        x = torch.rand(96, 3, generator=generator)
        self.parts = [TensorDataset(part, part.prod(1, keepdim=True)) for part in x.split(32)]

    def train_dataloader(self):
        return DataLoader(self.parts[0], batch_size=4)

    def val_dataloader(self):
        return DataLoader(self.parts[1], batch_size=4)

    def test_dataloader(self):
        return DataLoader(self.parts[2], batch_size=4)


def main():
    pl.seed_everything(7, workers=True)
    best = ModelCheckpoint(monitor="val_loss", mode="min", save_top_k=1, filename="{epoch}-{val_loss:.3f}")
    trainer = pl.Trainer(max_epochs=3, callbacks=[best, LearningRateMonitor()])
    model, data = Model(), Data()
    trainer.fit(model, data)
    trainer.test(model, data, ckpt_path="best")


if __name__ == "__main__":
    main()
