"""What an option of a command line is declared to be is not known of it where something else is put in its place."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

MAIN = """\
import argparse
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import ModelCheckpoint


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ck", {0})
    args = parser.parse_args()
    {1}
    return Trainer(checkpoint_callback=args.ck)
"""
DECLARED = ("default=True", 'action="store_true"')
PUT = (
    "setattr(args, 'ck', ModelCheckpoint())",
    "vars(args)['ck'] = ModelCheckpoint()",
    "args.__dict__.update(ck=ModelCheckpoint())",
    "parser.set_defaults(ck=ModelCheckpoint())",
    "parser.set_defaults(run=build(1), ck=ModelCheckpoint())",
    "vars(args).update({'run': 1, 'ck': ModelCheckpoint()})",
    "given = {'ck': ModelCheckpoint()}\n    for key in given:\n        setattr(args, key, given[key])",
    "args = parser.parse_args(namespace=argparse.Namespace(ck=ModelCheckpoint()))",
)
ELSEWHERE = (
    "def fill(args):\n    args.ck = ModelCheckpoint()\n",
    "def fill(given):\n    setattr(given, 'ck', ModelCheckpoint())\n",
    "def fill(args):\n    vars(args)['ck'] = ModelCheckpoint()\n",
)
LEFT = (
    "def fill(args):\n    args.ck = True\n    print(args.ck == ModelCheckpoint())\n",
    "def fill(args):\n    setattr(args, 'kept', ModelCheckpoint())\n    self.ck = ModelCheckpoint()\n",
)


def _levels(text: str, other: str = "") -> list[str]:
    made = run_rules({"a.py": text, "b.py": other}, rule("LIT110"))
    assert made.bugs == () and bool(made.changes) == ("safe" in {item.fix for item in made.findings})
    return [item.fix for item in made.findings]


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("line", PUT)
def test_an_option_that_the_script_sets_may_be_anything(line: str, declared: str) -> None:
    assert _levels(MAIN.format(declared, "print(args)")) == ["safe"]
    assert _levels(MAIN.format(declared, line)) == ["manual"]


@pytest.mark.parametrize("line", ["setattr(args, 'ck', False)", "vars(args)['ck'] = args.run", "log({'ck': args.ck})"])
def test_an_option_that_is_set_to_a_plain_value_stays_one(line: str) -> None:
    assert _levels(MAIN.format(DECLARED[0], line)) == ["safe"]


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("other", ELSEWHERE)
def test_an_option_that_another_file_sets_may_be_anything(other: str, declared: str) -> None:
    assert _levels(MAIN.format(declared, "fill(args)"), other) == ["manual"]


@pytest.mark.parametrize("other", LEFT)
def test_an_option_that_another_file_leaves_is_what_it_is_declared(other: str) -> None:
    assert _levels(MAIN.format(DECLARED[0], "fill(args)"), other) == ["safe"]
