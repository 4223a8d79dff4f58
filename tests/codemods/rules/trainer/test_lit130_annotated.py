"""LIT130: methods that are called of what a parameter is given."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

DATA = """\
from pytorch_lightning import LightningDataModule


class Data(LightningDataModule):
    @classmethod
    def add_argparse_args(cls, parent_parser):
        parent_parser.add_argument("--size", type=int)
        return parent_parser
"""
PARSER = """\
from typing import Type

import pytorch_lightning as pl


def make_parser(parser, data: pl.LightningDataModule):
    return data.add_argparse_args(parser)
"""


@pytest.mark.parametrize("stated", ["pl.LightningDataModule", "Type[pl.LightningDataModule]"])
def test_any_class_of_a_kind_of_which_some_have_the_method(stated: str) -> None:
    files = {"data.py": DATA, "parser.py": PARSER.replace("pl.LightningDataModule", stated)}
    made = run_rules(files, rule("LIT130"))
    (found,) = made.findings
    assert (found.path, found.span.line, found.fix, found.stops) == ("parser.py", 7, "manual", False)
    assert "as Data does" in found.reason


@pytest.mark.parametrize("stated", ["Data", "object", "int"])
def test_another_annotation(stated: str) -> None:
    files = {"data.py": DATA, "parser.py": "from data import Data\n" + PARSER.replace("pl.LightningDataModule", stated)}
    assert run_rules(files, rule("LIT130")).findings == ()
