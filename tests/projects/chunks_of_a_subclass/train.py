from base import Sequence

import torch
from pytorch_lightning import Trainer
from torch.utils.data import DataLoader, TensorDataset


class Absolute(Sequence):
    """Overrides the loss alone."""

    def loss_of(self, out, y):
        return (out - y).abs().mean()


def main():
    data = TensorDataset(torch.randn(6, 7, 2), torch.randn(6, 7, 1))
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.3, gradient_clip_algorithm="norm")
    trainer.fit(Absolute(), DataLoader(data, batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
