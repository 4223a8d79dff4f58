import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from losses import Adversarial


class Autoencoder(LightningModule):
    """Its loss is a module that is told the index of the optimizer."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(3, 4)
        self.decoder = torch.nn.Linear(4, 3)
        self.loss = Adversarial(start=3)

    def forward(self, x):
        return self.decoder(torch.relu(self.encoder(x)))

    def training_step(self, batch, batch_idx, optimizer_idx):
        x = batch[0]
        made = self(x)
        if optimizer_idx == 0:
            loss, logs = self.loss(x, made, optimizer_idx, self.global_step)
            self.log_dict(logs, prog_bar=False, on_step=True, on_epoch=False)
            return loss
        if optimizer_idx == 1:
            loss, logs = self.loss(x, made, optimizer_idx, self.global_step)
            self.log_dict(logs, prog_bar=False, on_step=True, on_epoch=False)
            return loss

    def configure_optimizers(self):
        parameters = list(self.encoder.parameters()) + list(self.decoder.parameters())
        return [torch.optim.Adam(parameters, lr=0.02), torch.optim.Adam(self.loss.discriminator.parameters(), lr=0.01)], []


def main():
    data = TensorDataset(torch.randn(9, 3))
    trainer = Trainer(max_epochs=2)
    trainer.fit(Autoencoder(), DataLoader(data, batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
