"""A classifier that measures with torchmetrics and stops early."""

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
        self.accuracy = MulticlassAccuracy(num_classes=3)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, on_step=True, on_epoch=True, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        logits = self.net(batch[0])
        self.accuracy.update(logits.softmax(-1), batch[1])
        return nn.functional.cross_entropy(logits, batch[1])

    def validation_epoch_end(self, outputs):
        self.log("val_loss", torch.stack(outputs).mean())
        self.log("val_accuracy", self.accuracy.compute())
        self.accuracy.reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def loader(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 6, generator=generator)
    return DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=8)


if __name__ == "__main__":
    pl.seed_everything(5)
    stop = EarlyStopping("val_loss", patience=5)
    trainer = pl.Trainer(max_epochs=4, callbacks=[stop], logger=CSVLogger("logs"), num_sanity_val_steps=0, gpus=None)
    trainer.fit(Classifier(), loader(64, 1), loader(40, 2))
