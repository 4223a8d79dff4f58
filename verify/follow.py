"""What runs have come to so far, told while they go on: the files that the harness writes are read as they grow."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

_EVERY_S = 0.25
_READ = 2**20

Tell = Callable[[str], None]


class PassingLine(str):
    """A line of progress that the next one makes stale: for a terminal, and only now and then for a log."""

    __slots__ = ()


class ProgressLine:
    """One line about runs that go on side by side, told anew whenever one of them gets on."""

    def __init__(self, progress: Tell, what: str) -> None:
        self._progress = progress
        self._what = what
        self._told: dict[str, str] = {}
        self._lock = threading.Lock()

    def side(self, name: str) -> Tell:
        """What a run of this name is told with."""

        def tell(text: str) -> None:
            with self._lock:
                if self._told.get(name) != text:
                    self._told[name] = text
                    sides = "; ".join(f"{side}: {said}" for side, said in sorted(self._told.items(), reverse=True))
                    self._progress(PassingLine(f"{self._what}: {sides}"))

        return tell


class EventFile:
    """One file of events that grows, and what the events so far come to. What is in it is not trusted: the project's
    code can write to it too."""

    def __init__(self, path: Path, label: str = "") -> None:
        self.path = path
        self.label = label
        self.began = False
        self._at = 0
        self._rest = b""
        self._looked = self._steps = 0
        self._batch: tuple[int, int] | None = None
        self._loss: float | None = None
        self._done = ""

    def look(self) -> None:
        """Reads what was added."""
        with contextlib.suppress(OSError):
            if self.path.is_symlink() or not self.path.is_file():
                return
            with self.path.open("rb") as stream:
                stream.seek(self._at)
                added = stream.read(_READ)
            self._at += len(added)
            *lines, self._rest = (self._rest + added).split(b"\n")
            self._rest = self._rest[-_READ:]
            for line in lines:
                with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError, OverflowError):
                    self._take(json.loads(line))

    def _take(self, event: Mapping[str, Any]) -> None:
        self.began = True
        kind = event["event"]
        if kind == "batch":
            self._batch = int(event["number"]), int(event["of"])
        elif kind == "step":
            self._steps += 1
        elif kind == "loss":
            self._loss = float(event["value"])
        elif kind in ("recipe", "unfound"):
            self._looked += 1
        elif kind in ("failure", "unusable"):
            self._done = "failed"
        elif kind == "fitted":
            self._done = "trained"

    def told(self) -> str:
        """How far it is."""
        if self._looked:
            return f"{self._looked} looked at"
        steps = f"step {self._batch[0]} of {self._batch[1]}" if self._batch else f"step {self._steps}"
        how = [steps] if self._batch or self._steps else []
        how += [f"loss {self._loss:.4g}"] if self._loss is not None else []
        return ", ".join([*filter(None, [self.label, self._done]), *how]) or "starting"


@contextlib.contextmanager
def following(spec: Mapping[str, object], record: Path, tell: Tell) -> Iterator[None]:
    """Tells how far a run is while the body waits for its end; it writes to `record`, or to those of its recipes."""
    files = [EventFile(record)]
    recipes = spec.get("recipes")
    if isinstance(recipes, list):
        count = len(recipes)
        files += [EventFile(Path(one["record"]), f"{one['cls']} ({n} of {count})") for n, one in enumerate(recipes, 1)]
    ended = threading.Event()

    def look() -> None:
        for file in files:
            file.look()
        tell(next((file for file in reversed(files) if file.began), files[0]).told())

    def follow() -> None:
        while not ended.wait(_EVERY_S):
            look()

    tell("starting")
    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        look()
