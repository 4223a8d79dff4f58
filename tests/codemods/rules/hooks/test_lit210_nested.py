"""LIT210: outputs of a training batch that a hook takes for the lists of lists that they were."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules
from tests.training import train

LIT = rule("LIT210")
MODULE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def on_train_batch_end(self, outputs, batch, batch_idx, dataloader_idx):
        self.seen = outputs[0][0]["extra"]
"""
CALLBACK = """\
from pytorch_lightning import Callback


class Seeing(Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.seen = outputs[0]
"""


@pytest.mark.parametrize("text", [MODULE, CALLBACK, CALLBACK.replace("outputs", "out")])
def test_a_number_is_no_key_of_a_dict(text: str) -> None:
    [found] = [each for each in run_rules({"a.py": text}, LIT).findings if each.fix == "manual"]
    assert "since Lightning 1.3, and no list" in found.message
    assert '["loss"]`' in found.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("outputs[0]", 'outputs["loss"]'),
        ("outputs[0]", "batch[0]"),
        ("outputs[0]", "outputs[key]"),
        ("outputs[0]", "batch_idx[0]"),
        ("        self.seen", "        outputs = [outputs]\n        self.seen"),
        ("on_train_batch_end", "on_validation_batch_end"),
        ("(Callback)", ""),
    ],
)
def test_what_may_have_the_key_is_left(old: str, new: str) -> None:
    assert not [
        each for each in run_rules({"a.py": CALLBACK.replace(old, new)}, LIT).findings if "list" in each.message
    ]


def test_the_hook_gets_what_it_takes_all_the_same() -> None:
    after = rewritten({"a.py": MODULE}, LIT)["a.py"]
    assert after == MODULE.replace(", dataloader_idx", "")


PROGRAM = """\
import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).mean()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.seen = outputs[0]

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    Trainer(max_epochs=1, accelerator="cpu").fit(Model(), DataLoader(TensorDataset(torch.rand(4, 2))))
"""


def test_it_fails_there() -> None:
    failure = train({"train.py": PROGRAM}).failure
    assert failure is not None and (failure.type, failure.message) == ("KeyError", "0")
