import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Game(LightningModule):
    """Each loss runs through everybody's weights, and moves its own alone."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 4)
        self.left = torch.nn.Linear(4, 1)
        self.right = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx, optimizer_idx):
        seen = torch.tanh(self.body(batch[0]))
        left, right = self.left(seen), self.right(seen)
        if optimizer_idx == 0:
            loss = (left - right).pow(2).mean()
        elif optimizer_idx == 1:
            loss = F.softplus(left - right).mean()
        else:
            loss = F.softplus(right - left).mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return [torch.optim.SGD(part.parameters(), lr=0.3) for part in (self.body, self.left, self.right)]


def main():
    data = TensorDataset(torch.randn(9, 3))
    trainer = Trainer(max_epochs=2)
    trainer.fit(Game(), DataLoader(data, batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
