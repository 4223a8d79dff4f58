"""Finds out what data a script reads that is not here, by running it and following its errors.

Runs in the target's interpreter, beside the harness. Each try is a process of its own, started where torch and
Lightning are loaded already; what it says is missing is made up for the next one.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .alone_data import aside
from .data_counts import beyond_a_batch
from .data_errors import following
from .made_data import Entry, remove, write
from .trackers import Changed

TRIES = 40


def search(
    spec: dict[str, Any],
    root: Path,
    run: Callable[[], None],
    steps: Callable[[], int],
    tell: Callable[[list[Entry]], None],
) -> list[Entry]:
    """What has to be made up so that `run`, which runs the script, gets as far as it can; `steps` says how many
    optimizer steps it made. Each plan is told before it is tried, as the search may be ended for its time. Files are
    left as the last try had them."""
    plan: list[Entry] = [json.loads(text) for text in spec["made"]]
    end = time.monotonic() + spec["budget"]
    known = [plan]
    for _ in range(TRIES):
        write(plan, root)
        answer, _ = aside(functools.partial(_tried, run, steps, plan, root), end - time.monotonic(), spec["memory"])
        sys.stdout.write(f"data: {answer['why'] if answer else 'nothing was said'}\n")
        if not answer or answer["plan"] is None or answer["plan"] in known:
            break
        for entry in plan:
            if entry not in answer["plan"]:
                remove(entry, root)
        plan = answer["plan"]
        known.append(plan)
        tell(plan)
    return plan


class Trained(BaseException):
    """`fit` came to its end: what the script does then reads nothing that a training needs."""


def until_fitted(event: str, **values: Any) -> None:
    """Takes what a training records, and ends the try with `fit`."""
    if event == "fitted":
        raise Trained


def _tried(
    run: Callable[[], None], steps: Callable[[], int], plan: list[Entry], root: Path, tell: Callable[[str], None]
) -> dict[str, Any]:
    """One try: the plan for the next one, None where nothing more is asked for, and what that was for."""
    globs: dict[str, None] = {}
    watch_globs(globs)
    try:
        run()
    except Trained:
        pass
    except SystemExit as stop:
        return {"plan": None, "why": f"it ends with {stop.code}"}
    except BaseException as error:
        said = f"{type(error).__name__}: {str(error)[:200]}"
        if found := following(error, plan, globs, root):
            return {"plan": found[0], "why": f"{said}; made {found[1]}"}
        return {"plan": None, "why": said}
    if not steps() and (more := beyond_a_batch(plan)):
        return {"plan": more[0], "why": f"it trains on no batch; made {more[1]}"}
    return {"plan": None, "why": "it trains"}


def watch_pictures(unread: dict[str, None]) -> None:
    """Note the files that are not here and that OpenCV is asked to read: it gives None for them, and says nothing."""

    def change(module: Any) -> None:
        plain = module.imread

        @functools.wraps(plain)
        def imread(filename: Any, *args: Any, **kwargs: Any) -> Any:
            if not os.path.exists(filename):  # noqa: PTH110
                unread[str(filename)] = None
            return plain(filename, *args, **kwargs)

        module.imread = imread

    if "cv2" in sys.modules:
        change(sys.modules["cv2"])
    else:
        sys.meta_path.insert(0, Changed("cv2", change))


def watch_globs(found: dict[str, None]) -> None:
    """Note the patterns that find nothing, and the folders that are walked and are not there."""
    import glob

    made: Any = glob
    paths: Any = Path
    system: Any = os
    plain, walk = made.iglob, system.walk

    @functools.wraps(plain)
    def noted(pathname: Any, *args: Any, **kwargs: Any) -> Any:
        held = list(plain(pathname, *args, **kwargs))
        if not held:
            base = kwargs.get("root_dir")
            found[os.path.join(base, pathname) if base else str(pathname)] = None  # noqa: PTH118
        return iter(held)

    @functools.wraps(walk)
    def walked(top: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        if not os.path.isdir(top):  # noqa: PTH112
            found[str(top)] = None
        return iter(walk(top, *args, **kwargs))

    def method(name: str, deep: str) -> None:
        original = getattr(paths, name)

        @functools.wraps(original)
        def noted(self: Path, pattern: str, *args: Any, **kwargs: Any) -> Any:
            held = list(original(self, pattern, *args, **kwargs))
            if not held:
                found[str(self / deep / pattern)] = None
            return iter(held)

        setattr(paths, name, noted)

    made.iglob = noted
    system.walk = walked
    method("glob", "")
    method("rglob", "**")
