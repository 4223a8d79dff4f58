import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Its scheduler is told to print, as torch up to 2.6 took it."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, verbose=True)]


def main():
    x = torch.randn(12, 3)
    data = TensorDataset(x, x.sum(1, keepdim=True))
    pl.Trainer(max_epochs=2).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
