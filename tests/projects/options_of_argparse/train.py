from argparse import ArgumentParser

import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Regressor(LightningModule):
    """Its Trainer is built of what the command line says."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.layer = torch.nn.Linear(3, 1)

    @staticmethod
    def add_model_specific_args(parent_parser):
        parser = ArgumentParser(parents=[parent_parser], add_help=False)
        parser.add_argument("--rate", type=float, default=0.1)
        return parser

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.rate)


def main():
    parser = ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    parser = Regressor.add_model_specific_args(parser)
    parser.set_defaults(max_epochs=2, accumulate_grad_batches=2)
    args = parser.parse_args()
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    Trainer.from_argparse_args(args).fit(Regressor(args.rate), DataLoader(data, batch_size=3))


if __name__ == "__main__":
    main()
