from dataclasses import dataclass, replace

import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    lengths: torch.Tensor


class Model(LightningModule):
    """Cuts batches that are dataclasses, and leaves their lengths whole."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 4
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 1)

    def tbptt_split_batch(self, batch, split_size):
        starts = range(0, batch.x.shape[1], split_size)
        parts = [slice(start, start + split_size) for start in starts]
        return [replace(batch, x=batch.x[:, part], y=batch.y[:, part]) for part in parts]

    def training_step(self, batch, batch_idx, hiddens):
        out, hiddens = self.rnn(batch.x, hiddens)
        loss = (self.head(out) - batch.y).pow(2).sum() / batch.lengths.sum()
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def collated(samples):
    xs, ys = zip(*samples, strict=True)
    return Batch(torch.stack(xs), torch.stack(ys), torch.tensor([len(x) for x in xs]))


def loader():
    return DataLoader(TensorDataset(torch.rand(6, 10, 1), torch.rand(6, 10, 1)), batch_size=2, collate_fn=collated)


if __name__ == "__main__":
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader())
