"""Modules whose arguments only their callers, the project's files or errors tell."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytorch_lightning as pl
import torch
import yaml
from parts import Inner, Settings, Wide, instantiate, kind_of, loss_of, rate, sizes_of_tasks
from torch import nn
from torch.nn import functional as F


class Trained(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Followed(Trained):
    def __init__(self, net, loss, schedule, inputs):
        super().__init__()
        assert isinstance(net, Wide)
        self.net, self.loss, self.schedule = net, loss, schedule
        assert inputs == 2

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.loss(self.net(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.LambdaLR(optimizer, self.schedule)]


def train(arguments):
    config = yaml.safe_load(Path(arguments.config).read_text())["train"]
    width = int(config["width"])
    make = kind_of(name=config["kind"])
    net = make(width=width, depth=config["depth"])
    loss = loss_of(config["loss"])
    schedule = partial(rate, warm=config["warm_steps"])
    names = ["x", "y"]
    model = Followed(net, loss=loss, schedule=schedule, inputs=len(names))
    return model.to("cpu")


class Spread(Trained):
    def __init__(self, config: dict):
        super().__init__()
        self.net = Inner(**config)


class LookedUp(Trained):
    def __init__(self, size: str):
        super().__init__()
        self.net = nn.Linear({"tiny": 3, "huge": 5}[size], 2)


class LookedUpElsewhere(Trained):
    def __init__(self, task: str):
        super().__init__()
        self.net = nn.Linear(sizes_of_tasks[task], 2)


class Branching(Trained):
    def __init__(self, opt_type, lr=0.1):
        super().__init__()
        self.net = nn.Linear(3, 2)
        self.opt_type, self.lr = opt_type, lr

    def configure_optimizers(self):
        if self.opt_type == "Ranger":
            optimizer = torch.optim.SGD(self.parameters(), lr=self.lr)
        return [optimizer]


class Configured(Trained):
    def __init__(self, model, backbone):
        super().__init__()
        self.model, self.backbone = model, backbone

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.model.forward(self.backbone(x)), y)


class Functions(Trained):
    def __init__(self, criterion: Callable, lr_factor: Callable):
        super().__init__()
        self.net = nn.Linear(3, 2)
        self.criterion, self.lr_factor = criterion, lr_factor

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.criterion(self.net(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.LambdaLR(optimizer, self.lr_factor)]


class NotAFunction(Functions):
    def __init__(self, criterion, gamma):
        super().__init__(criterion, gamma)


class Pictures(Trained):
    def __init__(self, image_size=(24, 40), classes: int = 5):
        super().__init__()
        self.net = nn.Conv2d(3, 4, 1)
        self.size = image_size

    def training_step(self, batch, batch_idx):
        x, y = batch
        assert x.shape[-2:] == tuple(self.size)
        return F.mse_loss(self.net(x), y)


def pictures():
    return Pictures(image_size=[24, 40])


class BuildsItself(Trained):
    def __init__(self, optim, width=8):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Linear(width, width)

    def configure_optimizers(self):
        return instantiate(self.hparams.optim, params=self.parameters())


class Unsized(Trained):
    def __init__(self, width=8, reached=-1, actions=-1):
        super().__init__()
        self.net = nn.Linear(width, width if reached < 0 else 1 - reached)
        self.actions = nn.Parameter(torch.zeros(actions, width))

    def training_step(self, batch, batch_idx):
        return super().training_step(batch, batch_idx) + self.actions.pow(2).mean()


class Typed(Trained):
    def __init__(self, config: Settings):
        super().__init__()
        self.net = config.net(config.width)


class SetByKey(Trained):
    def __init__(self, taps):
        super().__init__()
        assert taps == 13
        self.net = nn.Linear(taps, 2)


def set_by_key(settings):
    settings["taps"] = 13
    return SetByKey(**settings)


class Counted(Trained):
    def __init__(self, nparams):
        super().__init__()
        assert nparams > 0
        self.net = nn.Linear(nparams, 2)


class Computed(Trained):
    def __init__(self, bottom_options):
        super().__init__()
        self.net = nn.Linear(1 + bottom_options, 2)


class Spaced(Trained):
    def __init__(self, hyper_params):
        super().__init__()
        self.rate = hyper_params["learning rate"]
        self.net = nn.Linear(hyper_params["number of taps"], 2)


SPACED = {"number of taps": 17, "learning rate": 0.25}
