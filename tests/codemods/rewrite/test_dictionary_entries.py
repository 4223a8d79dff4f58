"""An entry of a dictionary that goes leaves the comments of its neighbours."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule

FLUSH = '"flush_logs_every_n_steps": 5'
HEAD = "from pytorch_lightning import Trainer\n\nargs = "
END = "\ntrainer = Trainer(**args)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{GONE, "max_epochs": 1}', '{"max_epochs": 1}'),
        ('{"max_epochs": 1, GONE}', '{"max_epochs": 1}'),
        ("{GONE}", "{}"),
        ('{\n    GONE,\n    # one\n    "max_epochs": 1,\n}', '{\n    # one\n    "max_epochs": 1,\n}'),
        ('{\n    "max_epochs": 1,  # one\n    GONE,\n}', '{\n    "max_epochs": 1,  # one\n}'),
        ('{\n    "max_epochs": 1,  # one\n    GONE\n}', '{\n    "max_epochs": 1  # one\n}'),
        ('{"max_epochs": 1,  # one\n    GONE}', '{"max_epochs": 1,  # one\n    }'),
        ('{\n    "max_epochs": 1,\n    GONE\n}', '{\n    "max_epochs": 1\n}'),
        (
            '{\n    "max_epochs": 1,  # one\n    GONE,\n    # "gpus": 2,\n    "min_epochs": 1,\n}',
            '{\n    "max_epochs": 1,  # one\n    # "gpus": 2,\n    "min_epochs": 1,\n}',
        ),
        ('{\n    "max_epochs": 1,\n    GONE,\n    # end\n}', '{\n    "max_epochs": 1,\n    # end\n}'),
    ],
)
def test_comments_of_neighbours_stay(before: str, after: str) -> None:
    text = f"{HEAD}{before.replace('GONE', FLUSH)}{END}"
    assert rewritten({"train.py": text}, rule("LIT110"), unsafe=True)["train.py"] == f"{HEAD}{after}{END}"
