import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    """Detaches a part of its nested state itself."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 4
        self.one = torch.nn.LSTM(1, 3, batch_first=True)
        self.two = torch.nn.LSTM(1, 3, batch_first=True)
        self.head = torch.nn.Linear(6, 1)

    def training_step(self, batch, batch_idx, state=None):
        first, second = state if state is not None else (None, None)
        one, first = self.one(batch[0], first)
        two, second = self.two(batch[0], second)
        loss = F.mse_loss(self.head(torch.cat([one, two], -1)), batch[1])
        return dict(loss=loss, hiddens=(tuple(part.detach() for part in first), second))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader():
    return DataLoader(TensorDataset(torch.rand(6, 10, 1), torch.rand(6, 10, 1)), batch_size=2)


if __name__ == "__main__":
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader())
