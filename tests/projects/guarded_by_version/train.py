import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

OLD = int(pl.__version__.split(".")[0]) < 2
if pl.__version__[0] == "1":
    options = {"auto_select_gpus": False}
else:
    options = {"barebones": False}


class Regressor(pl.LightningModule):
    """Runs on both generations: what is for old releases is left as it is."""

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


def trainer():
    if OLD:
        return pl.Trainer(max_epochs=2, replace_sampler_ddp=False, **options)
    return pl.Trainer(max_epochs=2, use_distributed_sampler=False, **options)


if __name__ == "__main__":
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    trainer().fit(Regressor(), DataLoader(data, batch_size=3))
    pl.Trainer(max_epochs=1, multiple_trainloader_mode="max_size_cycle").fit(Regressor(), DataLoader(data, batch_size=4))
