"""A callback of the project's own, and the switches of 1.4."""

import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Average(pl.Callback):
    """Keeps a moving average of the weights, and trains on with it."""

    def __init__(self):
        self.kept = None

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        now = [parameter.detach().clone() for parameter in pl_module.parameters()]
        before = self.kept or now
        self.kept = [0.5 * old + 0.5 * new for old, new in zip(before, now)]

    def on_train_epoch_end(self, trainer, pl_module):
        for parameter, value in zip(pl_module.parameters(), self.kept):
            parameter.data.copy_(value)
        trainer.logger.log_metrics({"kept": self.kept[0].norm().item()}, step=trainer.global_step)


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))

    def training_step(self, batch, batch_idx):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.2)


pl.seed_everything(19)
x = torch.randn(48, 4)
loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=6)
trainer = pl.Trainer(
    max_epochs=2,
    callbacks=[Average()],
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Model(), loader)
