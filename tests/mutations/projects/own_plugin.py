import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from pytorch_lightning.plugins import PrecisionPlugin
from torch.utils.data import DataLoader, TensorDataset


class Halving(PrecisionPlugin):
    """Halves gradients, of parameters by the name that the method had before 1.8."""

    def halve(self, optimizer):
        for parameter in self.master_params(optimizer):
            parameter.grad /= 2


class Regressor(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        return loss

    def on_before_optimizer_step(self, optimizer, *_):
        Halving().halve(optimizer)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
