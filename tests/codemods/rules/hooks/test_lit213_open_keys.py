"""LIT213: what is returned beside a dict of which not all keys are written out, and which may have the same ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pytorch_lightning import Trainer
from torch.utils.data import DataLoader, TensorDataset

from tests.codemods.support import refusals, rewritten, rule

LIT = rule("LIT213")
TEXT = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        logs = {{}}
        for key in outputs[0]:
            logs[key] = torch.stack([x[key] for x in outputs]).mean()
        total = sum(logs.values())
        return {returned}
"""
ALONE = 'self.log("val_loss", {}, logger=False)'


def after(returned: str) -> str:
    made = rewritten({"a.py": TEXT.format(returned=returned)}, LIT, unsafe=True)["a.py"]
    head, _, rest = made.partition("        total = sum(logs.values())\n")
    assert head
    return rest


@pytest.mark.parametrize(
    ("returned", "wanted"),
    [
        (
            '{"val_loss": total, "log": logs}',
            f'if "val_loss" not in logs:\n            {ALONE.format("total")}\n        self.log_dict(logs)\n',
        ),
        (
            '{"val_loss": logs["loss"], "log": logs, "progress_bar": logs}',
            f'if "val_loss" not in logs:\n            {ALONE.format("""logs["loss"]""")}\n'
            "        self.log_dict(logs, prog_bar=True)\n",
        ),
        ('{"val_loss": logs["val_loss"], "log": logs}', "self.log_dict(logs)\n"),
        (
            '{"val_loss": total, "log": {"a": total}}',
            f'{ALONE.format("total")}\n        self.log_dict({{"a": total}})\n',
        ),
        ('{"log": logs}', "self.log_dict(logs)\n"),
    ],
)
def test_what_callbacks_alone_are_for_is_logged_once(returned: str, wanted: str) -> None:
    monitor = f"{returned}\n\n\nMONITOR = dict(monitor='val_loss')"
    assert after(monitor).startswith(f"        {wanted}")


def test_a_dict_that_takes_in_others_stays() -> None:
    returned = '{"val_loss": total, "log": {**logs, "a": total}}\n\n\nMONITOR = dict(monitor="val_loss")'
    (why,) = refusals({"a.py": TEXT.format(returned=returned)}, "LIT213", unsafe=True)
    assert "may have one of the other keys too" in why


@pytest.mark.parametrize("key", ["val_loss", "loss"])
def test_the_newest_lightning_takes_what_is_logged(key: str) -> None:
    """Run on the newest release, which refuses a name that is logged twice in two ways."""
    text = TEXT.format(returned='{"val_loss": total, "log": logs}\n\n\nMONITOR = dict(monitor="val_loss")')
    space: dict[str, Any] = {}
    exec(rewritten({"a.py": text}, LIT, unsafe=True)["a.py"].replace("def validation_epoch_end(", "def ended("), space)

    class Model(space["Model"]):  # type: ignore[misc]
        def validation_step(self, batch: Any, batch_idx: int) -> None:
            self.outputs = [{key: torch.ones(())}]

        def on_validation_epoch_end(self) -> None:
            self.ended(self.outputs)

    trainer = Trainer(
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
        accelerator="cpu",
    )
    trainer.validate(Model(), DataLoader(TensorDataset(torch.ones(2, 2))), verbose=False)
    assert trainer.callback_metrics.keys() == {"val_loss", key}
    assert trainer.logged_metrics.keys() == {key}
