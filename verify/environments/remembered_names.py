"""What an environment says of names, remembered: asking takes an import of torch and Lightning."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from verify.environments.interpreters import Interpreter
from verify.harness import HARNESS

Event = Mapping[str, Any]
FOLDER = "names"
ASKING = tuple(HARNESS.with_name(name) for name in (HARNESS.name, "facts.py", "compat_shims.py"))
"""The code that asks: once it changes, it may be told something else."""


def remembered(cache: Path, interpreter: Interpreter) -> tuple[Event, ...]:
    """What was asked of an environment before, as the harness told it."""
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        return answers(json.loads(_place(cache, interpreter).read_text(encoding="utf-8")))
    return ()


def answers(events: Iterable[Any]) -> tuple[Event, ...]:
    """Those events that say something of a name or a method, as the harness does: packages can write to its file."""
    return tuple(event for event in events if isinstance(event, dict) and _key(event))


def unloadable(events: Iterable[Any]) -> str | None:
    """Why the Lightning of the environment cannot be loaded, where it cannot: that says nothing of its names."""
    for event in events:
        match event:
            case {"event": "unloadable", "reason": str(reason)}:
                return reason
    return None


def remember(cache: Path, interpreter: Interpreter, events: Iterable[Event]) -> None:
    """Keep what an environment told; one that is being developed may tell something else tomorrow."""
    if any("dev" in version or "+" in version for name, version in interpreter.packages.items() if "lightning" in name):
        return
    kept = {key: event for event in (*remembered(cache, interpreter), *events) if (key := _key(event))}
    place = _place(cache, interpreter)
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(list(kept.values())), encoding="utf-8")
        new.replace(place)


def unanswered(asked: Mapping[str, Sequence[Any]], events: Iterable[Event]) -> dict[str, list[Any]]:
    """What has still to be asked."""
    known = {_key(event) for event in events}
    return {
        "names": [name for name in asked["names"] if ("name", name) not in known],
        "methods": [pair for pair in asked["methods"] if ("method", *pair) not in known],
    }


def _key(event: Event) -> tuple[str, ...] | None:
    """What an event answers, None where it is none of the harness's."""
    rows = event.get("parameters")
    listed = isinstance(rows, list) and all(isinstance(row, list) and len(row) == 3 for row in rows)
    if rows is not None and not listed:
        return None
    match event:
        case {"event": "name", "name": str(name), "missing": None | str(), "role": None | str()}:
            return ("name", name)
        case {"event": "method", "base": str(base), "method": str(method), "exists": bool()}:
            return ("method", base, method)
    return None


def _place(cache: Path, interpreter: Interpreter) -> Path:
    """The file of an environment, which is another one once anything was installed into it."""
    changed = []
    for folder in interpreter.folders:
        with contextlib.suppress(OSError):
            changed.append([folder, Path(folder).stat().st_mtime_ns if folder.endswith("-packages") else 0])
    is_now: list[Any] = [str(interpreter.path), interpreter.python, sorted(interpreter.packages.items()), changed]
    is_now += [hashlib.sha256(path.read_bytes()).hexdigest() for path in ASKING]
    return cache / FOLDER / f"{hashlib.sha256(json.dumps(is_now).encode()).hexdigest()[:16]}.json"
