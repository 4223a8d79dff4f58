import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from half import scaled


class GAN(LightningModule):
    """Two optimizers, gradients clipped by value."""

    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LeakyReLU(), torch.nn.Linear(4, 1))

    def training_step(self, batch, batch_idx, optimizer_idx):
        images = batch[0]
        fake = self.generator(torch.randn(len(images), 2))
        if optimizer_idx == 0:
            return F.softplus(-self.discriminator(fake)).mean()
        if optimizer_idx == 1:
            return F.softplus(-self.discriminator(images)).mean() + F.softplus(self.discriminator(fake.detach())).mean()

    def configure_optimizers(self):
        return [torch.optim.SGD(self.generator.parameters(), 0.4), torch.optim.SGD(self.discriminator.parameters(), 0.3)]


def main():
    data = TensorDataset(torch.randn(8, 3))
    trainer = Trainer(max_epochs=2, plugins=[scaled()], gradient_clip_val=0.02, gradient_clip_algorithm="value")
    trainer.fit(GAN(), DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
