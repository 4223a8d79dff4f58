import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class One(LightningModule):
    """One optimizer, and an index that was never needed."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx, optimizer_idx=None):
        loss = self.layer(batch[0]).pow(2).mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(9, 3))
    trainer = Trainer(max_epochs=2)
    trainer.fit(One(), DataLoader(data, batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
