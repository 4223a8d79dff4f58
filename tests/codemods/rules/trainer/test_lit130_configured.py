"""LIT130: a Trainer that is built of the Namespace of a dictionary."""

from __future__ import annotations

from typing import Any

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import ModelCheckpoint, Timer
from lightning.pytorch.strategies import DDPStrategy

from tests.codemods.support import refusals, rewritten, rule, run_rules

SCRIPT = """\
import argparse

import pytorch_lightning as pl
from pytorch_lightning import Trainer


def changed(opt):
    parser = argparse.ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    args = parser.parse_args([])
    return sorted(key for key in vars(args) if getattr(opt, key) != getattr(args, key))


def main(argv, read, resumed=None):
    parser = argparse.ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    opt = parser.parse_args(argv)
    if resumed:
        opt.resume_from_checkpoint = resumed
    config = dict(read)
    config["accelerator"] = "ddp"
    for key in changed(opt):
        config[key] = getattr(opt, key)
    if "gpus" not in config:
        del config["accelerator"]
    else:
        print("on", config["gpus"])
    options = argparse.Namespace(**config)
    more = dict()
    more["logger"] = False
    SET
    more["callbacks"] = [pl.callbacks.Timer()]
    trainer = Trainer.from_argparse_args(options, **more)
    if opt.fast_dev_run:
        trainer.fit(model)
    return trainer, options
"""


def script(sets: str = "pass") -> str:
    return SCRIPT.replace("SET", sets)


def run(before: str, argv: str = "", read: dict[str, Any] | None = None, **more: Any) -> tuple[Trainer, Any]:
    after = rewritten({"a.py": before}, rule("LIT130"), unsafe=True)["a.py"]
    assert rewritten({"a.py": after}, rule("LIT130"), unsafe=True)["a.py"] == after != before
    names: dict[str, Any] = {"model": None}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    found: tuple[Trainer, Any] = names["main"](argv.split(), {"devices": 1, **(read or {})}, **more)
    return found


def test_options_of_the_configuration_and_of_the_command_line() -> None:
    trainer, options = run(script(), "--max_epochs 4", {"accumulate_grad_batches": 3, "max_epochs": 2})
    assert (trainer.max_epochs, trainer.accumulate_grad_batches) == (4, 3)
    assert type(trainer.accelerator).__name__ == "CPUAccelerator" and not isinstance(trainer.strategy, DDPStrategy)
    assert not hasattr(options, "strategy") and any(isinstance(item, Timer) for item in trainer.callbacks)


def test_gpus_ask_for_the_strategy_as_they_did() -> None:
    trainer, options = run(script(), "--gpus 0")
    assert options.strategy == "ddp" and isinstance(trainer.strategy, DDPStrategy)
    assert type(trainer.accelerator).__name__ == "CPUAccelerator"


def test_an_option_of_old_in_a_configuration_is_refused_by_its_name() -> None:
    with pytest.raises(TypeError, match="progress_bar_refresh_rate"):
        run(script(), "", {"progress_bar_refresh_rate": 20})


def test_a_checkpoint_goes_to_fit() -> None:
    after = rewritten({"a.py": script()}, rule("LIT130"), unsafe=True)["a.py"]
    assert 'trainer.fit(model, ckpt_path=getattr(options, "resume_from_checkpoint", None))' in after
    assert run(script(), resumed="a.ckpt")[1].resume_from_checkpoint == "a.ckpt"


def test_a_checkpoint_callback_comes_before_the_others() -> None:
    trainer, _ = run(script('more["checkpoint_callback"] = pl.callbacks.ModelCheckpoint(monitor="loss")'))
    (found,) = [item for item in trainer.callbacks if isinstance(item, ModelCheckpoint)]
    assert found.monitor == "loss" and any(isinstance(item, Timer) for item in trainer.callbacks)


def test_a_checkpoint_callback_for_old_releases_stays() -> None:
    guarded = "if version(pl.__version__) < (1, 4):\n        more['checkpoint_callback'] = make()"
    after = rewritten({"a.py": script(guarded)}, rule("LIT130"), unsafe=True)["a.py"]
    assert "more['checkpoint_callback'] = make()" in after and 'more["callbacks"] = [' in after


KNOWN = "lightning:\n  trainer:\n    benchmark: true\n    gpus: 0,1\n  callbacks:\n    mine: 1\n"


SECTION = script().replace("config = dict(read)", 'config = read.get("trainer", {})')


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({}, "unsafe"),
        ({"conf/a.yaml": KNOWN, "a.py": script()}, "unsafe"),
        ({"conf/a.yaml": KNOWN, "a.py": SECTION.replace('"trainer"', '"model"')}, "unsafe"),
        ({"conf/a.yaml": KNOWN, "run.sh": "python a.py lightning.trainer.max_epochs=3\n"}, "safe"),
        ({"conf/a.yaml": KNOWN, "conf/b.yaml": "trainer:\n  amp_level: O1\n"}, "unsafe"),
        ({"conf/a.yaml": KNOWN, "README.md": "python a.py lightning.trainer.my_own=3\n"}, "unsafe"),
        ({"conf/a.yaml": "lightning: {trainer: [\n"}, "unsafe"),
        ({"conf/a.yaml": "model:\n  amp_level: O1\n"}, "unsafe"),
        ({"conf/a.yaml": KNOWN, "conf/b.yaml": "model:\n  amp_level: O1\n"}, "safe"),
    ],
)
def test_the_level(files: dict[str, str], level: str) -> None:
    made = run_rules({"a.py": SECTION, **files}, rule("LIT130"))
    assert {finding.fix for finding in made.findings} == {level}
    assert bool(made.changes) == (level == "safe")


def test_the_old_key_of_a_backend() -> None:
    before = script().replace('config["accelerator"]', 'config["distributed_backend"]')
    after = rewritten({"a.py": before}, rule("LIT130"), unsafe=True)["a.py"]
    assert "distributed_backend" not in after and 'config["strategy"] = "ddp"' in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"ddp"', '"dp"', "names by accelerator"),
        ('"ddp"', "backend", "names by accelerator"),
        ("    opt =", "    parser.add_argument('--gpus')\n    opt =", "an option --gpus of its own"),
        ("    opt =", "    print('--distributed_backend')\n    opt =", "uses the option distributed_backend"),
        ("    more = dict()", "    print(opt.accelerator)\n    more = dict()", "mentioned elsewhere"),
        ("    more = dict()", '    config["strategy"] = "ddp"\n    more = dict()', "by several keys"),
        (
            "    more = dict()",
            '    config["weights_save_path"] = None\n    more = dict()',
            "uses the option weights_save_path",
        ),
        ("    more = dict()", "    more = dict(read)", "more arguments come by `**`"),
        ("SET", 'more["weights_save_path"] = None', "uses the option weights_save_path"),
        (
            'more["callbacks"] = [pl.callbacks.Timer()]',
            'more["checkpoint_callback"] = pl.callbacks.ModelCheckpoint()\n    more["callbacks"] = extra(read)',
            "uses the option checkpoint_callback",
        ),
        ("    more = dict()", '    print(config["lr"])\n    more = dict()', "which the script asks for lr"),
        ("    more = dict()", '    config["lr"] = 1\n    more = dict()', "which the script asks for lr"),
        ("    more = dict()", "    print(options.lr)\n    more = dict()", "which the script asks for lr"),
        ("SET", "fill(more)", "more arguments come by `**`"),
        ("SET", 'more["checkpoint_callback"] = True', "uses the option checkpoint_callback"),
        ("SET", 'if read:\n        more["checkpoint_callback"] = make()', "uses the option checkpoint_callback"),
        ("argparse.Namespace(**config)", "argparse.Namespace(**config, gpus=1)", "which may hold options of 1.x"),
    ],
)
def test_left_whole(old: str, new: str, why: str) -> None:
    assert old in SCRIPT
    reasons = refusals({"a.py": SCRIPT.replace(old, new).replace("SET", "pass")}, "LIT130")
    assert reasons and all(why in reason for reason in reasons), reasons


@pytest.mark.parametrize(
    ("run_by", "told"),
    [
        ("if args.test:\n        trainer.test(model)\n    else:\n        trainer.fit(model)", True),
        ("if args.test:\n        trainer.test()\n    else:\n        trainer.fit(model)", False),
        ("if args.train:\n        trainer.fit(model)\n    trainer.test(model)", False),
    ],
)
def test_what_runs_in_the_place_of_fit_gets_the_checkpoint_too(run_by: str, told: bool) -> None:
    before = (
        "from argparse import ArgumentParser\n\nfrom pytorch_lightning import Trainer\n\n\ndef main():\n"
        "    parser = ArgumentParser()\n    parser = Trainer.add_argparse_args(parser)\n"
        "    args = parser.parse_args()\n"
        f"    print(args.resume_from_checkpoint)\n    trainer = Trainer.from_argparse_args(args)\n    {run_by}\n"
    )
    for pin, old in (("==1.4.9", True), ("==1.6.4", False), (">=1.4", False)):
        made = run_rules({"a.py": before}, rule("LIT130"), pins=(f"pytorch-lightning{pin}",))
        after = made.final()["a.py"].decode()
        assert "trainer.fit(model, ckpt_path=args.resume_from_checkpoint)" in after
        assert ("trainer.test(model, ckpt_path=args.resume_from_checkpoint)" in after) is (told and old)
        loud = "until 1.4 a test without a fit" in made.findings[1].reason
        assert loud is ("trainer.test(model)" in run_by and not (told and old))
