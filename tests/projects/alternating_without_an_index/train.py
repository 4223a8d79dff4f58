import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Two(LightningModule):
    """Two optimizers and a step that does not ask for which."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.second = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx, optimizer_idx):
        loss = self.second(torch.tanh(self.first(batch[0]))).pow(2).mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.first.parameters(), lr=0.3), torch.optim.Adam(self.second.parameters(), lr=0.05)


def main():
    data = TensorDataset(torch.randn(9, 3))
    trainer = Trainer(max_epochs=2)
    trainer.fit(Two(), DataLoader(data, batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
