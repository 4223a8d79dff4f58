"""Results that are kept, so that `fixer report` can show them again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from fixer.errors import UsageError
from fixer.kept_runs import (
    DAYS,
    KEPT,
    RECORDS,
    RESULT,
    Identity,
    KeptRun,
    make_room,
    moment_of,
    new_folder,
    projects,
    root,
    runs_of,
    why_gone,
    why_without_recordings,
)
from fixer.reports.words import summary
from fixer.result import Result
from verify.judging.recorded import told

if TYPE_CHECKING:
    from cattrs import Converter

_SHOWN = 5


def keep(result: Result, project: Identity, records: Path | None = None) -> str:
    """Writes a result, and the files in `records`, to a folder of its own among those of its project and returns its
    name; the oldest for which there is no room go. Raises OSError, and leaves nothing then."""
    place = new_folder(project, result.branch or result.command)
    text = json.dumps(_converter().unstructure(result), indent=1)
    try:
        for file in sorted(records.iterdir()) if records else ():
            (place / RECORDS).mkdir(exist_ok=True)
            copy = shutil.copytree if file.is_dir() else shutil.copyfile
            copy(file, place / RECORDS / file.name)
        (place / f".{RESULT}").write_text(text, encoding="ascii")
        (place / f".{RESULT}").replace(place / RESULT)
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
        raise
    make_room()
    return place.name


def listed(project: Identity) -> str:
    """A line a run of a project, the newest first: its name, and how it ended."""
    lines = []
    for run in runs_of(project):
        try:
            ended = summary(load(run))
        except UsageError:
            ended = "cannot be read"
        lines.append(f"{run.name}  {ended}\n")
    return "".join(lines)


def load(run: KeptRun) -> Result:
    """A kept result. Raises UsageError where it cannot be read, as where another fixer wrote it in another form."""
    place = run.folder / RESULT
    try:
        result: Result = _converter().structure(json.loads(place.read_text(encoding="ascii")), Result)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{place}: cannot be read ({type(error).__name__}); run fixer again to create it") from None
    return result


def recordings(run: KeptRun) -> str | None:
    """Where the recordings of a kept run are, or why they are not there any more, in a line; None where it never had
    any."""
    place = run.folder / RECORDS
    try:
        return told(place) or why_without_recordings(run)
    except (OSError, ValueError, KeyError, TypeError):
        return f"in {place}; what each file is cannot be read"


def found(name: str | None, project: Identity) -> KeptRun:
    """A run by its name, or by how that begins: one of the project's, else the only one of any. Without a name the
    project's newest. Raises UsageError where there is none, which says what became of it as far as that is known."""
    own = runs_of(project)
    if name is None:
        if own:
            return own[0]
        raise UsageError(nothing_of(project))
    mine = [run for run in own if run.name.startswith(name)]
    every = [run for runs in projects().values() for run in runs if run.name.startswith(name)]
    if mine or len(every) == 1:
        return (mine or every)[0]
    if moment_of(name):
        why = why_gone(name) or (
            f"not in {root()}, where runs are kept for {DAYS} days, and the last {KEPT} of each project, as long as "
            "there is room"
        )
        raise UsageError(f"the run {name} is not there: {why}; run fixer again to create it")
    there = f"there are {', '.join(run.name for run in own[:_SHOWN])}" if own else nothing_of(project)
    raise UsageError(f"no run is called '{name}' in {root()}; {there}")


def nothing_of(project: Identity) -> str:
    """That no run of a project is kept, and of which others there are some."""
    place = project.place.removesuffix("/.git")
    others = [f"{where} ({runs[0].name})" for where, runs in projects().items() if where]
    there = f"; of others there are, each with its last one, {', '.join(others[:_SHOWN])}" if others else ""
    return f"no run of {place} is kept; make one with `fixer run`{there}"


def _converter() -> Converter:
    from cattrs.preconf.json import make_converter

    return make_converter(detailed_validation=False)
