"""A regression whose curves are written to TensorBoard by hand."""

import pytorch_lightning as pl
import torch
from pytorch_lightning.loggers import TensorBoardLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regression(pl.LightningModule):
    def __init__(self, width=8):
        super().__init__()
        self.save_hyperparameters()
        self.losses = []
        self.net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.logger.experiment.add_scalar("loss/step", loss.item(), self.global_step)
        self.losses.append(loss.detach())
        return loss

    def on_train_epoch_end(self):
        mean = torch.stack(self.losses).mean()
        self.logger.experiment.add_scalar("loss/epoch", mean.item(), self.current_epoch)
        self.log("train_loss", mean)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    pl.seed_everything(3)
    x = torch.rand(48, 4)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=6)
    logger = TensorBoardLogger("runs", name="regression")
    pl.Trainer(max_epochs=3, logger=logger, accelerator="cpu").fit(Regression(), loader)


if __name__ == "__main__":
    main()
