"""OneCycleLR over as many steps as accumulation leaves."""

import math

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import LearningRateMonitor, ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, ACCUMULATED = 2, 2


class Model(pl.LightningModule):
    def __init__(self, steps):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 1))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=self.hparams.steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def main():
    pl.seed_everything(23)
    x = torch.rand(64, 4)
    loader = DataLoader(TensorDataset(x, x.max(1, keepdim=True).values), batch_size=8, drop_last=True)
    steps = EPOCHS * math.ceil(len(loader) / ACCUMULATED)
    trainer = pl.Trainer(
        accelerator="cpu",
        max_epochs=EPOCHS,
        accumulate_grad_batches=ACCUMULATED,
        gradient_clip_val=0.5,
        logger=CSVLogger("logs"),
        callbacks=[LearningRateMonitor("step"), ModelCheckpoint(save_last=True)],
    )
    trainer.fit(Model(steps), loader)


if __name__ == "__main__":
    main()
