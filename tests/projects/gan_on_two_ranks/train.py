import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.strategies import DDPStrategy
from torch.utils.data import DataLoader, TensorDataset


class GAN(LightningModule):
    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Linear(2, 3)
        self.discriminator = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx, optimizer_idx):
        images = batch[0]
        fake = self.generator(images[:, :2])
        if optimizer_idx == 0:
            return F.softplus(-self.discriminator(fake)).mean()
        if optimizer_idx == 1:
            return F.softplus(-self.discriminator(images)).mean() + F.softplus(self.discriminator(fake.detach())).mean()

    def configure_optimizers(self):
        return [torch.optim.SGD(self.generator.parameters(), 0.4), torch.optim.SGD(self.discriminator.parameters(), 0.3)]


def main():
    data = TensorDataset(torch.randn(8, 3))
    strategy = DDPStrategy(find_unused_parameters=True)
    trainer = Trainer(max_epochs=1, accelerator="cpu", devices=2, strategy=strategy, accumulate_grad_batches=2)
    trainer.fit(GAN(), DataLoader(data, batch_size=1))


if __name__ == "__main__":
    main()
