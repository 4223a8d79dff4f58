import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    """Leaves it to its Trainer to say how long chunks are."""

    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.LSTM(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        self.log("loss", loss)
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.2)


def main():
    data = TensorDataset(torch.randn(6, 7, 2), torch.randn(6, 7, 1))
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.3, truncated_bptt_steps=3)
    trainer.fit(Model(), DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
