"""Predicts the next value of a noisy wave. Written for Lightning 1.8; on Lightning 2 it no longer runs."""

import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class WaveModel(LightningModule):
    def __init__(self, hidden=16, lr=0.05):
        super().__init__()
        self.lr = lr
        self.truncated_bptt_steps = 10
        self.rnn = torch.nn.LSTM(1, hidden, batch_first=True)
        self.head = torch.nn.Linear(hidden, 1)

    def training_step(self, batch, batch_idx, hiddens):
        wave, following = batch
        states, hiddens = self.rnn(wave, hiddens)
        loss = F.mse_loss(self.head(states), following)
        self.log("train_loss", loss)
        return {"loss": loss, "hiddens": hiddens}

    def validation_step(self, batch, batch_idx):
        wave, following = batch
        states, _ = self.rnn(wave)
        return {"error": F.l1_loss(self.head(states), following)}

    def validation_epoch_end(self, outputs):
        self.log("val_error", torch.stack([output["error"] for output in outputs]).mean())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.lr)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def waves(count, length=43):
    start = torch.rand(count, 1, 1) * 6.28
    time = torch.arange(length + 1).view(1, -1, 1) * 0.3
    wave = torch.sin(start + time) + 0.05 * torch.randn(count, length + 1, 1)
    return TensorDataset(wave[:, :-1], wave[:, 1:])


def main():
    torch.manual_seed(0)
    trainer = Trainer(gpus=0, max_epochs=2, gradient_clip_val=0.5)
    trainer.fit(WaveModel(), DataLoader(waves(64), batch_size=8), DataLoader(waves(16), batch_size=8))


if __name__ == "__main__":
    main()
