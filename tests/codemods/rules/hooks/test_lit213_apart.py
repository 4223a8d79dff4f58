"""LIT213: results of training steps, in classes that read `log` of what they validate."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule

MODEL = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch)
        logs = {"loss": loss.detach()}
        return {"loss": loss, "log": logs}

    def validation_step(self, batch, batch_idx):
        return {"log": {"error": self(batch)}}

    def validation_epoch_end(self, outputs):
        print([x["log"]["error"] for x in outputs])
"""
ASKED = "def training_step_end(self, outputs):\n        print(outputs['log'])\n        return outputs"


@pytest.mark.parametrize(
    ("old", "new", "goes"),
    [
        ("print", "print", True),
        ("def validation_epoch_end", "def on_validation_epoch_end", True),
        ("def validation_epoch_end", "def training_epoch_end", False),
        ("def validation_epoch_end", "def mean", False),
        ('return {"log": {"error": self(batch)}}', "return self.training_step(batch, batch_idx)", False),
        ("def validation_step", ASKED + "\n\n    def validation_step", False),
    ],
)
def test_what_is_read_of_validation_is_none_of_training(old: str, new: str, goes: bool) -> None:
    assert old in MODEL
    after = rewritten({"a.py": MODEL.replace(old, new)}, rule("LIT213"), unsafe=True)["a.py"]
    assert "self.log_dict(logs)" in after
    assert ('return {"loss": loss}' in after) is goes
