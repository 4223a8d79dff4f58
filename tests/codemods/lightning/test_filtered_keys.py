"""Options that a comprehension keeps from a Trainer."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

SCRIPT = """\
from argparse import ArgumentParser

from pytorch_lightning import Trainer

parser = ArgumentParser()
parser.add_argument("--gpus", type=int, default=1)
parser.add_argument("--max_epochs", type=int, default=1)
args = parser.parse_args()
names = ["max_epochs", "precision"]
BEFORE
given = {k: v for k, v in vars(args).items() TEST}
trainer = Trainer(**given)
"""


def named(test: str, before: str = "") -> list[str]:
    """The codes of what is found where a comprehension asks something of each key."""
    text = SCRIPT.replace("TEST", test).replace("BEFORE", before)
    return [item.code for item in run_rules({"train.py": text}, rule("LIT101")).findings]


@pytest.mark.parametrize(
    "test",
    [
        "if k in names",
        "if k in ['max_epochs']",
        "if k in ('max_epochs', 'precision')",
        "if k not in ('gpus',)",
        "if k != 'gpus'",
        "if k == 'max_epochs'",
        "if v is not None if k in names",
    ],
)
def test_an_option_that_is_left_out_is_not_named(test: str) -> None:
    assert named(test) == []


@pytest.mark.parametrize(
    ("test", "before"),
    [
        ("", ""),
        ("if k not in names", ""),
        ("if k in ['gpus']", ""),
        ("if k in other", ""),
        ("if k in names + other", ""),
        ("if k in names", "names.append('gpus')"),
        ("if k in names", "names += other"),
        ("if k in names", "extend(names)"),
        ("if k in names", "names = other"),
        ("if k in names or k in other", ""),
        ("if v in names", ""),
        ("if k.lower() in names", ""),
    ],
)
def test_an_option_that_may_go_through_is_named(test: str, before: str) -> None:
    assert named(test, before) == ["LIT101"]
