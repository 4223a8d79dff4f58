import os

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

os.environ["PL_INTER_BATCH_PARALLELISM"] = "0"
RATE = float(os.environ.get("RATE_OF_THE_TEST", "0.1"))


class Regressor(pl.LightningModule):
    """Says that batches are not to be read ahead, by a variable that nobody reads since 2.0."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=RATE)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
