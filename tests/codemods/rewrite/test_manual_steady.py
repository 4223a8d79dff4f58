"""What a scheduler's frequency or monitor is worked out from must not change before a loop works it out again."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

HEAD = """\
import torch
from pytorch_lightning import LightningModule
"""
MODULE = """\
class Gan(LightningModule):
    def __init__(self, cfg):
        super().__init__()
        self.cfg, self.seen, self.every = cfg, [1], cfg["every"]
        self.one, self.other = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def training_step(self, batch, batch_idx, optimizer_idx):
        return (self.one if optimizer_idx == 0 else self.other)(batch).sum()
{hook}
    def configure_optimizers(self):
        first = torch.optim.SGD(self.one.parameters(), lr=0.1)
        second = torch.optim.SGD(self.other.parameters(), lr=0.1)
        steps = torch.optim.lr_scheduler.StepLR(first, 1)
        number = {number}
        {after}
        return [
            {{"optimizer": first, "lr_scheduler": {{"scheduler": steps, "frequency": number, "interval": "step"}}}},
            {{"optimizer": second}},
        ]
"""


def _hook(body: str) -> str:
    return f"\n    def on_train_epoch_start(self):\n        {body}\n"


def _files(number: str, hook: str = "", after: str = "pass", head: str = "", **others: str) -> dict[str, str]:
    text = MODULE.format(number=number, hook=hook, after=after)
    return {"train.py": f"{HEAD}{head}\n\n{text}", **{f"{name}.py": other for name, other in others.items()}}


CHANGED = {
    "an attribute set by a name": _files("self.every", _hook('setattr(self, "every", 4)')),
    "an attribute set by some name": _files("self.every", _hook("setattr(self, self.name, 4)")),
    "an attribute set behind": _files("self.every", after="self.every = 50"),
    "a key set behind": _files('self.cfg.get("every", 1)', after='self.cfg["every"] = 50'),
    "a key set in a hook": _files('self.cfg["every"]', _hook('cfg = self.cfg; cfg["every"] = 2')),
    "a dictionary updated": _files('self.cfg["every"]', _hook("self.cfg.update(every=2)")),
    "a list that grows": _files("len(self.seen)", _hook("self.seen.append(1)")),
    "what is got by name": _files('getattr(self, "every", 1)', _hook("self.every += 1")),
    "the epoch": _files("max(1, self.current_epoch + 2)"),
    "the step": _files("self.trainer.global_step + 2"),
    "batches, which are not known yet": _files("self.trainer.num_training_batches"),
    "windows, which a callback may set": _files("self.trainer.accumulate_grad_batches"),
    "a global": _files("EVERY * 2", head="EVERY = 2\n\n\ndef more():\n    global EVERY\n    EVERY += 1\n"),
    "a name bound twice": _files("EVERY * 2", head="EVERY = 2\nif torch.cuda.is_available():\n    EVERY = 3\n"),
    "a name bound elsewhere": _files("EVERY * 2", head="EVERY = 2\n", run="import train\n\ntrain.EVERY = 5\n"),
    "a callback": _files(
        "self.every",
        other="from pytorch_lightning import Callback\n\n\nclass Slower(Callback):\n"
        "    def on_train_epoch_start(self, trainer, pl_module):\n        pl_module.every = 3\n",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_may_change_is_left(name: str) -> None:
    assert any("which the loop needs too" in why for why in refusals(CHANGED[name], "OPT001"))


@pytest.mark.parametrize(
    ("number", "hook", "after", "head"),
    [
        ("self.every", "", "pass", ""),
        ("self.every", "\n    def setup(self, stage=None):\n        self.every = 3\n", "pass", ""),
        ("self.every", _hook("self.shown = self.every"), "pass", ""),
        ('self.cfg["every"]', _hook('self.cfg["other"]'), "pass", ""),
        ("self.trainer.check_val_every_n_epoch", "", "pass", ""),
        ("EVERY // 2", "", "pass", "EVERY = 4\n"),
    ],
)
def test_what_stays_is_worked_out_in_the_loop(number: str, hook: str, after: str, head: str) -> None:
    made = rewritten(_files(number, hook, after, head), rule("OPT001"))["train.py"]
    assert "self.lr_schedulers().step()" in made
    assert number.replace('"', "'") in made


def test_a_name_of_another_module_is_left() -> None:
    whole = MODULE.format(number="EVERY", hook="", after="pass")
    step = whole[whole.index("    def training_step") : whole.index("    def configure_optimizers")]
    base = f"{HEAD}\nEVERY = 2\n\n\n{whole.replace(step, '').replace('Gan', 'Base')}"
    sub = f"from base import Base\n\n\nclass Gan(Base):\n{step}"
    assert any("`EVERY`" in why for why in refusals({"base.py": base, "train.py": sub}, "OPT001"))


def test_a_metric_is_no_attribute_of_its_name() -> None:
    hook = _hook("self.seen_loss = 1; setattr(self, self.name, 2)")
    files = _files("1", hook)
    watched = '{"scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(first), "monitor": "seen_loss"}'
    text = files["train.py"].replace('{"scheduler": steps, "frequency": number, "interval": "step"}', watched)
    text = text.replace("        steps = torch.optim.lr_scheduler.StepLR(first, 1)\n", "")
    assert 'callback_metrics["seen_loss"]' in rewritten({"train.py": text}, rule("OPT001"))["train.py"]
