import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader


class Recogniser(LightningModule):
    """Batches are dicts with lengths of one dimension, which the model cuts itself."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 3
        self.rnn = torch.nn.GRU(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 1)

    def tbptt_split_batch(self, batch, split_size):
        chunks = []
        for start in range(0, batch["x"].shape[1], split_size):
            stop = start + split_size
            left = (batch["lengths"] - start).clamp(0, split_size)
            chunks.append({"x": batch["x"][:, start:stop], "y": batch["y"][:, start:stop], "lengths": left})
        return chunks

    def training_step(self, batch, batch_idx, hiddens):
        out, hiddens = self.rnn(batch["x"], hiddens)
        steps = torch.arange(out.shape[1])
        mask = (steps[None, :] < batch["lengths"][:, None]).float()
        error = F.mse_loss(self.head(out).squeeze(-1), batch["y"], reduction="none")
        loss = (error * mask).sum() / mask.sum().clamp(min=1)
        self.log("loss_of_chunk", loss)
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.2)


def main():
    lengths = torch.tensor([7, 4, 6, 2, 5])
    data = [{"x": torch.randn(7, 2), "y": torch.randn(7), "lengths": length} for length in lengths]
    trainer = Trainer(max_epochs=2)
    trainer.fit(Recogniser(), DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
