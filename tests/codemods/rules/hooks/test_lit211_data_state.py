"""LIT211: what a data module put into checkpoints, and took from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.demos.boring_classes import BoringModel

from tests.codemods.support import rewritten, rule, run_rules

LIT = rule("LIT211")
SAVE = '''\
    def on_save_checkpoint(self, checkpoint: dict) -> None:
        """All that it has seen."""
        checkpoint["seen"] = self.seen
'''
LOAD = """\

    def on_load_checkpoint(self, checkpoint: dict) -> None:
        self.seen = checkpoint["seen"]
"""
HEAD = """\
import torch
from lightning.pytorch import LightningDataModule


class Data(LightningDataModule):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(2, 32))

"""
AFTER = (
    HEAD
    + '''\
    def state_dict(self) -> dict:
        """All that it has seen."""
        checkpoint = {}
        checkpoint["seen"] = self.seen
        return checkpoint

    def load_state_dict(self, checkpoint: dict) -> None:
        self.seen = checkpoint["seen"]
'''
)


def levels(text: str, **files: str) -> list[str]:
    given = {"a.py": text, **{f"{name}.py": more for name, more in files.items()}}
    return [found.fix for found in run_rules(given, LIT).findings if found.path == "a.py"]


def test_they_give_and_take_the_state() -> None:
    assert levels(HEAD + SAVE + LOAD) == ["unsafe", "unsafe"]
    assert rewritten({"a.py": HEAD + SAVE + LOAD}, LIT, unsafe=True)["a.py"] == AFTER
    assert levels(AFTER) == []
    assert levels(HEAD + SAVE) == ["unsafe"]


def test_a_later_run_takes_what_an_earlier_one_gave(tmp_path: Path) -> None:
    space: dict[str, type] = {}
    exec(AFTER, space)
    how: dict[str, Any] = {
        "accelerator": "cpu",
        "logger": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    how |= {"enable_checkpointing": False, "limit_val_batches": 0}
    first, second = space["Data"](), space["Data"]()
    first.seen = 7
    trainer = Trainer(max_epochs=1, **how)
    trainer.fit(BoringModel(), datamodule=first)
    trainer.save_checkpoint(tmp_path / "last.ckpt")
    Trainer(max_epochs=2, **how).fit(BoringModel(), datamodule=second, ckpt_path=tmp_path / "last.ckpt")
    assert second.seen == 7


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('checkpoint["seen"] = self.seen', 'checkpoint["seen"] = checkpoint["epoch"]'),
        ('checkpoint["seen"] = self.seen', "checkpoint.update(seen=self.seen)"),
        ('checkpoint["seen"] = self.seen', 'checkpoint["seen"] += self.seen'),
        ('checkpoint["seen"] = self.seen', 'if self.seen:\n            return\n        checkpoint["seen"] = 1'),
        ('checkpoint["seen"] = self.seen', 'super().on_save_checkpoint(checkpoint)\n        checkpoint["seen"] = 1'),
        ('self.seen = checkpoint["seen"]', 'self.seen = checkpoint["epoch"]'),
        ('self.seen = checkpoint["seen"]', "self.__dict__.update(checkpoint)"),
        ("on_load_checkpoint(self, checkpoint: dict)", "on_load_checkpoint(self, *given)"),
        ("        return torch", "        print(self.on_save_checkpoint)\n        return torch"),
        ("    def train_dataloader", "    def state_dict(self):\n        return {}\n\n    def train_dataloader"),
        ('checkpoint["seen"] = self.seen', "pass"),
        (SAVE, ""),
    ],
    ids=["reads it", "updates it", "adds", "ends early", "base class", "of others", "all of it", "star", "by name",
         "has a state", "gives nothing", "takes alone"],
)  # fmt: skip
def test_what_is_not_a_state_of_its_own_is_left(old: str, new: str) -> None:
    text = (HEAD + SAVE + LOAD).replace(old, new)
    assert text != HEAD + SAVE + LOAD
    assert set(levels(text)) == {"manual"}


def test_a_relative_with_a_hook_is_left() -> None:
    child = "from a import Data\n\n\nclass Child(Data):\n    def on_load_checkpoint(self, checkpoint):\n        ...\n"
    assert levels(HEAD + SAVE + LOAD, child=child) == ["manual", "manual"]
