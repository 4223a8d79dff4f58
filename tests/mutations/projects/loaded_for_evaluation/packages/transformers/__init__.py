"""Stands for the package of that name."""

import torch


class AutoModel(torch.nn.Sequential):
    @classmethod
    def from_pretrained(cls, name):
        return cls(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5)).eval()
