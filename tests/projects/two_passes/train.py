import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Goes backward twice through one graph, which the first pass keeps."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.body = torch.nn.Linear(3, 4)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        x, y = batch
        hidden = torch.tanh(self.body(x))
        fit, penalty = F.mse_loss(self.head(hidden), y), hidden.pow(2).mean()
        optimizer.zero_grad()
        self.manual_backward(fit, retain_graph=True)
        self.manual_backward(penalty)
        optimizer.step()
        self.log("fit", fit)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
