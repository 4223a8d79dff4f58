"""Evaluation steps that say themselves that they run without gradients, as Lightning runs them anyway."""

from __future__ import annotations

import pytest

from tests.codemods.support import run_rules

STEP = """\
import torch
from pytorch_lightning import LightningModule


class Net(LightningModule):
    @{}
    def validation_step(self, batch, batch_idx):
        return {{"loss": batch.sum()}}
"""
END = """
    @{}
    def validation_step_end(self, parts):
        return parts["loss"]
"""
HOOK = """
    @torch.no_grad()
    def validation_epoch_end(self, outs):
        print(len(outs))
"""


def after(text: str) -> str:
    made = run_rules({"a.py": text})
    return made.final()["a.py"].decode() if made.changes else text


def test_the_step_keeps_what_it_returns() -> None:
    text = after(STEP.format("torch.no_grad()") + HOOK)
    assert "@torch.no_grad()\n    def validation_step(self, batch, batch_idx):\n        output = {" in text
    assert "@torch.no_grad()\n    def on_validation_epoch_end(self):" in text and "batch_end" not in text


def test_the_step_calls_its_end() -> None:
    text = after(STEP.format("torch.no_grad()") + END.format("torch.no_grad()") + HOOK)
    assert '        output = self.validation_step_end({"loss": batch.sum()})\n' in text
    assert "@torch.no_grad()\n    def validation_step_end(self, parts):" in text


@pytest.mark.parametrize(
    ("step", "end"),
    [
        ("torch.enable_grad()", "torch.no_grad()"),
        ("ours", "torch.no_grad()"),
        ("torch.no_grad()", "ours"),
        ("torch.no_grad()", "torch.inference_mode()"),
        ("staticmethod", "torch.no_grad()"),
    ],
)
def test_another_decorator_is_left(step: str, end: str) -> None:
    text = STEP.format(step) + END.format(end) + HOOK
    assert after(text) == text


def test_a_train_step_without_gradients_calls_nothing() -> None:
    text = (STEP.format("torch.no_grad()") + END.format("torch.no_grad()")).replace("validation", "training")
    assert "self.training_step_end(" not in after(text)
