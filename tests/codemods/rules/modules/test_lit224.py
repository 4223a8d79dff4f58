"""LIT224: what it names, and what it leaves alone."""

from __future__ import annotations

import pytest

from codemods.rules.modules.lit224 import RIGHT, TAKES
from tests.codemods.support import rule, run_rules

HEAD = "from lightning.pytorch import LightningModule\n\n\nclass Model(LightningModule):\n"


def rows(text: str) -> list[str | None]:
    return [finding.row for finding in run_rules({"a.py": text}, rule("LIT224")).findings]


def test_the_signature_and_what_next_gives_are_named() -> None:
    assert rows(TAKES) == ["M318", "M322"]


def test_parameters_of_the_trainers_model_are_named() -> None:
    assert rows(
        HEAD + "    def configure_optimizers(self):\n        return Adam(self.trainer.model.parameters())\n"
    ) == ["M308"]


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        TAKES.replace("(LightningModule)", ""),
        HEAD + "    def configure_optimizers(self):\n        return Adam(self.parameters())\n",
        HEAD + "    def training_step(self, batch, batch_idx):\n        return next(batch)\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert rows(text) == []
