import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    """Takes a share of the length for the size of a chunk."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 0.3
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 1)

    def tbptt_split_batch(self, batch, split_size):
        pieces = [part.split(round(part.shape[1] * split_size), dim=1) for part in batch]
        return list(zip(*pieces))

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        self.log("loss", loss, on_step=True, on_epoch=True)
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader():
    return DataLoader(TensorDataset(torch.rand(6, 10, 1), torch.rand(6, 10, 1)), batch_size=2)


if __name__ == "__main__":
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader())
