import sys

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, "packages")
from transformers import AutoModel


class Tagger(pl.LightningModule):
    """Trains a model that is loaded for evaluation, and that `fit` puts into training mode up to Lightning 2.1."""

    def __init__(self):
        super().__init__()
        self.body = AutoModel.from_pretrained("tiny")
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.head(self.body(x)), y)

    def training_epoch_end(self, outputs):
        self.log("batches", float(len(outputs)))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Tagger(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
