"""LIT113: the tuner's flags and calls, checked against the newest Tuner."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.tuner import Tuner

from codemods.rules.trainer.lit113 import BEFORE_UPDATE, FLAGS
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\n\n"


def after(body: str) -> str:
    return rewritten({"a.py": HEAD + body}, rule("LIT113"))["a.py"][len(HEAD) :]


def test_targets() -> None:
    assert not hasattr(Trainer, "tune") and not hasattr(Trainer, "tuner")
    for _, method in FLAGS.values():
        taken = inspect.signature(getattr(Tuner, method)).parameters
        assert {"model", "train_dataloaders", "val_dataloaders", "datamodule"} <= set(taken)
    assert "attr_name" in inspect.signature(Tuner.lr_find).parameters
    assert "mode" in inspect.signature(Tuner.scale_batch_size).parameters


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "t = pl.Trainer(auto_lr_find=True)\nt.tune(m)\n",
            "t = pl.Trainer()\npl.tuner.Tuner(t).lr_find(m)\n",
        ),
        (
            "t = pl.Trainer(auto_lr_find='rate', max_epochs=1)\nt.tune(m, datamodule=d)\n",
            't = pl.Trainer(max_epochs=1)\npl.tuner.Tuner(t).lr_find(m, datamodule=d, attr_name="rate")\n',
        ),
        (
            "t = pl.Trainer(auto_scale_batch_size='power')\nt.tune(m)\n",
            't = pl.Trainer()\npl.tuner.Tuner(t).scale_batch_size(m, mode="power")\n',
        ),
        (
            "t = pl.Trainer()\nfound = t.tuner.lr_find(m)\n",
            "t = pl.Trainer()\nfound = pl.tuner.Tuner(t).lr_find(m, update_attr=False)\n",
        ),
        (
            "t = pl.Trainer()\nt.tuner.lr_find(m, update_attr=flag)\nt.tuner.scale_batch_size(m)\n",
            "t = pl.Trainer()\npl.tuner.Tuner(t).lr_find(m, update_attr=flag)\npl.tuner.Tuner(t).scale_batch_size(m)\n",
        ),
    ],
)
def test_written(before: str, wanted: str) -> None:
    assert after(before) == wanted


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("t = pl.Trainer(auto_lr_find=flag)\nt.tune(m)\n", "not known before"),
        ("t = pl.Trainer(auto_lr_find=True)\nt.fit(m)\n", "not seen"),
        ("t = pl.Trainer(auto_lr_find=True)\nfound = t.tune(m)\n", "returns is used"),
        ("t = pl.Trainer(auto_lr_find=True)\nt.tune(m, lr_find_kwargs={})\n", "arguments for the tuner"),
        ("def f():\n    return pl.Trainer(auto_scale_batch_size=True)\n", "not seen"),
    ],
)
def test_left_to_a_person(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT113")
    assert why in reason and "Tuner(trainer)" in reason


MADE = "def make(size):\n    return pl.Trainer(max_epochs=2, auto_scale_batch_size=size, auto_lr_find=True)\n"


def test_flags_that_only_tune_obeyed_go_where_nothing_calls_it() -> None:
    pin = ("pytorch-lightning>=1.2,<2",)
    made = run_rules({"a.py": HEAD + MADE}, rule("LIT113"), unsafe=True, pins=pin)
    assert made.final()["a.py"].decode() == HEAD + "def make(size):\n    return pl.Trainer(max_epochs=2)\n"
    assert {(finding.fix, finding.row) for finding in made.findings} == {("unsafe", "M175"), ("unsafe", "M176")}


@pytest.mark.parametrize(
    ("other", "pins"),
    [
        ("from a import make\n\nmake(True).tune(model)\n", ("pytorch-lightning>=1.2",)),
        ("# .tune(model)\n", ("pytorch-lightning==0.9.0",)),
        ("# .tune(model)\n", ()),
    ],
)
def test_flags_that_somebody_may_obey_stay(other: str, pins: tuple[str, ...]) -> None:
    made = run_rules({"a.py": HEAD + MADE, "b.py": other}, rule("LIT113"), unsafe=True, pins=pins)
    assert made.changes == () and {finding.fix for finding in made.findings if finding.path == "a.py"} == {"manual"}


def test_both_flags_are_two_calls() -> None:
    body = "t = pl.Trainer(auto_lr_find=True, auto_scale_batch_size=True)\nt.tune(m)\n"
    reasons = refusals({"a.py": HEAD + body}, "LIT113")
    assert len(reasons) == 2 and all("two calls" in reason for reason in reasons)


@pytest.mark.parametrize(
    "body", ["pl.Trainer(auto_lr_find=False)\n", "model.tuner.lr_find(x)\n", "f(auto_lr_find=True)\n"]
)
def test_not_spoken_of(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT113")).findings == ()


@pytest.mark.parametrize(
    "body",
    [
        "trainer = pl.Trainer.from_argparse_args(args)\ntrainer.tune(model)\n",
        "def main(trainer: pl.Trainer, model):\n    trainer.tune(model, datamodule=model.data)\n",
    ],
)
def test_tune_is_found_where_its_flags_are_not_seen(body: str) -> None:
    [finding] = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert finding.fix == "manual" and "`trainer.tune()`" in finding.message


@pytest.mark.parametrize("body", ["guitar = Guitar()\nguitar.tune(string)\n", "study.tune(trainer)\n"])
def test_what_is_no_trainer_may_be_tuned(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT113")).findings == ()


def test_the_old_name_of_the_dataloaders_goes_with_the_tuner() -> None:
    head = "from pytorch_lightning import Trainer\n\n"
    hand = f"{head}trainer = Trainer()\ntrainer.tuner.lr_find(model, train_dataloader=data, num_training=3)\n"
    after = rewritten({"train.py": hand}, rule("LIT113"))["train.py"]
    assert "Tuner(trainer).lr_find(model, train_dataloaders=data, num_training=3, update_attr=False)" in after
    flag = f"{head}trainer = Trainer(auto_lr_find=True)\ntrainer.tune(model, train_dataloader=data)\n"
    after = rewritten({"train.py": flag}, rule("LIT113"), rule("LIT114"))["train.py"]
    assert "Tuner(trainer).lr_find(model, train_dataloaders=data)" in after


def test_a_search_leaves_the_rate_of_the_model_alone() -> None:
    assert inspect.signature(Tuner.lr_find).parameters["update_attr"].default is True
    assert list(inspect.signature(Tuner.lr_find).parameters).index("update_attr") == BEFORE_UPDATE + 1
    assert inspect.signature(Tuner.scale_batch_size).parameters["margin"].default == 0.05
    assert inspect.signature(Tuner.scale_batch_size).parameters["max_val"].default == 8192


def test_what_stars_bring_may_say_it_too() -> None:
    body = "t = pl.Trainer()\nt.tuner.lr_find(m, **given)\n"
    [finding] = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert finding.fix == "unsafe" and "`**`" in finding.reason
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"), unsafe=True)["a.py"]
    assert after.endswith("pl.tuner.Tuner(t).lr_find(m, update_attr=False, **given)\n")


@pytest.mark.parametrize(
    "body",
    [
        "tuner = pl.Trainer(max_epochs=1).tuner\ntuner.lr_find(m)\n",
        "def search(trainer: pl.Trainer):\n    return trainer.tuner\n",
    ],
)
def test_a_tuner_that_is_kept_is_named(body: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT113")
    assert "Tuner(trainer).lr_find" in reason and "update_attr=False" in reason


def test_a_tuner_of_a_plain_trainer_is_built_of_it() -> None:
    body = "trainer = pl.Trainer()\nt = trainer.tuner\nt.lr_find(m)\n"
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"))["a.py"]
    assert after.endswith("t = pl.tuner.Tuner(trainer)\nt.lr_find(m, update_attr=False)\n")


@pytest.mark.parametrize("body", ["t = model.tuner\n", "import pytorch_lightning.tuner\n", "self.trainer.tuner = 3\n"])
def test_other_tuners_are_not_named(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT113")).findings == ()
