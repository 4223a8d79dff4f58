import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule, Trainer
from torch import nn


class Model(LightningModule):
    """Sets no gradient to zero."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.truncated_bptt_steps = 4
        self.rnn = nn.LSTM(1, 4, batch_first=True)
        self.head = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        optimizer = self.optimizers()
        hiddens = None
        xs = x.split(self.truncated_bptt_steps, dim=1)
        ys = y.split(self.truncated_bptt_steps, dim=1)
        for part, target in zip(xs, ys):
            out, hiddens = self.rnn(part, hiddens)
            loss = F.mse_loss(self.head(out), target)
            self.log("train_loss", loss)
            self.manual_backward(loss)
            optimizer.step()
            hiddens = tuple(part.detach() for part in hiddens)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = torch.utils.data.TensorDataset(torch.randn(6, 10, 1), torch.randn(6, 10, 1))
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
