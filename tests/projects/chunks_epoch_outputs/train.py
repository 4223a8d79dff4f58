import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    """Reads a list of chunks for each batch at the end of the epoch."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 4
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        self.log("loss", loss, on_step=True, on_epoch=True)
        return {"loss": loss, "mean": out.mean(), "hiddens": hiddens}

    def training_epoch_end(self, outputs):
        self.log("batches", float(len(outputs)))
        self.log("mean", sum(chunk["loss"] + chunk["mean"] for batch in outputs for chunk in batch) / len(outputs))
        assert all(set(chunk) == {"loss", "mean"} for batch in outputs for chunk in batch)
        assert not any(chunk["loss"].requires_grad for batch in outputs for chunk in batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader():
    return DataLoader(TensorDataset(torch.rand(6, 10, 1), torch.rand(6, 10, 1)), batch_size=2)


if __name__ == "__main__":
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader())
