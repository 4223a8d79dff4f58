"""Data that is made up for a script: what a search told before it was ended counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.verify.test_provided import failed
from verify.made_up import with_data
from verify.reading.entry import Entry
from verify.sandbox.process import Outcome

FIRST, SECOND = ({"path": f"data/{name}.csv", "kind": "table"} for name in "ab")


@pytest.mark.parametrize(
    ("events", "made"),
    [
        ([[FIRST], [FIRST, SECOND]], [FIRST, SECOND]),
        ([[FIRST]], [FIRST]),
        ([], None),
    ],
)
def test_the_last_plan_that_was_told_is_taken(events: list[list[Any]], made: list[Any] | None, tmp_path: Path) -> None:
    raw = replace(failed(tmp_path, "no data"), lacks="data")
    clock = SimpleNamespace(is_over=lambda: False, allowed=lambda: 100.0)
    bench: Any = SimpleNamespace(watching={}, clock=clock, progress=lambda text: None)
    pair: Any = SimpleNamespace(before="old", after="new")

    def start(*_: Any) -> tuple[Outcome, Path]:
        record = tmp_path / "search.jsonl"
        record.write_text("".join(json.dumps({"event": "made", "plan": plan}) + "\n" for plan in events))
        return Outcome(-9, "", "it ran longer than 9 seconds", 9.0), record

    trees: Any = ("before", "after")
    found = with_data(trees, Entry("train.py"), pair, bench, (raw, raw), start)
    assert (None if found is None else [json.loads(text) for text in found[0]["made"]]) == made
