import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    """Has no state in the first chunk, which only warms up."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 4
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 1)

    def tbptt_split_batch(self, batch, split_size):
        pieces = [[part[:, :2] for part in batch]]
        return pieces + [[part[:, t : t + split_size] for part in batch] for t in range(2, 10, split_size)]

    def training_step(self, batch, batch_idx, hiddens):
        warm_up = hiddens is None
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = torch.zeros(1, requires_grad=True) if warm_up else F.mse_loss(self.head(out), y)
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader():
    return DataLoader(TensorDataset(torch.rand(6, 10, 1), torch.rand(6, 10, 1)), batch_size=2)


if __name__ == "__main__":
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader())
