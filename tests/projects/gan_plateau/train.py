import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class GAN(LightningModule):
    """The generator's rate waits for the validation."""

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
            return self.adversarial_loss(self.discriminator(fake), True)
        if optimizer_idx == 1:
            loss = self.adversarial_loss(self.discriminator(images), True)
            return loss + self.adversarial_loss(self.discriminator(fake.detach()), False)

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.adversarial_loss(self.discriminator(batch[0]), True))

    def configure_optimizers(self):
        generator = torch.optim.SGD(self.generator.parameters(), lr=0.2)
        discriminator = torch.optim.SGD(self.discriminator.parameters(), lr=0.1)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(generator, patience=0, threshold=0.9)
        return (
            {"optimizer": generator, "lr_scheduler": {"scheduler": plateau, "monitor": "val_loss"}},
            {"optimizer": discriminator, "lr_scheduler": torch.optim.lr_scheduler.ExponentialLR(discriminator, 0.8)},
        )


def main():
    data = TensorDataset(torch.randn(9, 3))
    loader = DataLoader(data, batch_size=3)
    trainer = Trainer(max_epochs=3)
    trainer.fit(GAN(), loader, loader)


if __name__ == "__main__":
    main()
