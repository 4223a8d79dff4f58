import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Guarded(pl.LightningModule):
    """Takes its loss out of autocast, in the spelling of old torch releases."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        with torch.cuda.amp.autocast(enabled=False):
            loss = F.mse_loss(self.layer(x.float()), y.float())
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    trainer = pl.Trainer(max_epochs=2, gradient_clip_val=0.3)
    trainer.fit(Guarded(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
