"""LIT130: `Trainer.from_argparse_args(args, **more)`, by what may come by the two stars."""

from __future__ import annotations

from typing import Any

import pytest
from lightning.pytorch import Trainer

from tests.codemods.support import rule, run_rules

TEXT = """\
from argparse import ArgumentParser

from pytorch_lightning import Trainer


def build(argv, model{parameter}):
    parser = ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    args = parser.parse_args(argv)
    {line}
    return Trainer.from_argparse_args(args, logger=False, **more)
"""
SEEN = {"parameter": "", "line": 'more = {"max_epochs": 3, "min_epochs": 2}'}


def test_what_is_seen_to_be_fine_goes_with_it() -> None:
    made = run_rules({"a.py": TEXT.format(**SEEN)}, rule("LIT130"))
    assert [finding.fix for finding in made.findings] == ["safe", "safe"]
    after = made.final()["a.py"].decode()
    assert "return from_arguments(Trainer, args, logger=False, **more)" in after
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    trainer = names["build"](["--max_epochs", "7", "--limit_val_batches", "2"], None)
    assert isinstance(trainer, Trainer)
    assert (trainer.max_epochs, trainer.fit_loop.min_epochs, trainer.limit_val_batches) == (3, 2, 2)
    assert run_rules({"a.py": after}, rule("LIT130")).changes == ()


@pytest.mark.parametrize("parameter", [", **more", ", more"])
def test_what_is_not_seen_is_assumed_to_be_fine(parameter: str) -> None:
    made = run_rules({"a.py": TEXT.format(parameter=parameter, line="print(model)")}, rule("LIT130"))
    assert [finding.fix for finding in made.findings] == ["unsafe", "unsafe"] and made.changes == ()
    assert "gives Trainer nothing that 1.x alone took" in made.findings[1].reason


@pytest.mark.parametrize("line", ['more = {"weights_summary": None}', "more = dict(gpus=0)"])
def test_what_went_is_exchanged_where_it_stands(line: str) -> None:
    text = TEXT.format(parameter="", line=line)
    after = run_rules({"a.py": text}).final()["a.py"].decode()
    assert "from_arguments(Trainer, args, logger=False" in after and line not in after
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    assert isinstance(names["build"]([], None), Trainer)


ALONE = TEXT.replace(
    "    parser = Trainer.add_argparse_args(parser)\n", '    parser.add_argument("--max_epochs", type=int)\n'
)


def test_the_hardware_is_not_said_twice() -> None:
    made = run_rules({"a.py": ALONE.format(parameter="", line="more = find(model)")}, rule("LIT130"))
    assert made.changes == () and [finding.fix for finding in made.findings] == ["manual"]
    assert "may hold accelerator= too" in made.findings[0].reason


def test_hardware_that_is_seen_is_not_added() -> None:
    text = ALONE.format(parameter="", line='more = {"accelerator": "cpu"}')
    after = run_rules({"a.py": text}, rule("LIT130")).final()["a.py"].decode()
    assert "return from_arguments(Trainer, args, logger=False, **more)" in after
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    assert names["build"](["--max_epochs", "7"], None).max_epochs == 7
