"""LIT211: a module's own `configure_ddp`."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

WRAPPED = """\
import pytorch_lightning as pl
from pytorch_lightning.overrides.data_parallel import LightningDistributedDataParallel


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        return self(batch)

    def configure_ddp(self, model, device_ids):
        model = LightningDistributedDataParallel(model, device_ids=device_ids, find_unused_parameters=False)
        return model
"""
BOTH = rule("LIT001"), rule("LIT211")


@pytest.mark.parametrize(
    "text",
    [
        WRAPPED,
        WRAPPED.replace(", find_unused_parameters=False", ""),
        WRAPPED.replace("        model =", '        """Wraps it."""\n        model ='),
        WRAPPED.replace("model = L", "return L").replace("        return model\n", ""),
    ],
)
def test_what_ddp_does_by_itself_goes_with_its_import(text: str) -> None:
    after = rewritten({"a.py": text}, *BOTH)["a.py"]
    assert "DataParallel" not in after and "configure_ddp" not in after
    assert after.endswith("        return self(batch)\n")


KEPT = {
    "unused parameters": (("parameters=False", "parameters=True"), 'strategy="ddp_find_unused_parameters_true"'),
    "unused parameters by a name": (("parameters=False", "parameters=self.odd"), "your own DDPStrategy"),
    "another argument": (("find_unused_parameters=False", "broadcast_buffers=False"), "your own DDPStrategy"),
    "other arguments by **": (("find_unused_parameters=False", "**self.how"), "your own DDPStrategy"),
    "another wrapper": (("model = Light", "model = Own"), "your own DDPStrategy"),
    "another model": (("Parallel(model", "Parallel(self.net"), "your own DDPStrategy"),
    "something besides": (
        ("        return model", "        self.wrapped = model\n        return model"),
        "your own",
    ),
    "another result": (("        return model", "        return self"), "your own DDPStrategy"),
}


@pytest.mark.parametrize(("change", "why"), KEPT.values(), ids=KEPT.keys())
def test_what_asks_for_more_is_left(change: tuple[str, str], why: str) -> None:
    assert change[0] in WRAPPED
    [reason] = refusals({"a.py": WRAPPED.replace(*change)}, "LIT211")
    assert why in reason


def test_a_relative_that_wraps_too() -> None:
    below = "\n\nclass Other(Model):\n    def configure_ddp(self, model, device_ids):\n        return model\n"
    assert len(refusals({"a.py": WRAPPED + below}, "LIT211")) == 2
