"""Errors of code that asks for data, and the plans that follow them."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

from verify.harness.data_errors import following
from verify.harness.made_data import Entry, remove, write


def raised(root: Path, text: str, **names: Any) -> BaseException:
    """The error that code of a project raises."""
    script = root / "train.py"
    script.write_text(text)
    linecache.checkcache(str(script))
    try:
        exec(compile(text, str(script), "exec"), {"root": root, "__name__": "train", **names})
    except Exception as error:
        return error
    raise AssertionError("it raised nothing")


def climbed(root: Path, text: str, tries: int = 12, **names: Any) -> list[Entry]:
    """The plan with which code of a project runs."""
    plan: list[Entry] = []
    for _ in range(tries):
        write(plan, root)
        try:
            error = raised(root, text, **names)
        except AssertionError:
            return plan
        found = following(error, plan, (), root)
        assert found, error
        for entry in plan:
            if entry not in found[0]:
                remove(entry, root)
        plan = found[0]
    raise AssertionError(plan)


ROWS = "import csv\nrows = list(csv.DictReader(open(root / 'data/a.csv')))\n"
