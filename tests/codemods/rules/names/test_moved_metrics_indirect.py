"""LIT001 beside MET001: a metric whose uses are written indirectly moves with them, or stays."""

from __future__ import annotations

from codemods.code.source import PythonFile
from codemods.engine.scan import Options, scan
from codemods.rules.metrics.met001 import judged
from codemods.rules.names.moved_metrics import use_levels
from tests.codemods.support import rewritten, rule, sources

MODEL = """\
import pytorch_lightning as pl
import torch
from pytorch_lightning.metrics import Accuracy
from torch.nn import functional as F


class Model(pl.LightningModule):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.train_acc = Accuracy()
        self.val_acc = Accuracy(compute_on_step=False)

    def forward(self, x):
        return self.layer(x)

    def shared_step(self, batch):
        x, y = batch
        logits = self.forward(x)
        loss = self.loss_fn(logits, y)
        return loss, logits, y

    def training_step(self, batch, batch_idx):
        loss, logits, y = self.shared_step(batch)
        self.log("acc", self.train_acc(logits, y))
        return loss

    def validation_step(self, batch, batch_idx):
        loss, logits, y = self.shared_step(batch)
        self.val_acc(logits, y)
        self.log("val_acc", self.val_acc)
        return loss

    def loss_fn(self, logits, labels):
        return F.cross_entropy(logits, labels)
"""
RULES = (rule("LIT001"), rule("MET001"))


def test_what_changes_in_several_places_of_a_normal_form_alone_is_no_reason_to_move() -> None:
    made = sources({"model.py": MODEL})
    facts, file = scan(made, Options(RULES)).facts, PythonFile.parse(made[0])
    assert use_levels(file, facts) == {"pl.metrics.Accuracy": "manual"}
    assert file.normal is not None
    assert [match.fix for match, _ in judged(file.normal, facts)] == ["safe", "safe"]
    assert use_levels(file.normal, facts) == {"pl.metrics.Accuracy": "manual"}


def test_the_name_moves_with_uses_that_are_rewritten() -> None:
    after = rewritten({"model.py": MODEL}, *RULES)["model.py"]
    assert "from torchmetrics.classification import MulticlassAccuracy\n" in after and " Accuracy" not in after
