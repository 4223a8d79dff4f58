from argparse import Namespace

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Sets its hyperparameters as an attribute, which 1.x stopped to allow."""

    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams
        self.body = torch.nn.Linear(3, hparams.width)
        self.head = torch.nn.Linear(hparams.width, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.head(torch.tanh(self.body(x))), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.rate)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Regressor(Namespace(width=4, rate=0.1)), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
