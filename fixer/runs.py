"""Results that are kept, so that `fixer report` can show them again."""

from __future__ import annotations

import json
import os
import re
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from fixer.errors import UsageError
from fixer.reports.words import summary
from fixer.result import Result
from verify.recorded import told

if TYPE_CHECKING:
    from cattrs import Converter

KEPT = 30
_RESULT = "result.json"
_RECORDS = "records"


def folder() -> Path:
    """Where runs are kept: `FIXER_RUNS`, or a folder of the user's state."""
    from platformdirs import user_state_path

    named = os.environ.get("FIXER_RUNS")
    return Path(named) if named else user_state_path("fixer") / "runs"


def keep(result: Result, records: Path | None = None) -> str:
    """Writes a result, and the files in `records`, to a folder of its own and returns its name; the oldest beyond KEPT
    go. Raises OSError, and leaves nothing then."""
    place = _new(folder(), result)
    text = json.dumps(_converter().unstructure(result), indent=1)
    try:
        for file in sorted(records.iterdir()) if records else ():
            (place / _RECORDS).mkdir(exist_ok=True)
            shutil.copyfile(file, place / _RECORDS / file.name)
        (place / f".{_RESULT}").write_text(text, encoding="ascii")
        (place / f".{_RESULT}").replace(place / _RESULT)
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
        raise
    for old in runs()[KEPT:]:
        shutil.rmtree(folder() / old, ignore_errors=True)
    return place.name


def runs() -> list[str]:
    """The names of the runs that are kept, the newest first."""
    root = folder()
    if not root.is_dir():
        return []
    return sorted((one.name for one in root.iterdir() if (one / _RESULT).is_file()), reverse=True)


def listed() -> str:
    """A line a run, the newest first: its name, and how it ended."""
    lines = []
    for name in runs():
        try:
            ended = summary(load(name))
        except UsageError:
            ended = "cannot be read"
        lines.append(f"{name}  {ended}\n")
    return "".join(lines)


def load(name: str | None) -> Result:
    """A kept result, by name or by the first letters of it; the newest without a name.

    Raises UsageError where there is none, or where another version of fixer wrote it in another form.
    """
    place = folder() / _found(name) / _RESULT
    try:
        result: Result = _converter().structure(json.loads(place.read_text(encoding="ascii")), Result)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{place}: cannot be read ({type(error).__name__}); run fixer again to make it anew") from None
    return result


def recordings(name: str | None) -> str | None:
    """Where the recordings of a kept run are, in a line; None where it has none. Raises UsageError as `load` does."""
    place = folder() / _found(name) / _RECORDS
    try:
        return told(place)
    except (OSError, ValueError, KeyError, TypeError):
        return f"in {place}; what each file is cannot be read"


def _found(name: str | None) -> str:
    known = runs()
    found = [one for one in known if name is None or one.startswith(name)]
    if not found:
        asked = f"no run is called '{name}'" if name else "no run has been kept"
        there = f"there are {', '.join(known[:5])}" if known else "make one with `fixer run`"
        raise UsageError(f"{asked} in {folder()}; {there}")
    return found[0]


def _new(root: Path, result: Result) -> Path:
    """A folder that did not exist before, named after the moment, the project and the branch or command."""
    now = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S-%f")
    what = re.sub(r"[^A-Za-z0-9.]+", "-", f"{result.project[:30]}-{result.branch or result.command}").strip("-")[:80]
    place = root / f"{now}-{what}"
    place.mkdir(parents=True, mode=0o700)
    return place


def _converter() -> Converter:
    from cattrs.preconf.json import make_converter

    return make_converter(detailed_validation=False)
