import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class GAN(LightningModule):
    """The textbook's: noise drawn anew for each optimizer."""

    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LeakyReLU(), torch.nn.Linear(4, 1))

    def adversarial_loss(self, guess, real):
        wanted = torch.ones_like(guess) if real else torch.zeros_like(guess)
        return F.binary_cross_entropy_with_logits(guess, wanted)

    def training_step(self, batch, batch_idx, optimizer_idx):
        (images,) = batch
        noise = torch.randn(len(images), 2).type_as(images)

        # the generator wants to be believed
        if optimizer_idx == 0:
            g_loss = self.adversarial_loss(self.discriminator(self.generator(noise)), True)
            self.log("g_loss", g_loss, prog_bar=True)
            return g_loss

        # the discriminator wants to know
        elif optimizer_idx == 1:
            real = self.adversarial_loss(self.discriminator(images), True)
            fake = self.adversarial_loss(self.discriminator(self.generator(noise).detach()), False)
            d_loss = (real + fake) / 2
            self.log("d_loss", d_loss, prog_bar=True)
            return d_loss

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
