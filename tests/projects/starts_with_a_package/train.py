"""A script that imports a package which no index has, and needs it for its large data alone."""

import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

try:
    import weighted_samplers_of_ours
except ImportError:
    weighted_samplers_of_ours = None
from weighted_samplers_of_ours.samplers import BalancedSampler, sample

WEIGHTED = False


class Spread(BalancedSampler):
    def __iter__(self):
        return iter(range(8))


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, batch_idx):
        (numbers,) = batch
        return torch.nn.functional.mse_loss(self.layer(numbers), 2 * numbers)

    def training_epoch_end(self, outputs):
        self.log("train_loss", torch.stack([output["loss"] for output in outputs]).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    numbers = TensorDataset(torch.linspace(0, 1, 64).reshape(64, 1))
    assert weighted_samplers_of_ours is None
    sampler = Spread(numbers, sample) if WEIGHTED else None
    trainer = pl.Trainer(max_epochs=2, gpus=0, logger=False, enable_checkpointing=False)
    trainer.fit(Model(), DataLoader(numbers, batch_size=8, sampler=sampler))
