import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    """Drops the tail of an epoch, and adds losses up where it means their mean."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.net(batch[0]).pow(2).mean()
        self.manual_backward(loss)
        if (batch_idx + 1) % 3 == 0:
            optimizer.step()
            optimizer.zero_grad()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(10, 3))
    Trainer(max_epochs=2, accelerator="cpu").fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))
