"""LIT211 in classes below Lightning's own callbacks, whose hooks a rename would hide."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from lightning.pytorch import Callback, callbacks

from codemods.lightning.facts import CALLBACK
from codemods.rules.hooks.lightnings_callbacks import HAVING, KNOWN
from codemods.rules.hooks.removed_hooks import HOOKS
from tests.codemods.support import refusals, rewritten, rule, run_rules


def test_the_table_is_what_lightning_has() -> None:
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(callbacks.__path__, f"{callbacks.__name__}.")
    ]
    every = {
        kind for each in modules for _, kind in inspect.getmembers(each, inspect.isclass) if issubclass(kind, Callback)
    }
    for hook in {each.new for each in HOOKS.values() if CALLBACK in each.kinds and each.new}:
        having = {kind.__name__ for kind in every if getattr(kind, hook) is not getattr(Callback, hook)}
        assert having == HAVING.get(hook, frozenset()), hook
    assert {kind.__name__ for kind in every} <= KNOWN


TEXT = """\
import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback, ModelCheckpoint, TQDMProgressBar


class Watch({base}):
    def {hook}(self, trainer, pl_module):
        print("here")
"""


@pytest.mark.parametrize(
    ("base", "hook", "new"),
    [
        ("ModelCheckpoint", "on_batch_end", "on_train_batch_end"),
        ("TQDMProgressBar", "on_epoch_start", "on_train_epoch_start"),
        ("pl.callbacks.StochasticWeightAveraging", "on_pretrain_routine_start", "on_fit_start"),
        ("pl.callbacks.GoneLongAgo", "on_batch_start", "on_train_batch_start"),
    ],
)
def test_a_hook_of_the_base_is_not_hidden(base: str, hook: str, new: str) -> None:
    text = TEXT.format(base=base, hook=hook)
    assert run_rules({"a.py": text}, rule("LIT211"), unsafe=True).changes == ()
    [reason] = refusals({"a.py": text}, "LIT211")
    assert f"has {new} of its own, which is to be called by super() in it" in reason


def test_what_the_base_leaves_is_renamed() -> None:
    text = TEXT.format(base="ModelCheckpoint", hook="on_batch_start")
    assert "def on_train_batch_start(self" in rewritten({"a.py": text}, rule("LIT211"), unsafe=True)["a.py"]
    below = TEXT.format(base="Callback", hook="on_batch_end")
    assert "def on_train_batch_end(self" in rewritten({"a.py": below}, rule("LIT211"), unsafe=True)["a.py"]


def test_a_hook_of_a_base_further_up_is_not_hidden() -> None:
    text = TEXT.format(base="Bar", hook="on_epoch_start").replace(
        "class Watch", "class Bar(TQDMProgressBar):\n    pass\n\n\nclass Watch"
    )
    assert run_rules({"a.py": text}, rule("LIT211"), unsafe=True).changes == ()
