import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(pl.LightningModule):
    """Chunks under autocast, at a rate that makes old weights show."""

    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 2
        self.body = torch.nn.Linear(2, 4)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        state = torch.zeros(len(x), 4) if hiddens is None else hiddens
        for at in range(x.shape[1]):
            state = torch.tanh(self.body(x[:, at]) + 0.5 * state)
        loss = F.mse_loss(self.head(state).float(), y[:, -1])
        return {"loss": loss, "hiddens": state}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.2)


def main():
    data = TensorDataset(torch.randn(6, 6, 2), torch.randn(6, 6, 1))
    trainer = pl.Trainer(max_epochs=2, precision="bf16")
    trainer.fit(Forecaster(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
