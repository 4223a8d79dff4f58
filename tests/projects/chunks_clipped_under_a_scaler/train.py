import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from half import scaled


class Model(LightningModule):
    """Its gradients are clipped by norm, and looked at before."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 2
        self.body = torch.nn.Linear(2, 4)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out = self.body(x)
        if hiddens is not None:
            out = out + hiddens[:, None]
        out = torch.tanh(out)
        loss = F.mse_loss(self.head(out), y)
        return {"loss": loss, "hiddens": out[:, -1]}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


def main():
    data = TensorDataset(torch.randn(6, 5, 2), 5 * torch.randn(6, 5, 1))
    trainer = Trainer(max_epochs=2, plugins=[scaled()], gradient_clip_val=0.05)
    trainer.fit(Model(), DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
