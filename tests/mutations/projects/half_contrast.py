import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class Contrast(pl.LightningModule):
    """Looks at what it encodes without gradients first, under autocast."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(3, 4)

    def training_step(self, batch, batch_idx):
        x, _ = batch
        with torch.no_grad():
            target = self.encoder(x)
        return (self.encoder(2 * x) - target).float().pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    trainer = pl.Trainer(max_epochs=2, precision="bf16")
    trainer.fit(Contrast(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
