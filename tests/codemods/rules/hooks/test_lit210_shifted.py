"""Hooks behind a batch, written for releases that gave them no outputs."""

from __future__ import annotations

import pytest

from codemods.rules.hooks.lit210 import RULE
from tests.codemods.support import run_rules

CALLBACK = """\
from pytorch_lightning import Callback


class Printing(Callback):
    def {hook}({given}):
        print({read})
"""
MODULE = CALLBACK.replace("import Callback", "import LightningModule").replace(
    "Printing(Callback)", "Model(LightningModule)"
)


def found(text: str) -> list[str]:
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.bugs == ()
    return [finding.message for finding in made.findings if "is what the step returned" in finding.message]


@pytest.mark.parametrize("hook", ["on_train_batch_end", "on_validation_batch_end", "on_test_batch_end"])
@pytest.mark.parametrize(
    ("names", "read"),
    [
        ("batch, batch_idx, dataloader_idx", "batch[0]"),
        ("batch, batch_idx, dataloader_idx", "1"),
        ("batch, batch_idx", "batch_idx"),
        ("batch, batch_nb, dl", "batch"),
        ("the_batch, i, j=0", "i"),
    ],
)
def test_a_hook_that_takes_the_batch_first_is_named(hook: str, names: str, read: str) -> None:
    text = CALLBACK.format(hook=hook, given=f"self, trainer, pl_module, {names}", read=read)
    (message,) = found(text)
    first, second = (part.split("=")[0].strip() for part in names.split(",")[:2])
    assert message == f"`{first}` of {hook} is what the step returned since Lightning 1.0, and `{second}` is the batch"
    assert run_rules({"train.py": text}, RULE, unsafe=True).final() == {}
    assert len(found(MODULE.format(hook=hook, given=f"self, {names}", read=read))) == 1


@pytest.mark.parametrize(
    ("hook", "names"),
    [
        ("on_train_batch_end", "outputs, batch, batch_idx"),
        ("on_train_batch_end", "outputs, batch, batch_idx, dataloader_idx"),
        ("on_train_batch_end", "batch_outputs, batch, batch_idx"),
        ("on_train_batch_end", "batch_output, index, x"),
        ("on_train_batch_end", "o, b, i"),
        ("on_train_batch_end", "*batch"),
        ("on_train_batch_start", "batch, batch_idx"),
        ("on_validation_batch_end", "outputs, batch, batch_idx, dataloader_idx=0"),
        ("on_predict_batch_end", "outputs, batch, batch_idx"),
        ("my_batch_end", "batch, batch_idx"),
    ],
)
def test_others_are_left_alone(hook: str, names: str) -> None:
    assert found(CALLBACK.format(hook=hook, given=f"self, trainer, pl_module, {names}", read="1")) == []
    assert found(MODULE.format(hook=hook, given=f"self, {names}", read="1")) == []


def test_a_class_of_the_projects_own_has_such_a_hook_for_itself() -> None:
    text = CALLBACK.format(hook="on_train_batch_end", given="self, trainer, pl_module, batch, batch_idx", read="batch")
    assert found(text.replace("from pytorch_lightning import Callback", "from own import Callback")) == []
