"""LIT228: run on the newest release, and what watches something, or is none of these."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from lightning.pytorch import Trainer
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from codemods.rules.modules.lit228 import RULE
from tests.codemods.support import rewritten, run_rules

HEAD = """\
import torch
from lightning.pytorch import LightningModule
from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        {}

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.layer(batch).sum())

    def configure_optimizers(self):
        one = torch.optim.SGD(self.parameters(), lr=0.1)
        plateau = ReduceLROnPlateau(one)
"""
WATCH = '"monitor": "val_loss"'


def returning(text: str, init: str = "pass") -> str:
    return HEAD.format(init) + "".join(f"        {line}\n" for line in text.split("\n"))


def trained(text: str) -> None:
    space: dict[str, Any] = {}
    exec(text, space)
    trainer = Trainer(
        max_epochs=1, limit_train_batches=1, limit_val_batches=1, accelerator="cpu", logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    loader = torch.utils.data.DataLoader(torch.ones(2, 1))
    trainer.fit(space["Model"](), loader, loader)


CASES = {
    "return [one], [plateau]": f'return [one], [{{"scheduler": plateau, {WATCH}}}]',
    "return [one], [ReduceLROnPlateau(one)]": f'return [one], [{{"scheduler": ReduceLROnPlateau(one), {WATCH}}}]',
    "return [one], [{'scheduler': plateau}]": f"return [one], [{{'scheduler': plateau, {WATCH}}}]",
    "return {'optimizer': one, 'lr_scheduler': plateau}":
        f"return {{'optimizer': one, 'lr_scheduler': {{\"scheduler\": plateau, {WATCH}}}}}",
    "return [one], [{'scheduler': (plateau)}]": f"return [one], [{{'scheduler': (plateau), {WATCH}}}]",
    "return [one], [{'scheduler': (\n    plateau\n)}]": f"return [one], [{{'scheduler': (\n    plateau\n), {WATCH}}}]",
    "all = [plateau]\nreturn [one], all": f'all = [{{"scheduler": plateau, {WATCH}}}]\nreturn [one], all',
    "how = {\n    'scheduler': plateau,\n    'interval': 'epoch',  # each\n}\nreturn [one], [how]":
        f"how = {{\n    'scheduler': plateau,\n    'interval': 'epoch', {WATCH},  # each\n}}\nreturn [one], [how]",
}  # fmt: skip


@pytest.mark.parametrize("before", CASES)
def test_what_watches_nothing_watches_the_loss(before: str) -> None:
    text = returning(before)
    (found,) = run_rules({"a.py": text}, RULE).findings
    assert found.fix == "unsafe"
    after = rewritten({"a.py": text}, RULE, unsafe=True)["a.py"]
    assert after == returning(CASES[before])
    with pytest.raises(MisconfigurationException, match="must include a monitor"):
        trained(text)
    trained(after)


@pytest.mark.parametrize(("pin", "level"), [("0.9.0", "safe"), ("1.4.0", "unsafe")])
def test_it_is_what_the_old_release_did(pin: str, level: str) -> None:
    made = run_rules({"a.py": returning("return [one], [plateau]")}, RULE, pins=(f"pytorch-lightning=={pin}",))
    assert [item.fix for item in made.findings] == [level]


@pytest.mark.parametrize(
    "text",
    [
        returning("return one"),
        returning("return [one], [{(1, [2]): plateau}]"),
        returning("return [one], [StepLR(one, 1)]"),
        returning("return [one], [{'scheduler': plateau, 'monitor': 'loss'}]"),
        returning("return {'optimizer': one, 'lr_scheduler': plateau, 'monitor': 'loss'}"),
        returning("return {'optimizer': one, 'lr_scheduler': {'scheduler': plateau, 'monitor': 'loss'}}"),
        returning("return [one], [{'scheduler': plateau, **self.how}]"),
        returning("how = {'scheduler': plateau}\nhow['monitor'] = 'loss'\nreturn [one], [how]"),
        returning("if self.layer:\n    plateau = StepLR(one, 1)\nreturn [one], [plateau]"),
        returning("return [one, one], [one, plateau.best]"),
        returning("return [one], [plateau]", "self.automatic_optimization = False"),
        returning("return [one], [plateau]").replace("(LightningModule)", "(torch.nn.Module)"),
        returning("return [one], [plateau]").replace("configure_optimizers", "configured"),
    ],
)
def test_what_stays(text: str) -> None:
    assert run_rules({"a.py": text}, RULE, unsafe=True).findings == ()
