"""Modules that need arguments."""

from argparse import ArgumentParser

import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F


class Trained(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Hinted(Trained):
    def __init__(self, width: int, rate: float, name: str, body: nn.Module, sizes: list[int]):
        super().__init__()
        self.net = nn.Sequential(body, nn.Linear(8, width + sizes[0]))


class Options(Trained):
    def __init__(self, hparams):
        super().__init__()
        self.save_hyperparameters(hparams)
        assert self.hparams.odd_width == 13
        self.net = nn.Linear(hparams.odd_width, 2)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.learning_rate)

    @staticmethod
    def add_arguments():
        parser = ArgumentParser()
        parser.add_argument("--odd-width", type=int, default=13)


class Configured(Trained):
    def __init__(self, net, optimizer):
        super().__init__()
        self.net = net
        self.optimizer = optimizer
        assert net.out_features == 17

    def configure_optimizers(self):
        return self.optimizer(params=self.parameters())


class Called(Trained):
    def __init__(self, table):
        super().__init__()
        self.net = nn.Linear(table["a"]["b"], 19)


def main():
    return Called(table={"a": {"b": 23}})


class Choosing(Trained):
    def __init__(self, kind: str, config):
        super().__init__()
        if kind == "wide":
            self.net = nn.Linear(4, 4)
        else:
            raise ValueError(f"unknown kind {kind}")
        self.depth = config.model.depth


class Loads(Trained):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def setup(self, stage=None):
        self.data = torch.load("/nowhere/data.pt")


class Reads(Trained):
    """Cannot be had without a file of the project."""

    def __init__(self, path):
        super().__init__()
        self.net = torch.load(path)


class Fetches(Trained):
    """Cannot be had without a server, whatever it is given: another argument only fails later."""

    def __init__(self, width=8, layers=3):
        super().__init__()
        if width * layers == 24:
            raise ConnectionError("hub does not answer")
        heads = [nn.Linear(2, 2)] * 3
        assert layers == len(heads) + 100, "layers must be what it never is"


class NeverSteps(Trained):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def training_step(self, batch, batch_idx):
        return None
