"""TBP108 and a Trainer whose clipping is handed to the module and taken off again."""

from __future__ import annotations

import pytest

from tests.codemods.support import run_rules

TEXT = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    gradient_clip_val = 0.0

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.layer(batch).mean())
        optimizer.step()

    def on_before_optimizer_step(self, optimizer):
        self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    model = Model()
    settings = dict(max_epochs=1, gradient_clip_val=0.05)
    trainer = Trainer(BUILT)
    SET
    trainer.fit(model, None)
"""
TAKEN = "model.gradient_clip_val, trainer.gradient_clip_val = trainer.gradient_clip_val, None"


@pytest.mark.parametrize("built", ["**settings", "max_epochs=1, gradient_clip_val=0.05"])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (TAKEN, False),
        ("trainer.gradient_clip_val = None", False),
        ("model.gradient_clip_val = trainer.gradient_clip_val", True),
        ("model.gradient_clip_val = None", True),
        ("trainer.gradient_clip_val = 0.1", True),
    ],
)
def test_a_trainer_that_clips_no_more_is_not_refused(built: str, line: str, said: bool) -> None:
    text = TEXT.replace("BUILT", built).replace("SET", line)
    made = run_rules({"a.py": text, "requirements.txt": "pytorch-lightning==2.6.6\n"})
    assert ("TBP108" in [item.code for item in made.findings]) is said
