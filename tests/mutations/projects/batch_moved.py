import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    """Moves its batches by itself, with the arguments that the hook got before 1.6."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def transfer_batch_to_device(self, batch, device):
        return [part.to(device) for part in batch]

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    pl.Trainer(max_epochs=2).fit(Regressor(), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
