"""LIT210: hooks that cannot be called with what they are given."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.demos.boring_classes import BoringModel

from codemods.rules.hooks.unfit import OF_CALLBACKS, OF_MODULES
from tests.codemods.support import refusals, rule, run_rules


@pytest.mark.parametrize(("owner", "table"), [(Callback, OF_CALLBACKS), (LightningModule, OF_MODULES)])
def test_the_newest_release_gives_what_the_table_says(owner: type, table: dict[str, tuple[str, ...]]) -> None:
    for name, given in table.items():
        assert list(inspect.signature(getattr(owner, name)).parameters)[1:] == [*given], name


HEAD = "from pytorch_lightning import Callback, LightningModule\n\n\nclass Own({}):\n    {}\n        print('called')\n"


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ("Callback", "def on_validation_epoch_end(self, trainer, pl_module, outputs):", "requires `outputs`"),
        ("Callback", "def on_fit_start(self, trainer):", "is given `pl_module`"),
        ("Callback", "def on_load_checkpoint(self, checkpointed_state):", "is given `pl_module`, `checkpoint`"),
        ("Callback", "def on_train_end(self, trainer, pl_module, *, mark):", "requires `mark`"),
        ("LightningModule", "def on_before_zero_grad(self):", "is given `optimizer`"),
        ("LightningModule", "def on_load_checkpoint(self):", "is given `checkpoint`"),
    ],
)
def test_a_hook_that_its_call_does_not_fit_is_named(base: str, head: str, said: str) -> None:
    made = run_rules({"a.py": HEAD.format(base, head)}, rule("LIT210"))
    assert [said in each.message for each in made.findings] == [True]
    (reason,) = refusals({"a.py": HEAD.format(base, head)}, "LIT210")
    assert "the call fails. Write `def on_" in reason


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("Callback", "def on_validation_epoch_end(self, trainer, pl_module, outputs=None):"),
        ("Callback", "def on_fit_start(self, *given):"),
        ("Callback", "def on_train_end(self, trainer, pl_module):"),
        ("Callback", "@adapted\n    def on_train_end(self, trainer):"),
        ("Callback", "@staticmethod\n    def on_train_end(trainer, pl_module):"),
        ("LightningModule", "def on_before_zero_grad(self, optimizer):"),
        ("object", "def on_fit_start(self, trainer):"),
    ],
)
def test_what_its_call_fits_is_not_spoken_of(base: str, head: str) -> None:
    assert run_rules({"a.py": HEAD.format(base, head)}, rule("LIT210")).findings == ()


def test_such_a_hook_fails_in_the_newest_release() -> None:
    class Own(Callback):
        def on_fit_start(self, trainer: Trainer) -> None:  # type: ignore[override]
            pass

    options = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "accelerator": "cpu"}
    with pytest.raises(TypeError, match="on_fit_start"):
        Trainer(callbacks=[Own()], max_steps=1, **options).fit(BoringModel())  # type: ignore[arg-type]
