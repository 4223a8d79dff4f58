"""LIT251: `load_checkpoint` that does not take `weights_only=`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.demos.boring_classes import BoringModel

from tests.codemods.support import refusals, rewritten, rule, run_rules

PLAIN = """\
import torch
from lightning.pytorch.plugins.io import TorchCheckpointIO


class Plain(TorchCheckpointIO):
    def load_checkpoint(self, path):
        return torch.load(path, weights_only=True)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(self, path):", "(self, path, weights_only=None):"),
        ("(\n        self,\n        path,\n    ):", None),
        (
            "(self, path: str, map_location=None) -> dict:",
            "(self, path: str, map_location=None, weights_only=None) -> dict:",
        ),
    ],
)
def test_the_argument_is_taken(old: str, new: str | None) -> None:
    text = PLAIN.replace("(self, path):", old)
    after = rewritten({"a.py": text}, rule("LIT251"))["a.py"]
    assert "weights_only=None" in after and (new is None or after == text.replace(old, new))
    assert rewritten({"a.py": after}, rule("LIT251"))["a.py"] == after


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("(self, path):", "(self, path, weights_only=None):"),
        PLAIN.replace("(self, path):", "(self, path, **more):"),
        PLAIN.replace("TorchCheckpointIO", "Reader"),
        PLAIN.replace("Plain(TorchCheckpointIO)", "Plain"),
        PLAIN.replace("def load_checkpoint", "def load"),
    ],
)
def test_left_alone(text: str) -> None:
    assert run_rules({"a.py": text}, rule("LIT251")).findings == ()


def test_a_strategy_of_the_project_and_unusual_parameters() -> None:
    text = "from pytorch_lightning.strategies import DDPStrategy\n\n\nclass Mine(DDPStrategy):\n"
    text += "    def load_checkpoint(self, *paths):\n        return {}\n"
    assert "weights_only=None" in refusals({"a.py": text}, "LIT251")[0]


def test_a_name_that_it_reads_already_stays_that_one() -> None:
    text = PLAIN.replace("weights_only=True", "weights_only=weights_only")
    assert text != PLAIN and refusals({"a.py": text}, "LIT251")


def test_resuming_fails_without_it(tmp_path: Path) -> None:
    def fit(text: str, path: str | None) -> Trainer:
        names: dict[str, Any] = {}
        exec(text, names)
        trainer = Trainer(
            accelerator="cpu", max_steps=1 if path is None else 2, limit_val_batches=0, logger=False,
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
            plugins=[names["Plain"]()],
        )  # fmt: skip
        trainer.fit(BoringModel(), ckpt_path=path)
        return trainer

    kept = str(tmp_path / "kept.ckpt")
    fit(PLAIN, None).save_checkpoint(kept)
    with pytest.raises(TypeError, match="weights_only"):
        fit(PLAIN, kept)
    assert fit(rewritten({"a.py": PLAIN}, rule("LIT251"))["a.py"], kept).global_step == 2
