"""Edits of methods that stand under a condition in their class."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule

MODEL = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    {init}

    def training_step(self, batch, batch_idx, optimizer_idx):
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return [torch.optim.SGD(self.a.parameters(), 0.1), torch.optim.SGD(self.b.parameters(), 0.1)]
"""
MADE = "if {test}:\n        def __init__(self):\n            super().__init__()\n"
OTHER = "    else:\n        def __init__(self):\n            super().__init__()\n"
FLAG = "automatic_optimization = False\n"


@pytest.mark.parametrize(
    ("init", "in_class"),
    [
        (MADE.format(test="asked"), True),
        (MADE.format(test="asked") + OTHER, True),
        ("if asked:\n        pass\n" + OTHER, True),
        (MADE.format(test="True"), False),
        ("if False:\n        pass\n" + OTHER, False),
    ],
)
def test_a_constructor_of_one_arm_is_not_the_class_s(init: str, in_class: bool) -> None:
    after = rewritten({"a.py": MODEL.format(init=init)}, rule("OPT001"))["a.py"]
    assert after.count(FLAG) == 1
    assert (f"\n    {FLAG}" in after) is in_class
    assert (f"\n            self.{FLAG}" in after) is not in_class


def test_a_second_step_under_a_condition_is_left_where_it_is() -> None:
    second = "    if asked:\n        def training_step(self, batch, batch_idx):\n            return 2\n"
    text = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
        "    def training_step(self, batch, batch_idx):\n        return 1\n\n"
        f"{second}\n    def training_epoch_end(self, outputs):\n        print(len(outputs))\n"
    )
    after = rewritten({"a.py": text}, rule("LIT201"))["a.py"]
    assert second in after
    assert "\n    def on_train_epoch_start(self):" in after or "self.training_step_outputs = []" in after
    assert "        def on_train" not in after
