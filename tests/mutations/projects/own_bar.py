import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from pytorch_lightning.callbacks import TQDMProgressBar
from torch.utils.data import DataLoader, TensorDataset


class Bar(TQDMProgressBar):
    """Counts on a bar, by the name that it had before 2.0."""

    def counted(self):
        self.main_progress_bar.n += 1
        return self.main_progress_bar.n


class Regressor(pl.LightningModule):
    """Weighs its losses by the count of a bar of its own."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.bar = Bar()

    def on_train_start(self):
        self.bar.setup(self.trainer, self, "fit")
        self.bar.on_train_start(self.trainer, self)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.layer(x), y) / self.bar.counted()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
