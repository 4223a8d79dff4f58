"""Data made up for a script that reads what is not in its repository."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from verify.environments.versions import ReadyEnvironment
from verify.judging.record import RunRecord, events
from verify.reading.entry import Entry
from verify.reading.sources import Sources
from verify.request import Bench, Pair
from verify.retried import Watching
from verify.sandbox.process import Outcome, memory

SHARE, LONGEST_S = 0.4, 150.0
"""How much of the time that is left goes into finding out what a script reads."""
_LESS = {"limit_train_batches": 1, "limit_val_batches": 1, "max_epochs": 1}
_MEMORY = 0.3
Start = Callable[[Sources, ReadyEnvironment, Mapping[str, object]], tuple[Outcome, Path]]


def with_data(
    trees: tuple[Sources, Sources],
    entry: Entry,
    pair: Pair,
    bench: Bench,
    raws: tuple[RunRecord | None, RunRecord],
    start: Start,
) -> tuple[Watching, str] | None:
    """How both trees are to be run again with data that the tree before did not find, and why in words; None where it
    lacks none, or what it lacks is not found out. `trees` and `raws` are those before and after: the tree after is
    asked where the one before fails for something else, and never where that trains: what it lacks then is a mistake.
    """
    old, new = raws
    if old is not None and old.recording.fitted:
        return None
    watched = bench.watching.get(entry.script, {})
    for tree, ready, raw in ((trees[0], pair.before, old), (trees[1], pair.after, new)):
        if ready is None or raw is None or raw.recording.fitted or raw.lacks != "data" or bench.clock.is_over():
            continue
        bench.progress(f"finding out what data {entry.script} reads that is not here")
        budget = min(LONGEST_S, bench.clock.allowed() * SHARE)
        spec = {"mode": "data", "budget": budget, "seconds": budget + 20, "memory": memory() * _MEMORY, **_LESS}
        _, record = start(tree, ready, {**spec, "made": watched.get("made", ())})
        plans = [event["plan"] for event in events(record) if event.get("event") == "made"]
        plan: list[Any] = plans[-1] if plans else []
        made = tuple(json.dumps(each) for each in plan if _is_entry(each))
        if made and made != watched.get("made"):
            return {**watched, "made": made}, "with data made up from what reads it"
    return None


def _is_entry(value: Any) -> bool:
    """Whether something is an entry as the harness writes it: the project's code can write to that file too."""
    return isinstance(value, dict) and isinstance(value.get("path"), str) and isinstance(value.get("kind"), str)
