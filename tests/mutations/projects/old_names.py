import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import Callback
from pytorch_lightning.utilities.distributed import rank_zero_only
from pytorch_lightning.utilities.seed import seed_everything
from torch.utils.data import DataLoader, TensorDataset


class Counter(Callback):
    """Counts batches."""

    def __init__(self):
        self.count = 0

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.count += 1
        pl_module.log("count", float(self.count))


class Regressor(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        self.log("root", float(self.trainer.is_global_zero))
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


@rank_zero_only
def halved(model):
    with torch.no_grad():
        model.layer.weight /= 2


def main():
    seed_everything(7)
    model = Regressor()
    halved(model)
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    Trainer(max_epochs=2, callbacks=[Counter()]).fit(model, DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
