import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Warms its rate up in a hook that had more arguments."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.seen = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, **kwargs):
        if self.trainer.global_step < 4:
            for group in optimizer.param_groups:
                group["lr"] = 0.1 * (self.trainer.global_step + 1) / 4
        optimizer.step(closure=optimizer_closure)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return F.l1_loss(self.layer(x), y)

    def validation_epoch_end(self, outputs):
        self.seen.append(len(outputs))
        self.log("val_loss", torch.stack(outputs).mean())
        self.log("val_batches", float(self.seen[-1]))

    def on_train_batch_end(self, outputs, batch, batch_idx, unused=0):
        self.log("last", outputs["loss"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    loader = DataLoader(data, batch_size=3)
    pl.Trainer(max_epochs=2).fit(Regressor(), loader, loader)


if __name__ == "__main__":
    main()
