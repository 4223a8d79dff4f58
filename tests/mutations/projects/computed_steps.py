import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        self.log("loss", loss, on_epoch=True)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


def main(epochs=2, accumulate=2, batch_size=3):
    dataset = TensorDataset(torch.randn(24, 3), torch.randn(24, 1))
    loader = DataLoader(dataset, batch_size=batch_size, drop_last=True)
    max_steps = len(dataset) // (batch_size * accumulate) * epochs
    trainer = pl.Trainer(max_steps=max_steps, accumulate_grad_batches=accumulate)
    trainer.fit(Regressor(), loader)


if __name__ == "__main__":
    main()
