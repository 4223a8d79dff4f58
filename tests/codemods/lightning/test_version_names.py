"""Only what reads a name that may come from a version is worked out to tell whether it asks for Lightning's."""

from __future__ import annotations

import ast

import pytest

from codemods.code.source import PythonFile, Source
from codemods.lightning.facts import Facts
from codemods.lightning.version_names import may_speak

HEAD = """\
import os
import pytorch_lightning as pl
import numpy as np
from mine import NEW

MAJOR = pl.__version__.split(".")[0]
OLD = not MAJOR
print(LATE := MAJOR)
SIZE, WIDTH = len(os.sep), len(np.zeros(3))
for LIMIT in (NEW, 2):
    pass


def is_new(major=MAJOR):
    return OLD


def is_large(number):
    return SIZE > number


"""
SOURCES = {"mine.py": Source("mine.py", "python", b"NEW = 1\n")}


def speaks(test: str, head: str = HEAD) -> bool:
    file = PythonFile.parse(Source("train.py", "python", f"{head}found = {test}\n".encode()))
    last = file.tree.body[-1]
    assert isinstance(last, ast.Assign)
    return may_speak(file, Facts({}, sources=SOURCES), last.value)


@pytest.mark.parametrize(
    "test",
    ["pl.__version__ > '2'", "MAJOR", "OLD", "LATE", "not OLD and SIZE", "is_new()", "LIMIT", "len(MAJOR)", "NEW",
     "os.path.join(MAJOR) or SIZE", "[int(part) for part in MAJOR]", "MAJOR[0]", "__version__"],
)  # fmt: skip
def test_what_may_come_from_a_version_is_worked_out(test: str) -> None:
    assert speaks(test)


@pytest.mark.parametrize(
    "test",
    ["os.sep", "SIZE > WIDTH", "np.zeros(3)", "is_large(3)", "self.trainer.major", "other", "MAJOR + 1",
     "pl.seed(SIZE)", "lambda: MAJOR"],
)  # fmt: skip
def test_what_cannot_is_not(test: str) -> None:
    assert not speaks(test)


def test_a_star_may_bring_a_version() -> None:
    assert speaks("FLAG", "from mine import *\n") and not speaks("FLAG", "from os import *\n")


def test_what_names_give_each_other_comes_from_nowhere() -> None:
    assert not speaks("one", "one = two\ntwo = one\n")
