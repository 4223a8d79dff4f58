import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Counts the steps of the whole training by hand, for a scheduler of every step."""

    def __init__(self, rate=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.rate)
        total_steps = len(self.trainer.datamodule.train_dataloader()) * self.trainer.max_epochs
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.hparams.rate, total_steps=total_steps)
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]


class Numbers(pl.LightningDataModule):
    def setup(self, stage=None):
        self.data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))

    def train_dataloader(self):
        return DataLoader(self.data, batch_size=3)


def main():
    trainer = pl.Trainer(max_epochs=2)
    trainer.fit(Regressor(), datamodule=Numbers())


if __name__ == "__main__":
    main()
