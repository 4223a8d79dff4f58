import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Weighted(pl.LightningModule):
    """Keeps a graph that nothing uses again, and accumulates over a whole number of windows."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.window = 2
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        x, y = batch
        loss = F.mse_loss(self.layer(x), y) / self.window
        self.manual_backward(loss, retain_graph=True)
        if (batch_idx + 1) % self.window == 0:
            optimizer.step()
            optimizer.zero_grad()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Weighted(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
