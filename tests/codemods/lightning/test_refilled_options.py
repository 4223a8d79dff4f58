"""Options that a script takes over into a Namespace with more in it."""

from __future__ import annotations

import argparse

import pytest

from tests.codemods.support import rule, run_rules

TEXT = """\
import argparse
import types
from argparse import Namespace

import settings
from pytorch_lightning import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--gpus", type=int, default=1)
parser.add_argument("--save", action="store_true")
args = parser.parse_args()
args = LINE
trainer = Trainer(gpus=args.gpus, checkpoint_callback=args.save)
"""
OTHERS = "MODELS = {}\nother = None\n"


def levels(line: str, text: str = TEXT) -> list[tuple[str, str]]:
    made = run_rules({"a.py": text.replace("LINE", line), "settings.py": OTHERS}, rule("LIT101"), rule("LIT110"))
    return sorted((item.code, item.fix) for item in made.findings)


@pytest.mark.parametrize(
    "line",
    [
        "argparse.Namespace(**vars(args), **settings.MODELS[args.save])",
        "Namespace(seed=1, **args.__dict__)",
        "Namespace(**vars(args))",
    ],
)
def test_they_are_what_they_were(line: str) -> None:
    assert levels(line) == [("LIT101", "safe"), ("LIT110", "safe")]


def test_of_what_a_function_is_given_too() -> None:
    text = f"{TEXT.partition('args = ')[0]}\n\ndef go(args):\n    args = LINE\n"
    text += "    return Trainer(gpus=args.gpus, checkpoint_callback=args.save)\n\n\ngo(parser.parse_args())\n"
    assert levels("Namespace(**vars(args), **settings.MODELS)", text) == [("LIT101", "safe"), ("LIT110", "safe")]


@pytest.mark.parametrize(
    "line",
    [
        "Namespace(**{**vars(args), **settings.MODELS})",
        "Namespace(**settings.MODELS)",
        "Namespace(**vars(settings.other))",
        "Namespace(vars(args), **vars(args))",
        "settings.Namespace(**vars(args))",
        "types.SimpleNamespace(**(vars(args) | settings.MODELS))",
        "settings.merged(**vars(args))",
    ],
)
def test_what_may_put_others_in_their_place_is_not_taken_for_that(line: str) -> None:
    assert levels(line) == [("LIT101", "unsafe"), ("LIT110", "manual")]


def test_a_key_that_is_given_twice_ends_the_program() -> None:
    args = argparse.Namespace(gpus=1)
    with pytest.raises(TypeError):
        argparse.Namespace(**vars(args), **{"gpus": "0,1"})
