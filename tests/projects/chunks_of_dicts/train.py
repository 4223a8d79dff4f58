import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    """Splits its dicts itself, and leaves the lengths whole."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 4
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 1)

    def tbptt_split_batch(self, batch, split_size):
        chunks = []
        for start in range(0, batch["x"].shape[1], split_size):
            part = slice(start, start + split_size)
            chunks.append({"x": batch["x"][:, part], "y": batch["y"][:, part], "lengths": batch["lengths"]})
        return chunks

    def training_step(self, batch, batch_idx, hiddens):
        out, hiddens = self.rnn(batch["x"], hiddens)
        loss = (self.head(out) - batch["y"]).pow(2).sum() / batch["lengths"].sum()
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def collate(samples):
    return {
        "x": torch.stack([x for x, _ in samples]),
        "y": torch.stack([y for _, y in samples]),
        "lengths": torch.tensor([10, 9]),
    }


def loader():
    return DataLoader([(torch.rand(10, 1), torch.rand(10, 1)) for _ in range(6)], batch_size=2, collate_fn=collate)


if __name__ == "__main__":
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader())
