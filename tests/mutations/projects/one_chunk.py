import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(pl.LightningModule):
    """Carries the state on with its history, over sequences that are no longer than a chunk."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.rnn = torch.nn.GRU(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        hiddens = None
        for x, y in zip(batch[0].split(6, dim=1), batch[1].split(6, dim=1), strict=True):
            out, hiddens = self.rnn(x, hiddens)
            loss = F.mse_loss(self.head(out), y)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(6, 6, 2), torch.randn(6, 6, 1))
    pl.Trainer(max_epochs=2).fit(Forecaster(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
