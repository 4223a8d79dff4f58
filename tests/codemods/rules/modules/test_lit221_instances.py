"""LIT221: what a script asks of a module that it made or loaded."""

from __future__ import annotations

import pytest
from lightning.pytorch import LightningModule

from codemods.rules.modules.lit221 import ASKED_OF_INSTANCES
from tests.codemods.support import rule, run_rules

MODEL = (
    "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    def forward(self, x):\n        return x\n"
)
SCRIPT = 'from model import Net\n\nnet = Net.load_from_checkpoint("x", nf=24)\nnet.summarize(mode="full")\n'


def test_the_newest_has_none_of_them() -> None:
    assert not any(hasattr(LightningModule, name) for name in ASKED_OF_INSTANCES)


@pytest.mark.parametrize("made", ['Net.load_from_checkpoint("x", nf=24)', "Net()"])
def test_named(made: str) -> None:
    text = SCRIPT.replace('Net.load_from_checkpoint("x", nf=24)', made)
    [found] = run_rules({"model.py": MODEL, "a.py": text}, rule("LIT221")).findings
    assert found.fix == "manual" and "summarize(net, max_depth=...)" in found.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def forward", "def summarize"),
        ("(pl.LightningModule)", "(Other)"),
        ("net = Net", "net = find()\nnet = Net"),
    ],
)
def test_left_alone(old: str, new: str) -> None:
    files = {"model.py": MODEL.replace(old, new), "a.py": SCRIPT.replace(old, new)}
    assert run_rules(files, rule("LIT221")).findings == ()


def test_what_is_asked_of_the_base() -> None:
    text = MODEL + "\n    def summarize(self, mode):\n        return super().summarize(mode)\n"
    [found] = run_rules({"a.py": text}, rule("LIT221")).findings
    assert found.fix == "manual" and found.message.startswith("`super().summarize` fails since Lightning 1.7")
    above = "\n\nclass More(Net):\n    def summarize(self, mode):\n        return super().summarize(mode)\n"
    own = MODEL + "\n    def summarize(self, mode):\n        return mode\n" + above
    assert run_rules({"a.py": own}, rule("LIT221")).findings == ()
    assert run_rules({"a.py": text.replace("pl.LightningModule", "Plain")}, rule("LIT221")).findings == ()
