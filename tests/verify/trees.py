"""Small projects of ours in two versions: as they were under Lightning 1.x, and as they should become."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests import warm
from verify.judging.record import RunRecord, read

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import pytorch_lightning as pl

"""

MODEL = """
class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 6, batch_first=True)
        self.head = nn.Linear(6, 1)
        {setup}

{step}

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr={rate})
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)]
"""

OLD_STEP = """
    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.lstm(x, hiddens)
        loss = nn.functional.mse_loss(self.head(out), y)
        self.log("train_loss", loss)
        return {"loss": loss, "hiddens": hiddens}
"""

NEW_STEP = """
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        hiddens = None
        for x, y in zip(*(part.split(3, dim=1) for part in batch)):
            out, hiddens = self.lstm(x, hiddens)
            loss = nn.functional.mse_loss(self.head(out), y)
            self.log("train_loss", loss)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
            hiddens = tuple(part.detach() for part in hiddens)

    def on_train_epoch_end(self):
        self.lr_schedulers().step()
"""

RUN = """
def main():
    x = torch.rand(12, 8, 2)
    loader = DataLoader(TensorDataset(x, x.sum(-1, keepdim=True)), batch_size=4, shuffle=True, num_workers=1)
    trainer = pl.Trainer(max_epochs=3{more})
    trainer.fit(Model(), loader)


if __name__ == "__main__":
    main()
"""

OLD = HEAD + MODEL.format(setup="self.truncated_bptt_steps = 3", step=OLD_STEP, rate=0.01) + RUN.format(more="")
NEW = HEAD + MODEL.format(setup="self.automatic_optimization = False", step=NEW_STEP, rate=0.01) + RUN.format(more="")

RANDOM = (
    HEAD
    + """
import random
import numpy as np
from pytorch_lightning.callbacks import LearningRateMonitor, ModelCheckpoint


class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        noise = torch.from_numpy(np.random.rand(4)).float()
        return torch.full((4,), index / 32) + torch.randn(4) + random.random() + noise


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))

    def training_step(self, batch, batch_idx):
        loss = (self.net(batch + torch.rand_like(batch)) - 1).pow(2).mean()
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", (self.net(batch) - 1).pow(2).mean())

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.net(batch).mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


pl.seed_everything(1)
callbacks = [ModelCheckpoint(monitor="val_loss"), LearningRateMonitor()]
trainer = pl.Trainer(max_epochs=9, gradient_clip_val=0.5, accumulate_grad_batches=3, callbacks=callbacks)
train, val = DataLoader(Noisy(), 4, shuffle=True, num_workers=2), DataLoader(Noisy(), 4, True)
trainer.fit(Model(), train, val)
trainer.test(ckpt_path="best", dataloaders=val)
"""
)


def tree(folder: Path, **files: str) -> Path:
    """A folder with these Python files."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def watched(project: Path, script: str, functions: Sequence[str] = ()) -> RunRecord:
    """What the harness records of a script of a project, and of calls of some functions, on the Lightning that is
    here."""
    record, spec = project.parent / "record.jsonl", project.parent / "spec.json"
    asked = {
        "mode": "train", "script": script, "args": [], "module": None, "namespaces": ["lightning.pytorch"], "seed": 1,
        "seconds": 100, "record": str(record), "scratch": str(project.parent),
        "functions": functions,
    }  # fmt: skip
    spec.write_text(json.dumps(asked))
    done = warm.run(spec, project)
    assert done.returncode == 0, done.stdout
    return read(record, script)
