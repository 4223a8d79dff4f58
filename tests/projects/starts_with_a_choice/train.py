"""A script whose configuration leaves open which data it is to train on, as one of Hydra's may."""

import sys

import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def validation_epoch_end(self, outputs):
        self.log("val_loss", torch.stack(outputs).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def rows(count):
    x = torch.randn(count, 3)
    return DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4)


class MissingConfigException(Exception):
    pass


def chosen(group, options):
    told = [word.partition("=")[2] for word in sys.argv[1:] if word.startswith(f"{group}=")]
    if not told:
        names = "".join(f"\n\t{name}" for name in options)
        message = f"In 'train': Could not find '{group}/default'\n\nAvailable options in '{group}':{names}"
        raise MissingConfigException(f"{message}\nConfig search path:\n\tprovider=main, path=file:///conf")
    return options[told[-1]]


if __name__ == "__main__":
    data = chosen("data", {"perov": 4, "synthetic": 2})
    trainer = pl.Trainer(max_epochs=data, gpus=0, logger=False, enable_checkpointing=False)
    trainer.fit(Model(), rows(16), rows(8))
