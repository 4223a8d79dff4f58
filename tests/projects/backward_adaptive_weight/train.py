import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    """Goes backward twice to weigh one loss by the gradient of another."""

    automatic_optimization = False

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.last = torch.nn.Linear(4, 3)

    def losses(self, batch):
        out = self.last(self.first(batch[0]).tanh())
        return (out - batch[0]).pow(2).mean(), out.abs().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        fit, fool = self.losses(batch)
        optimizer.zero_grad()
        self.manual_backward(fit, retain_graph=True)
        first = self.last.weight.grad.norm()
        optimizer.zero_grad()
        self.manual_backward(fool, retain_graph=True)
        second = self.last.weight.grad.norm()
        optimizer.zero_grad()
        self.manual_backward(fit + first / second * fool)
        optimizer.step()


if __name__ == "__main__":
    from lightning.pytorch import Trainer

    data = torch.utils.data.TensorDataset(torch.randn(8, 3))
    Trainer(max_epochs=1, accelerator="cpu").fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))
