from pathlib import Path

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
import yaml
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Takes the arguments of its Trainer from a file."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 4)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.head(torch.tanh(self.body(x))), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    config = yaml.safe_load(Path("config.yaml").read_text())
    pl.Trainer(**config["trainer"]).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
