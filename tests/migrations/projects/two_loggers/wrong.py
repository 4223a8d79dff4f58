"""Two loggers; the histogram of the weights goes to the first."""

import pytorch_lightning as pl
import torch
from pytorch_lightning.loggers import CSVLogger, TensorBoardLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 1)

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch[0]).pow(2).mean()
        self.log("loss", loss)
        return loss

    def on_train_epoch_end(self):
        self.loggers[0].experiment.add_histogram("weight", self.layer.weight, self.current_epoch)
        self.logger[1].log_metrics({"weight_norm": self.layer.weight.norm().item()}, step=self.global_step)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


pl.seed_everything(17)
loggers = [TensorBoardLogger("runs"), CSVLogger("runs")]
trainer = pl.Trainer(max_epochs=2, logger=loggers, enable_model_summary=False)
trainer.fit(Model(), DataLoader(TensorDataset(torch.rand(40, 5)), batch_size=5))
