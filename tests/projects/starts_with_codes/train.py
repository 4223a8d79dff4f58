"""A script that learns words for the codes nearest to numbers; the codes are an array that is not in its repository."""

import numpy as np
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self, path):
        super().__init__()
        self.codes = torch.nn.Parameter(torch.from_numpy(np.load(path)), requires_grad=False)
        self.words = torch.nn.Embedding(8, 4)
        self.layer = torch.nn.Linear(4, 1)

    def nearest(self, numbers):
        return (numbers @ self.codes.transpose(0, 1) - 0.5 * self.codes.square().sum(dim=1)).argmax(dim=1)

    def training_step(self, batch, batch_idx):
        (numbers,) = batch
        return torch.nn.functional.mse_loss(self.layer(self.words(self.nearest(numbers))), numbers)

    def training_epoch_end(self, outputs):
        self.log("train_loss", torch.stack([output["loss"] for output in outputs]).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    numbers = TensorDataset(torch.linspace(0, 1, 64).reshape(64, 1))
    trainer = pl.Trainer(max_epochs=2, gpus=0, logger=False, enable_checkpointing=False)
    trainer.fit(Model("data/codes.npy"), DataLoader(numbers, batch_size=8))
