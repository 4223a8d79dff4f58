"""LIT226: checkpoints that hold objects."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import lightning.pytorch as pl
import pytest
import torch

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.rules.modules.lit226 import HELD
from tests.codemods.support import rule, sources

TRAINER = "from pytorch_lightning import Trainer\n\ntrainer = Trainer()\n"


class Whole(pl.LightningModule):
    def __init__(self, args: object) -> None:
        super().__init__()
        self.save_hyperparameters()


class Unpacked(pl.LightningModule):
    def __init__(self, args: Any = None, **more: object) -> None:
        super().__init__()
        self.save_hyperparameters(args or more)


@pytest.mark.parametrize(
    ("Model", "args", "fails"),
    [(Whole, Namespace(width=2), True), (Whole, {"width": 2}, False), (Unpacked, Namespace(width=2), False)],
)
def test_what_lightning_does(Model: Any, args: object, fails: bool, tmp_path: Path) -> None:
    trainer = pl.Trainer(logger=False, accelerator="cpu", enable_checkpointing=False)
    trainer.strategy.connect(Model(args))
    trainer.save_checkpoint(tmp_path / "a.ckpt")
    if fails:
        with pytest.raises(UnpicklingError):
            Model.load_from_checkpoint(tmp_path / "a.ckpt")
    loaded = Model.load_from_checkpoint(tmp_path / "a.ckpt", weights_only=False if fails else None)
    assert "2" in str(loaded.hparams)


def lines(files: dict[str, str], target: str = "2.6.6", pins: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    made = plan(sources(files), Options((rule("LIT226"),), target=target, pins=pins))
    assert all(item.fix == "manual" for item in made.findings)
    return [(item.path, item.span.line) for item in made.findings]


def test_where_they_are_loaded() -> None:
    assert lines({"a.py": HELD}) == [("a.py", 10)]
    assert lines({"a.py": HELD}, target="2.5.6") == []
    assert lines({"a.py": HELD}, pins=("lightning>=2.6",)) == []
    other = "from a import Model\n\nclass Small(Model):\n    pass\n\nSmall.load_from_checkpoint('x')\n"
    assert lines({"a.py": HELD, "b.py": other}) == [("a.py", 10), ("b.py", 6)]
    run = TRAINER + "trainer.fit(model, ckpt_path='x')\ntrainer.test(model, ckpt_path=None)\ntrainer.fit(model)\n"
    assert lines({"a.py": HELD, "b.py": run}) == [("a.py", 10), ("b.py", 4)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"last.ckpt")', '"last.ckpt", weights_only=True)'),
        ("self, args)", "self, args: dict)"),
        ("self, args)", "self, width)"),
        ("eters()", "eters(args)"),
        ("eters()", "eters('width')"),
        ("eters()", "eters(ignore=['args'])"),
        ("model = Model", "model = Other"),
    ],
)
def test_left(old: str, new: str) -> None:
    text = HELD.replace(old, new)
    assert text != HELD and lines({"a.py": text}) == []


@pytest.mark.parametrize("new", ["conf: DictConfig", "net: torch.nn.Module", "*, loss: Callable[[], None]", "cfg"])
def test_objects(new: str) -> None:
    assert len(lines({"a.py": HELD.replace("self, args", f"self, {new}")})) == 1


EITHER = """\
{}
try:
    model = Model.load_from_checkpoint("last.ckpt"{})
except TypeError:
    model = Model.load_from_checkpoint("last.ckpt"{})
"""


@pytest.mark.parametrize(
    ("tried", "instead", "told"),
    [(", weights_only=False", "", 0), ("", "", 2), ("", ", weights_only=False", 1)],
)
def test_what_serves_an_older_lightning_is_not_spoken_of(tried: str, instead: str, told: int) -> None:
    text = EITHER.format(HELD.rpartition("\nmodel = ")[0], tried, instead)
    made = plan(sources({"a.py": text}), Options((rule("LIT226"),)))
    assert len(made.findings) == told


def test_another_call_that_is_told_says_nothing_of_it() -> None:
    text = EITHER.format(HELD.rpartition("\nmodel = ")[0], ", weights_only=False", "")
    text = text.replace("model = Model.load_from_checkpoint", "state = torch.load", 1)
    assert len(plan(sources({"a.py": text}), Options((rule("LIT226"),))).findings) == 1


def test_what_an_old_lightning_wrote_is_refused(tmp_path: Path) -> None:
    state = {
        "state_dict": {}, "pytorch-lightning_version": "1.4.1", "epoch": 1, "global_step": 3, "optimizer_states": [],
        "lr_schedulers": [], "callbacks": {pl.callbacks.EarlyStopping: {"wait_count": 0}},
    }  # fmt: skip
    torch.save(state, tmp_path / "a.ckpt")
    with pytest.raises(UnpicklingError):
        Unpacked.load_from_checkpoint(tmp_path / "a.ckpt")
    assert isinstance(Unpacked.load_from_checkpoint(tmp_path / "a.ckpt", weights_only=False), Unpacked)


@pytest.mark.parametrize(
    ("pin", "told"), [("pytorch-lightning==1.4.1", 1), ("pytorch-lightning<1.5", 1), ("pytorch-lightning==1.5.0", 0),
                      ("pytorch-lightning>=1.4", 0), ("pytorch-lightning", 0)],
)  # fmt: skip
def test_loading_what_it_wrote_is_named_where_no_other_wrote_any(pin: str, told: int) -> None:
    text = HELD.replace("self, args", "self, width: int")
    made = plan(sources({"a.py": text}), Options((rule("LIT226"),), pins=(pin,)))
    assert ["Lightning before 1.5 wrote" in item.message for item in made.findings] == [True] * told
    named = text.replace('"last.ckpt"', '"last.ckpt", weights_only=False')
    assert plan(sources({"a.py": named}), Options((rule("LIT226"),), pins=(pin,))).findings == ()
