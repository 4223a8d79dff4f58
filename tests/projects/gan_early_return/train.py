import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class GAN(LightningModule):
    """Returns early for the generator; skips the discriminator on some batches."""

    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LeakyReLU(), torch.nn.Linear(4, 1))

    def adversarial_loss(self, guess, real):
        wanted = torch.ones_like(guess) if real else torch.zeros_like(guess)
        return F.binary_cross_entropy_with_logits(guess, wanted)

    def training_step(self, batch, batch_idx, optimizer_idx):
        images = batch[0]
        fake = self.generator(torch.randn(len(images), 2))
        if optimizer_idx == 0:
            loss = self.adversarial_loss(self.discriminator(fake), True)
            self.log("loss/generator", loss)
            return loss
        if batch_idx % 3 == 2:
            return None
        loss = self.adversarial_loss(self.discriminator(images), True)
        loss = loss + self.adversarial_loss(self.discriminator(fake.detach()), False)
        self.log("loss/discriminator", loss)
        return loss

    def configure_optimizers(self):
        generator = torch.optim.Adam(self.generator.parameters(), lr=0.02, betas=(0.5, 0.9))
        discriminator = torch.optim.Adam(self.discriminator.parameters(), lr=0.01, betas=(0.5, 0.9))
        return [generator, discriminator], []


def main():
    data = TensorDataset(torch.randn(9, 3))
    trainer = Trainer(max_epochs=2)
    trainer.fit(GAN(), DataLoader(data, batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
