"""LIT130: options that one file declares and sets, and that a Trainer which another file builds would no longer get."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

MODEL = """\
from argparse import ArgumentParser
from pytorch_lightning import Trainer


def get_parser():
    parser = ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    parser.set_defaults(max_epochs=1, reload_dataloaders_every_epoch=True)
    return parser
"""
MAIN = """\
from model import get_parser
from pytorch_lightning import Trainer


def main():
    options = get_parser().parse_args()
    trainer = Trainer.from_argparse_args(options)
    trainer.fit(None)
"""


def test_a_trainer_is_not_built_without_what_another_file_sets_for_it() -> None:
    files = {"model.py": MODEL, "train.py": MAIN}
    assert rewritten(files, rule("LIT130"), unsafe=True) == files
    told = refusals(files, "LIT130")
    assert any("model.py declares the options, where" in each for each in told)
    assert all("reload_dataloaders_every_epoch" in each for each in told)


@pytest.mark.parametrize(
    "kept", [", reload_dataloaders_every_epoch=True", "max_epochs=1, reload_dataloaders_every_epoch=True"]
)
def test_where_nothing_is_lost_both_files_are_rewritten(kept: str) -> None:
    made = rewritten({"model.py": MODEL.replace(kept, ""), "train.py": MAIN}, rule("LIT130"))
    assert "from_argparse_args" not in made["train.py"] and "Trainer.add_argparse_args" not in made["model.py"]
