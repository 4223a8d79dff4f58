import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    """Halves gradients in hooks that run before there are any."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(3, 1)
        for p in self.parameters():
            p.register_hook(self.make_hook(p))

    def make_hook(self, p):
        def hook(grad):
            p.grad.mul_(0.5)

        return hook

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.net(batch[0]).pow(2).mean())
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(10, 3))
    Trainer(max_epochs=2, accelerator="cpu").fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))
