"""LIT112: a Trainer that a module is built with, and that nothing else can fit."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

TRAIN = """\
from pytorch_lightning import Trainer

from model import Net


def main(cfg, path):
    trainer = Trainer(max_epochs=3, resume_from_checkpoint=path)
    net = Net(cfg, trainer)
    trainer.fit(net)
    trainer.test(net)
"""
MODEL = """\
import pytorch_lightning as pl


class Net(pl.LightningModule):
    def __init__(self, cfg, trainer):
        super().__init__()
        self.cfg, self.trainer = cfg, trainer
"""
AFTER = TRAIN.replace(", resume_from_checkpoint=path", "").replace("fit(net)", "fit(net, ckpt_path=path)")


def run(train: str = TRAIN, **others: str) -> tuple[list[str], str]:
    files = {"train.py": train, "model.py": MODEL, **{f"{name}.py": text for name, text in others.items()}}
    made = run_rules(files, rule("LIT112"))
    return [item.fix for item in made.findings], made.final().get("train.py", train.encode()).decode()


def test_the_one_fit_gets_the_checkpoint() -> None:
    assert run() == (["safe"], AFTER)
    assert run(AFTER) == ([], AFTER)


def test_by_its_name_too() -> None:
    train = TRAIN.replace("Net(cfg, trainer)", "Net(cfg, trainer=trainer)")
    assert run(train) == (["safe"], AFTER.replace("Net(cfg, trainer)", "Net(cfg, trainer=trainer)"))


@pytest.mark.parametrize(
    "other",
    [
        "def again(model):\n    model.trainer.fit(model)\n",
        "def again(model, how):\n    getattr(model.trainer, how)(model)\n",
        "def again(model):\n    run(model.trainer, 'fit')\n",
        "def again(scaler, x):\n    scaler.fit(x)\n",
    ],
)
def test_who_may_fit_it_again_is_left(other: str) -> None:
    assert run(other=other) == (["manual"], TRAIN)


@pytest.mark.parametrize("model", ["object", "Tuner"])
def test_what_is_no_module_may_fit_it(model: str) -> None:
    text = MODEL.replace("import pytorch_lightning as pl", "from tuners import Tuner").replace(
        "pl.LightningModule", model
    )
    assert run(model=text) == (["manual"], TRAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Net(cfg, trainer)", "build(cfg, trainer)"),
        ("Net(cfg, trainer)", "Net(cfg, [trainer])"),
        ("    trainer.test(net)\n", "    return trainer\n"),
        ("    trainer.test(net)\n", "    cfg.trainer = trainer\n"),
    ],
)
def test_other_ways_out_are_left(old: str, new: str) -> None:
    train = TRAIN.replace(old, new)
    levels, after = run(train)
    assert "safe" not in levels and after == train


def test_what_changes_on_the_way_is_kept() -> None:
    train = TRAIN.replace("    trainer.fit(net)\n", "    path = None\n    trainer.fit(net)\n")
    levels, after = run(train)
    assert levels == ["safe"]
    assert "    ckpt_path = path\n    trainer = Trainer(max_epochs=3)\n" in after
    assert "fit(net, ckpt_path=ckpt_path)" in after
