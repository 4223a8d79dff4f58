import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Regressor(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        if batch_idx == 1:
            return None
        loss = F.mse_loss(self.layer(x), y)
        return loss

    def training_epoch_end(self, outputs):
        losses = torch.stack([output["loss"] for output in outputs])
        assert not losses.requires_grad
        self.log("epoch_loss", losses.mean())
        self.log("epoch_batches", float(len(outputs)))

    def validation_step(self, batch, batch_idx):
        x, y = batch
        if batch_idx == 0:
            return self.layer(x).mean(), y.mean()
        return self.layer(x).max(), y.max()

    def validation_epoch_end(self, outputs):
        if not outputs:
            return
        self.log("gap", sum(float(p - y) for p, y in outputs))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


class Plain(Regressor):
    """Inherits everything."""


class NoConstructor(LightningModule):
    def forward(self, x):
        return x * self.scale

    def setup(self, stage):
        self.scale = torch.nn.Parameter(torch.ones(1))

    def training_step(self, batch, batch_idx):
        return {"loss": F.mse_loss(self(batch[0]), batch[1].expand(-1, 3)), "size": len(batch[0])}

    def training_epoch_end(self, outputs):
        self.log("seen", float(sum(output["size"] for output in outputs)))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def loader():
    return DataLoader(TensorDataset(torch.randn(20, 3), torch.randn(20, 1)), batch_size=5)


if __name__ == "__main__":
    for model in (Plain(), NoConstructor()):
        trainer = Trainer(max_epochs=2)
        trainer.fit(model, loader(), loader() if isinstance(model, Plain) else None)
