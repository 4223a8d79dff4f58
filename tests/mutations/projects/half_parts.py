import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Parts(pl.LightningModule):
    """Steps for each part of a batch, inside a region of its own that caches the weights that it casts."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for x, y in zip(batch[0].split(2), batch[1].split(2), strict=True):
                loss = F.mse_loss(self.layer(x).float(), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                torch.clear_autocast_cache()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    trainer = pl.Trainer(max_epochs=2)
    trainer.fit(Parts(), DataLoader(data, batch_size=4))


if __name__ == "__main__":
    main()
