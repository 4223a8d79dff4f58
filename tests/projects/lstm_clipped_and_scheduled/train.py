import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(pl.LightningModule):
    """An LSTM whose rate falls with every batch."""

    def __init__(self, hidden_size=4):
        super().__init__()
        self.save_hyperparameters()
        self.rnn = nn.LSTM(2, hidden_size, num_layers=2, dropout=0.2, batch_first=True)
        self.head = nn.Linear(hidden_size, 1)
        self.truncated_bptt_steps = 3

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = nn.functional.mse_loss(self.head(out), y)
        self.log("train/loss", loss, on_step=True, on_epoch=True)
        return {"loss": loss, "hiddens": hiddens}

    def validation_step(self, batch, batch_idx):
        x, y = batch
        out, _ = self.rnn(x)
        self.log("val/loss", nn.functional.mse_loss(self.head(out), y))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.7)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def main():
    data = TensorDataset(torch.randn(8, 10, 2), torch.randn(8, 10, 1))
    loader = DataLoader(data, batch_size=3, shuffle=True)
    trainer = pl.Trainer(max_epochs=2, gradient_clip_val=0.1)
    trainer.fit(Forecaster(), loader, DataLoader(data, batch_size=4))


if __name__ == "__main__":
    main()
