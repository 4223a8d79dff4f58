import torch
import torch.nn.functional as F
from building import again
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Regressor(LightningModule):
    """Is fitted by a Trainer that another file builds."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    loader = DataLoader(data, batch_size=3)
    first = Trainer(max_epochs=1, replace_sampler_ddp=False)
    first.fit(Regressor(), loader)
    first.save_checkpoint("first.ckpt")
    trainer = again()
    trainer.fit(Regressor(), loader)


if __name__ == "__main__":
    main()
