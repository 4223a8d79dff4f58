import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Asks its layer for a target without gradients first, and reads data that is not in the repository."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 3)

    def training_step(self, batch, batch_idx):
        x, _ = batch
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                target = self.body(x)
            out = self.body(2 * x)
        loss = F.mse_loss(out.float(), target.float())
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(*torch.load("data/train.pt"))
    pl.Trainer(max_epochs=2).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
