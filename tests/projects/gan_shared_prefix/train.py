import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class GAN(LightningModule):
    """Computes what both optimizers need before it asks which one it is for."""

    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LeakyReLU(), torch.nn.Linear(4, 1))

    def adversarial_loss(self, guess, real):
        wanted = torch.ones_like(guess) if real else torch.zeros_like(guess)
        return F.binary_cross_entropy_with_logits(guess, wanted)

    def training_step(self, batch, batch_idx, optimizer_idx):
        images, = batch
        noisy = images + 0.1 * torch.randn_like(images)
        fake = self.generator(torch.randn(len(images), 2))
        if optimizer_idx == 0:
            believed = self.discriminator(fake)
            loss = self.adversarial_loss(believed, True) + F.l1_loss(fake, noisy)
            name = "generator"
        else:
            loss = self.adversarial_loss(self.discriminator(noisy), True)
            loss = loss + self.adversarial_loss(self.discriminator(fake.detach()), False)
            name = "discriminator"
        self.log(name, loss, on_epoch=True)
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
