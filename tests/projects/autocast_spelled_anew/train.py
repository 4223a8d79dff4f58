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
        with torch.cuda.amp.autocast(enabled=False):  # the loss in full precision
            loss = F.mse_loss(self.layer(x.float()), y.float())
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    Trainer(max_epochs=2, replace_sampler_ddp=False).fit(Regressor(), DataLoader(data, batch_size=3))
