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


MADE = HELD.replace("self, args", "self, made").replace("last.ckpt", "a.ckpt")
PARSED = "from argparse import ArgumentParser\n\nargs = ArgumentParser().parse_args()\n"


@pytest.mark.parametrize(
    ("before", "given", "found"),
    [
        (PARSED, "(args)", True),
        (PARSED, "(made=args)", True),
        (PARSED.replace("args =", "args, rest =").replace("parse_args", "parse_known_args"), "(args)", True),
        ("from argparse import Namespace\n\nargs = Namespace(width=2)\n", "(args)", True),
        ("from omegaconf import OmegaConf\n\nargs = OmegaConf.load('a')\n", "(args)", True),
        (PARSED, "(args.width)", False),
        (PARSED, "(width=args)", False),
        (PARSED, "(3, args)", False),
        ("args = 3\n", "(args)", False),
        (PARSED.replace("args =", "rest, args =").replace("parse_args", "parse_known_args"), "(args)", False),
    ],
)
def test_an_argument_that_is_given_an_object(before: str, given: str, found: bool) -> None:
    text = f"from a import Model\n{before}model = Model{given}\n"
    assert lines({"a.py": MADE, "b.py": text}) == ([("a.py", 10)] if found else [])
    assert lines({"a.py": MADE.replace("made)", "made: int)"), "b.py": text}) == []


def test_a_name_for_a_class_and_a_trainer_of_a_configuration() -> None:
    text = HELD.replace("model = Model.load", "kind = Model\nmodel = kind.load")
    assert lines({"a.py": text}) == [("a.py", 11)]
    run = "import pytorch_lightning as pl\nfrom hydra.utils import instantiate\n\ntrainer = instantiate(c)\n"
    assert lines({"a.py": text, "b.py": run + "trainer.test(m, ckpt_path='best')\n"})[1:] == [("b.py", 5)]


def test_the_best_one_is_loaded_where_no_model_is_given() -> None:
    run = TRAINER + "trainer.fit(m)\ntrainer.test()\ntrainer.test(m)\ntrainer.test(model=m)\ntrainer.test(**given)\n"
    assert lines({"a.py": HELD, "b.py": run + "trainer.validate(dataloaders=d)\n"})[1:] == [("b.py", 5), ("b.py", 9)]


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
    assert ["from before Lightning 1.5" in item.message for item in made.findings] == [True] * told
    named = text.replace('"last.ckpt"', '"last.ckpt", weights_only=False')
    assert plan(sources({"a.py": named}), Options((rule("LIT226"),), pins=(pin,))).findings == ()


PLAIN = "class Plain(LightningModule):\n    def __init__(self, width: int):\n        self.save_hyperparameters()\n\n\n"


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("m = Plain(1)\ntrainer.fit(m)\ntrainer.test()\n", False),
        ("trainer.fit(Plain(1))\ntrainer.test(ckpt_path='best')\n", False),
        ("trainer.test(Plain(1), ckpt_path='best')\n", False),
        ("m = Model(1)\ntrainer.fit(m)\ntrainer.test()\n", True),
        ("trainer.fit(Plain(1))\ntrainer.test(Model(1), ckpt_path='best')\n", True),
        ("trainer.fit(Plain(1))\ntrainer.fit(Model(1))\ntrainer.test()\n", True),
        ("trainer.fit(pick())\ntrainer.test()\n", True),
        ("trainer.test(ckpt_path='best')\n", True),
        ("def test(trainer):\n    trainer.test(ckpt_path='best')\n\n\ntrainer.fit(Plain(1))\n", True),
    ],
)
def test_what_the_trainer_fits_is_what_it_loads(run: str, told: bool) -> None:
    model = HELD.rpartition("\nmodel = ")[0] + "\n\n" + PLAIN
    trainer = "from pytorch_lightning import Trainer\nfrom a import Model, Plain\n\ntrainer = Trainer()\n"
    assert [path for path, _ in lines({"a.py": model, "b.py": trainer + run})] == (["b.py"] if told else [])


def test_an_old_project_of_which_nothing_is_saved_is_looked_at() -> None:
    run = (
        "import pytorch_lightning as pl\n\n\ndef evaluate(model, path):\n    pl.Trainer().test(model, ckpt_path=path)\n"
    )
    made = plan(sources({"b.py": run}), Options((rule("LIT226"),), pins=("pytorch-lightning==1.2.0",)))
    assert made.findings == ()


def after(text: str, unsafe: bool = False) -> tuple[list[str], str]:
    """The levels of what is found in a file beside the model, and what becomes of it."""
    given = {"a.py": HELD.rpartition("\nmodel = ")[0], "b.py": "from a import Model\n\n\n" + text}
    done = plan(sources(given), Options((rule("LIT226"),), unsafe=unsafe))
    made = done.final().get("b.py", given["b.py"].encode()).decode()
    return [item.fix for item in done.findings], made.partition("\n\n\n")[2]


TRUST = ", weights_only=False)"
FITS = """\
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import ModelCheckpoint


def main(given, args, data, path):
    other = Trainer()
    saver = ModelCheckpoint()
    trainer = Trainer(callbacks=[saver])
    trainer.fit(Model(args), data)
    saved = saver.best_model_path
"""


@pytest.mark.parametrize(
    "load",
    [
        "Model.load_from_checkpoint(saver.best_model_path)",
        "Model.load_from_checkpoint(checkpoint_path=trainer.checkpoint_callback.last_model_path)",
        "Model.load_from_checkpoint(saved, strict=False)",
        "trainer.test(Model(args), ckpt_path='best')",
        "trainer.test(Model(args), data, ckpt_path=saved)",
        "trainer.validate(dataloaders=data)",
        "trainer.test()",
    ],
)
def test_what_the_run_has_written_itself_is_trusted(load: str) -> None:
    trusting = load.replace("()", "(weights_only=False)") if load.endswith("()") else f"{load[:-1]}{TRUST}"
    assert after(f"{FITS}    {load}\n") == (["safe"], f"{FITS}    {trusting}\n")
    assert after(f"{FITS}    {trusting}\n") == ([], f"{FITS}    {trusting}\n")
    none = FITS.replace("Trainer(callbacks", "Trainer(resume_from_checkpoint=None, callbacks")
    assert after(f"{none}    {load}\n")[0] == ["safe"]


@pytest.mark.parametrize(
    ("fits", "load"),
    [
        (FITS, "Model.load_from_checkpoint(path)"),
        (FITS, "Model.load_from_checkpoint('best')"),
        (FITS, "trainer.test(Model(args), ckpt_path='last')"),
        (FITS, "trainer.test(Model(args), ckpt_path=path)"),
        (FITS, "other.test(Model(args), ckpt_path='best')"),
        (FITS, "Model.load_from_checkpoint(args.best_model_path)"),
        (FITS, "Model.load_from_checkpoint(given.best_model_path)"),
        (FITS, "Model.load_from_checkpoint(other.checkpoint_callback.best_model_path)"),
        (FITS.replace("trainer.fit", "given.fit"), "Model.load_from_checkpoint(saved)"),
        (FITS.replace("path):", "path, trainer):").replace("    trainer = Trainer(callbacks=[saver])\n", ""),
         "Model.load_from_checkpoint(saved)"),
        (FITS, "Model.load_from_checkpoint(saver.best_model_path, **args)"),
        (FITS.replace("data)", "data, ckpt_path=path)"), "Model.load_from_checkpoint(saved)"),
        (FITS.replace("data)", "data, None, None, path)"), "Model.load_from_checkpoint(saved)"),
        (FITS.replace("    trainer.fit", "    trainer.tune"), "Model.load_from_checkpoint(saved)"),
        (FITS.replace("saved = ", "saved = path\n    if data:\n        saved = "), "Model.load_from_checkpoint(saved)"),
        (FITS.replace("path):", "saved):").replace("    saved =", "    more ="), "Model.load_from_checkpoint(saved)"),
        (FITS.replace("    trainer.fit", "    trainer.resume_from_checkpoint = path\n    trainer.fit"),
         "Model.load_from_checkpoint(saved)"),
        (f"{FITS}\n\ndef more(saver):\n", "Model.load_from_checkpoint(saver.best_model_path)"),
    ],
    ids=["path", "text", "last", "given", "other trainer", "option", "called so", "of another", "no trainer",
         "called a trainer", "spread", "resumed", "resumed by place", "no fit", "either", "parameter", "resumed before",
         "another function"],
)  # fmt: skip
def test_what_another_may_have_written_is_left_to_a_person(fits: str, load: str) -> None:
    levels, made = after(f"{fits}    {load}\n", unsafe=True)
    assert set(levels) == {"manual"} and made == f"{fits}    {load}\n"


def test_what_the_run_has_written_is_not_old() -> None:
    text = f"{FITS}    Model.load_from_checkpoint(saved)\n".replace("Model(args)", "Model(1)")
    plain = HELD.rpartition("\nmodel = ")[0].replace("args", "width: int")
    found = lines({"a.py": plain, "b.py": "from a import Model\n" + text}, pins=("pytorch-lightning==1.4.9",))
    assert found == []
    other = "from a import Model\n" + text.replace("(saved)", "(path)")
    assert len(lines({"a.py": plain, "b.py": other}, pins=("pytorch-lightning==1.4.9",))) == 1


def test_the_advice_asks_the_class_where_the_call_asks_an_instance() -> None:
    text = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n    pass\n\n\n"
        "def main(path, other):\n    model = Model()\n    model = model.load_from_checkpoint(path)\n"
        "    return Model.load_from_checkpoint(path), other.load_from_checkpoint(path)\n"
    )
    made = plan(sources({"model.py": text}), Options((rule("LIT226"),), pins=("pytorch-lightning==1.4.0",)))
    told = [each.reason.partition("write `")[2].partition("(")[0] for each in made.findings]
    assert told == [f"{owner}.load_from_checkpoint" for owner in ("Model", "Model", "other")]
