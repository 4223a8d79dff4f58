"""An LSTM trained by truncated back-propagation through time, with a learning rate that falls."""

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import LearningRateMonitor
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Sequence(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.lstm = nn.LSTM(3, 10, batch_first=True)
        self.head = nn.Linear(10, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        hiddens = None
        for x, y in zip(*(part.split(5, dim=1) for part in batch)):
            out, hiddens = self.lstm(x, hiddens)
            loss = nn.functional.mse_loss(self.head(out), y)
            self.log("train_loss", loss)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()

    def on_train_epoch_end(self):
        self.lr_schedulers().step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)]


if __name__ == "__main__":
    pl.seed_everything(13)
    x = torch.rand(24, 20, 3)
    loader = DataLoader(TensorDataset(x, x.cumsum(1).mean(-1, keepdim=True)), batch_size=4)
    trainer = pl.Trainer(max_epochs=3, logger=CSVLogger("logs"), callbacks=[LearningRateMonitor("epoch")])
    trainer.fit(Sequence(), loader)
