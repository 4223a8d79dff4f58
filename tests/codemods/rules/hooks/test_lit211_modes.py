"""LIT211: `on_epoch_start` of a module that keeps parts of it in evaluation mode."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

MODEL = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return self(batch)

    def validation_step(self, batch, batch_idx):
        self.log("error", self(batch))

    def on_epoch_start(self):
        self.first.eval()
        self.net.second.eval()
"""


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("Model(", "Model(", "safe"),
        ("self.first.eval()", "self.eval()", "unsafe"),
        ("self.first.eval()", "self.first.train()", "unsafe"),
        ("self.first.eval()", "print(self.current_epoch)", "unsafe"),
        ("self.first.eval()", "part.eval()", "unsafe"),
        ("on_epoch_start", "on_epoch_end", "unsafe"),
        ("    def validation", "    def on_validation_model_eval(self):\n        pass\n\n    def validation", "unsafe"),
        ("    def validation", "    def train(self, mode=True):\n        return self\n\n    def validation", "unsafe"),
    ],
)
def test_parts_that_are_kept_in_evaluation_mode(old: str, new: str, level: str) -> None:
    [finding] = run_rules({"a.py": MODEL.replace(old, new)}, rule("LIT211"), unsafe=True).findings
    assert finding.fix == level, finding.reason
