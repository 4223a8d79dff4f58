"""Runs of the harness that came to their end, kept in a folder: a proof that goes on where another was ended takes
them from there."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from verify.environments.interpreters import Interpreter
from verify.harness.pace import SLOW
from verify.judging.record import events
from verify.sandbox.process import Outcome

_OUTCOME = "outcome.json"
_PLACES = frozenset({"record", "scratch", "seconds", "budget"})
"""What of a specification says where and how long, and not what."""
_LONGER = 1.1


def key_of(
    name: str, tree: str, spec: Mapping[str, Any], interpreter: Interpreter, harness: Iterable[Path], *more: object
) -> str:
    """What a run is told from others by: its name, the digest of its tree, what the harness is asked for, where it
    runs, and the harness itself."""
    asked = {key: value for key, value in spec.items() if key not in _PLACES}
    asked["recipes"] = [
        {key: value for key, value in recipe.items() if key != "record"} for recipe in spec.get("recipes", ())
    ]
    there = [interpreter.python, str(interpreter.path), sorted(interpreter.packages.items())]
    text = json.dumps([name, tree, asked, there, _digest(tuple(harness)), more], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@functools.cache
def _digest(files: tuple[Path, ...]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def digest(root: Path, left_out: Iterable[str]) -> str:
    """What is in a tree, but for folders of these names."""
    found, spared = hashlib.sha256(), set(left_out)
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in spared)
        for name in sorted(files):
            place = Path(folder, name)
            found.update(f"{place.relative_to(root).as_posix()}\0".encode("utf-8", "surrogateescape"))
            data = os.fsencode(place.readlink()) if place.is_symlink() else place.read_bytes()
            found.update(hashlib.sha256(data).digest())
    return found.hexdigest()


def take(folder: Path, key: str, places: Sequence[Path], budget: float | None) -> Outcome | None:
    """How a run ended that is kept, after its recordings were copied to these places; None where there is none. A
    search that came to the end of its time is not taken where there is more of that now."""
    kept = folder / key
    try:
        told = json.loads((kept / _OUTCOME).read_text(encoding="ascii"))
        if told["late"] and budget is not None and budget > _LONGER * told["budget"]:
            return None
        for number, place in enumerate(places):
            if (record := kept / f"{number}.jsonl").is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(record, place)
        return Outcome(**told["outcome"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(folder: Path, key: str, outcome: Outcome, places: Sequence[Path], budget: float | None) -> None:
    """Keep a run that was not ended by us, by its pace or its time. A disk that is full changes nothing of a proof."""
    if outcome.ended or any(event.get("type") in SLOW for place in places[:1] for event in events(place)):
        return
    new = folder / f".{key}"
    with contextlib.suppress(OSError):
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True, mode=0o700)
        for number, place in enumerate(places):
            if place.is_file() and not place.is_symlink():
                shutil.copyfile(place, new / f"{number}.jsonl")
        late = any(event.get("late") is True for event in events(places[0]))
        told = {"outcome": asdict(outcome), "late": late, "budget": budget}
        (new / _OUTCOME).write_text(json.dumps(told), encoding="ascii")
        shutil.rmtree(folder / key, ignore_errors=True)
        new.rename(folder / key)
