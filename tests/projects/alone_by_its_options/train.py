"""A script whose rows come from a package that its owner alone has; its module can be trained without."""

import argparse

import pytorch_lightning as pl
import torch
from rows_that_only_we_have import loader


class Judge(torch.nn.Module):
    def __init__(self, args):
        super().__init__()
        self.words = torch.nn.Embedding(args.words, args.width)
        self.head = torch.nn.Linear(args.width, args.kinds)

    def forward(self, sample):
        known = self.words(sample["input_ids"]) * sample["attention_mask"][..., None]
        return self.head(known.mean(1))


class Model(pl.LightningModule):
    def __init__(self, judge, args):
        super().__init__()
        assert isinstance(judge, Judge)
        self.judge, self.args = judge, args

    def training_step(self, batch, batch_idx):
        sample, kinds = batch[0], batch[-1]
        return torch.nn.functional.cross_entropy(self.judge(sample), kinds)

    def training_epoch_end(self, outputs):
        self.log("mean_loss", torch.stack([each["loss"] for each in outputs]).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.args.rate)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--width", type=int, default=6)
    parser.add_argument("--kinds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.25)
    args = parser.parse_args()
    trainer = pl.Trainer(max_epochs=2, gpus=0, logger=False, enable_checkpointing=False)
    trainer.fit(Model(Judge(args), args), loader("train"))
