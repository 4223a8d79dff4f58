"""What the project builds its modules of."""

import importlib
from dataclasses import dataclass

import torch
from torch import nn


class Wide(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        return self.layers(x)


sizes_of_tasks = {1: 2, "entailment": 3}


def kind_of(name):
    return {"wide": Wide}[name]


def loss_of(name):
    return {"absolute": nn.functional.l1_loss}[name]


def rate(step, warm):
    return min(1.0, (step + 1) / warm)


@dataclass
class Settings:
    width: int = 6

    def net(self, width):
        return nn.Linear(width, 2)


class Inner(nn.Module):
    def __init__(self, width, heads, blocks):
        super().__init__()
        assert (width, heads, blocks) == (14, 7, 1)
        self.layer = nn.Linear(width, heads)

    def forward(self, x):
        return torch.relu(self.layer(x))


class InstantiationException(Exception):
    """As hydra calls it."""


def instantiate(config, **more):
    """What `hydra.utils.instantiate` does with one level."""
    if not isinstance(config, dict):
        raise InstantiationException(
            f"Cannot instantiate config of type {type(config).__name__}.\nTop level config must be an OmegaConf "
            "DictConfig/ListConfig object, a plain dict/list, or a Structured Config class or instance."
        )
    module, _, name = config["_target_"].rpartition(".")
    given = {key: value for key, value in config.items() if key != "_target_"}
    return getattr(importlib.import_module(module), name)(**given, **more)
