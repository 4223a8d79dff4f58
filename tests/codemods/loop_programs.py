"""A hand-written truncated loop that is right, as the tests of the rules on manual loops break it."""

from __future__ import annotations

RIGHT = """\
import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule, Trainer
from torch import nn


class Model(LightningModule):
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
            optimizer.zero_grad()
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
"""
FLAG = "        self.automatic_optimization = False\n"
SUPER = "        super().__init__()\n"
ZERO = "            optimizer.zero_grad()\n"
BACKWARD = "            self.manual_backward(loss)\n"
STEP = "            optimizer.step()\n"
DETACH = "            hiddens = tuple(part.detach() for part in hiddens)\n"
CUT = "            hiddens = apply_to_collection(hiddens, torch.Tensor, torch.Tensor.detach)\n"
CLASS = "class Model(LightningModule):\n"
SETUP = "    def configure_optimizers(self):\n"
SGD = "        return torch.optim.SGD(self.parameters(), lr=0.1)\n"
TRAINER = "Trainer(max_epochs=2)"


def changed(*replacements: tuple[str, str], text: str = RIGHT) -> str:
    """The program with pieces replaced, each of which it has to hold."""
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    return text
