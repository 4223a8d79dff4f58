import torch
import pytorch_lightning as pl
from torch.utils.data import DataLoader, TensorDataset

from model import Forecaster

if __name__ == "__main__":
    pl.seed_everything(7)
    data = TensorDataset(torch.randn(24, 11, 2), torch.randn(24, 11, 1))
    trainer = pl.Trainer(
        gpus=None,
        max_epochs=2,
        gradient_clip_val=0.01,
        gradient_clip_algorithm="value",
    )
    trainer.fit(Forecaster(), DataLoader(data, batch_size=6, shuffle=True))
