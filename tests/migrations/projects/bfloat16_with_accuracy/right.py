"""bfloat16 by autocast, with accuracy and a checkpoint every epoch."""

import pytorch_lightning as pl
import torch
import torchmetrics
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
        self.accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=4)

    def training_step(self, batch, batch_idx):
        logits = self.net(batch[0])
        loss = nn.functional.cross_entropy(logits, batch[1])
        self.accuracy(logits, batch[1])
        self.log("train_accuracy", self.accuracy, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


pl.seed_everything(29)
x = torch.randn(64, 8)
loader = DataLoader(TensorDataset(x, x[:, :4].argmax(1)), batch_size=8)
every = ModelCheckpoint(every_n_epochs=1, save_top_k=-1)
trainer = pl.Trainer(
    max_epochs=2, precision="bf16-mixed", accelerator="cpu", logger=CSVLogger("logs"), callbacks=[every]
)
trainer.fit(Classifier(), loader)
