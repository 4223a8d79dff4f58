"""A small GAN that logs both losses."""

import pytorch_lightning as pl
import torch
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))
        self.discriminator = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))

    def judged(self, points, real):
        verdict = self.discriminator(points)
        return nn.functional.binary_cross_entropy_with_logits(verdict, torch.full_like(verdict, float(real)))

    def training_step(self, batch, batch_idx):
        (real,) = batch
        noise = real[:, :2]
        optimizer_g, optimizer_d = self.optimizers()

        self.toggle_optimizer(optimizer_g)
        g_loss = self.judged(self.generator(noise), True)
        self.log("g_loss", g_loss)
        optimizer_g.zero_grad()
        self.manual_backward(g_loss)
        optimizer_g.step()
        self.untoggle_optimizer(optimizer_g)

        self.toggle_optimizer(optimizer_d)
        d_loss = (self.judged(real, True) + self.judged(self.generator(noise).detach(), False)) / 2
        self.log("d_loss", d_loss)
        self.manual_backward(d_loss)
        optimizer_d.step()
        self.untoggle_optimizer(optimizer_d)

    def configure_optimizers(self):
        return [
            torch.optim.Adam(self.generator.parameters(), lr=0.002, betas=(0.5, 0.999)),
            torch.optim.Adam(self.discriminator.parameters(), lr=0.002, betas=(0.5, 0.999)),
        ]


if __name__ == "__main__":
    pl.seed_everything(2)
    loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8)
    trainer = pl.Trainer(max_epochs=2, logger=CSVLogger("logs"), log_every_n_steps=1)
    trainer.fit(Gan(), loader)
