import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Two(LightningModule):
    """An encoder and a head, each with its optimizer, over chunks of a sequence."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 2
        self.rnn = torch.nn.GRU(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx, optimizer_idx, hiddens):
        x, y = batch
        out, state = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        if optimizer_idx == 1:
            loss = loss + 0.01 * self.head.weight.abs().sum()
        self.log(f"loss{optimizer_idx}", loss)
        return {"loss": loss, "hiddens": state}

    def configure_optimizers(self):
        first = torch.optim.SGD(self.rnn.parameters(), lr=0.2)
        second = torch.optim.Adam(self.head.parameters(), lr=0.05)
        return [first, second], []


def main():
    data = TensorDataset(torch.randn(6, 5, 2), torch.randn(6, 5, 1))
    trainer = Trainer(max_epochs=2)
    trainer.fit(Two(), DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
