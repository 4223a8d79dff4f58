"""Requirements beside rewrites that an old Lightning would run, but otherwise: it calls the end of a step as well."""

from __future__ import annotations

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.pins.pin001 import RULE as PINS
from fixer.files import kind_of
from tests.codemods.support import rule
from tests.training import train

MODEL = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.seen = torch.nn.Linear(2, 1), []

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def training_step_end(self, output):
        self.seen.append(batch_end(self.trainer))
        return output * 2

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def batch_end(trainer):
    return trainer.global_step


def main():
    model = Model()
    trainer = Trainer(
        max_steps=2, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(model, torch.utils.data.DataLoader(torch.ones(2, 2)))
    return model.seen
"""
LEFT = MODEL.replace("trainer.global_step", "trainer.reset_val_dataloader()")
"""The same with a place that waits for a person, for which a requirement that is old enough stays."""
BELOW = LEFT.replace("    def training_step(self", "    def unused(self") + (
    "\n\nclass Child(Model):\n    def training_step(self, batch, batch_idx):\n        return self.layer(batch).mean()\n"
)


def planned(text: str, pin: str) -> Plan:
    files = {"train.py": text, "requirements.txt": f"torch==2.3.1\n{pin}\n"}
    sources = [Source(path, kind_of(path) or "other", each.encode()) for path, each in files.items()]
    return plan(sources, Options((rule("LIT211"), rule("LIT120"), PINS)))


@pytest.mark.parametrize("text", [LEFT, BELOW])
@pytest.mark.parametrize("pin", ["pytorch-lightning==1.9.5", "pytorch-lightning", "pytorch-lightning>=1.5"])
def test_a_release_that_calls_the_end_too_is_required_no_more(text: str, pin: str) -> None:
    made = planned(text, pin).final()
    assert b"return self.training_step_end(" in made["train.py"]
    assert b"lightning==2.6.6" in made["requirements.txt"] or b"lightning>=2.0" in made["requirements.txt"]


def test_a_release_that_does_not_call_it_stays() -> None:
    assert "requirements.txt" not in planned(LEFT, "pytorch-lightning==2.0.9").final()
    other = LEFT.replace("training_step_end", "on_before_zero_grad")
    assert "requirements.txt" not in planned(other, "pytorch-lightning==1.9.5").final()


def test_the_old_release_calls_it_a_second_time() -> None:
    after = planned(MODEL, "pytorch-lightning==1.9.5").final()["train.py"].decode()
    old = train({"train.py": after}, on="1.9.5", script=None, module="train", function="main")
    new = train({"train.py": after}, script=None, module="train", function="main")
    assert (old.returned, new.returned) == ([0, 0, 1, 1], [0, 1])
