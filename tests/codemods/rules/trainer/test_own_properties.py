"""LIT120: properties of Trainer that a class below it sets on itself."""

from __future__ import annotations

import pytest
from lightning.pytorch import Trainer

from codemods.rules.trainer.lit120 import rows
from tests.codemods.support import refusals, rule, run_rules

TEXT = """\
from pytorch_lightning import Callback, Trainer


class Mine(Trainer):
    def __init__(self, config):
        self.checkpoint_callback = config.save
        super().__init__(max_epochs=config.epochs)
"""


@pytest.mark.parametrize("name", [row.attribute for row in rows().values() if row.action == "set"])
def test_the_newest_has_them_and_lets_none_be_set(name: str) -> None:
    assert getattr(Trainer, name).fset is None


@pytest.mark.parametrize("name", ["checkpoint_callback", "max_epochs"])
def test_what_a_subclass_sets_is_named(name: str) -> None:
    [reason] = refusals({"a.py": TEXT.replace("checkpoint_callback", name)}, "LIT120")
    assert "keep the value by a name that Trainer does not have" in reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mine(Trainer)", "Mine(Callback)"),
        ("Mine(Trainer)", "Mine(Other)"),
        ("self.checkpoint_callback", "self.saver"),
        ("self.checkpoint_callback", "config.checkpoint_callback"),
        ("self.checkpoint_callback = config.save", "save = self.checkpoint_callback"),
    ],
)
def test_nothing_is_said_of_other_things(old: str, new: str) -> None:
    assert run_rules({"a.py": TEXT.replace(old, new)}, rule("LIT120")).findings == ()
