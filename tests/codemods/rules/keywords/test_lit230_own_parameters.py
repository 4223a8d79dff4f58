"""LIT230: classes whose constructor has the old keyword itself, beside what it hands on."""

from __future__ import annotations

import pytest
from lightning.pytorch.callbacks import ModelCheckpoint

from tests.codemods.support import rewritten, rule, run_rules

TEXT = """\
from pytorch_lightning.callbacks import ModelCheckpoint


class Mine(ModelCheckpoint):
    def __init__(self, period=1, **kwargs):
        super().__init__(period=period, **kwargs)


made = Mine(period=3)
"""


@pytest.mark.parametrize("given", ["period=3", "period=3, verbose=True"])
def test_the_class_alone_is_rewritten(given: str) -> None:
    text = TEXT.replace("period=3", given)
    after = rewritten({"a.py": text}, rule("LIT230"))["a.py"]
    assert after == text.replace("(period=period", "(every_n_epochs=period")
    assert run_rules({"a.py": after}, rule("LIT230")).findings == ()
    space: dict[str, ModelCheckpoint] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), space)
    assert space["made"]._every_n_epochs == 3


def test_a_class_that_hands_all_on_is_called_by_the_new_keyword() -> None:
    text = TEXT.replace("period=1, ", "").replace("period=period, ", "")
    assert rewritten({"a.py": text}, rule("LIT230"))["a.py"] == text.replace("period=3", "every_n_epochs=3")


def test_a_trainer_of_the_project_is_left_so_too() -> None:
    text = TEXT.replace(".callbacks import ModelCheckpoint", " import Trainer").replace("ModelCheckpoint", "Trainer")
    text = text.replace("period=1", "checkpoint_callback=True").replace("period=3", "checkpoint_callback=False")
    text = text.replace("period=period", "checkpoint_callback=checkpoint_callback")
    assert "made = Mine(checkpoint_callback=False)" in rewritten({"a.py": text}, rule("LIT110"))["a.py"]
