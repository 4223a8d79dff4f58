import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Trained by arguments that went."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 4))
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.head(self.body(x)), y)
        self.log("loss", loss, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.l1_loss(self.head(self.body(x)), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    loader = DataLoader(data, batch_size=3)
    trainer = pl.Trainer(
        gpus=2,
        max_epochs=50,
        precision="bf16",
        accumulate_grad_batches=2,
        gradient_clip_val=0.5,
        check_val_every_n_epoch=1,
    )
    trainer.fit(Regressor(), train_dataloaders=loader, val_dataloaders=loader)


if __name__ == "__main__":
    main()
