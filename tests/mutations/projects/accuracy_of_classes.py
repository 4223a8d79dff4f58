import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import Accuracy


class Classifier(pl.LightningModule):
    """Measures its accuracy as torchmetrics did before it asked for the task."""

    def __init__(self, num_classes=3):
        super().__init__()
        self.layer = torch.nn.Linear(3, num_classes)
        self.accuracy = Accuracy(num_classes=num_classes)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.layer(x)
        self.log("accuracy", self.accuracy(logits.softmax(dim=1), y))
        return F.cross_entropy(logits, y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.arange(12) % 3)
    pl.Trainer(max_epochs=2).fit(Classifier(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
