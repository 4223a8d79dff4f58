import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class WGAN(LightningModule):
    """Two steps of the critic for one of the generator."""

    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LeakyReLU(), torch.nn.Linear(4, 1))

    def training_step(self, batch, batch_idx, optimizer_idx):
        images = batch[0]
        fake = self.generator(torch.randn(len(images), 2))
        if optimizer_idx == 0:
            loss = self.discriminator(fake.detach()).mean() - self.discriminator(images).mean()
            self.log("critic", loss)
            return loss
        if optimizer_idx == 1:
            loss = -self.discriminator(fake).mean()
            self.log("generator", loss)
            return loss

    def configure_optimizers(self):
        critic = torch.optim.RMSprop(self.discriminator.parameters(), lr=0.01)
        generator = torch.optim.RMSprop(self.generator.parameters(), lr=0.02)
        return (
            {"optimizer": critic, "frequency": 2},
            {"optimizer": generator, "frequency": 1},
        )


def main():
    data = TensorDataset(torch.randn(9, 3))
    trainer = Trainer(max_epochs=2)
    trainer.fit(WGAN(), DataLoader(data, batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
