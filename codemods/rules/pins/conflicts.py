"""Requirements that no release meets: by their own conditions, or beside another one of the same code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from codemods.lightning.pins.manifest import INSTALLS
from codemods.lightning.pins.pin import NAMES, Pin
from codemods.lightning.pins.reach import Area, Manifest
from codemods.lightning.pins.specifier import admits, releases
from codemods.rules.pins.lightning import PinVerdict, fitting, is_dead, shown

MAIN = frozenset(
    {"setup.py", "setup.cfg", "pyproject.toml", "Pipfile", "requirements.txt", "environment.yml", "environment.yaml"}
)
"""Manifests that are for every installation: one of another name may be for another machine or purpose."""
WHOLE = frozenset({"environment.yml", "environment.yaml", "requirements.txt", "Pipfile"})
"""Manifests that may each be all that an environment is made of."""
TOGETHER = "no release satisfies both, and both are for the same code: keep one of them"
APART = "no release satisfies both: if the two files are for one environment, keep one of the requirements"


def contradictions(own: Manifest, area: Area, target: str) -> Iterator[tuple[Pin, PinVerdict]]:
    """The requirements of a manifest that contradict themselves, or, as they will be, an earlier one of the area.

    Those of extras, groups and markers are for other installations, and so are those of commands and of files with
    names of their own.
    """
    every = [(item, pin) for item in area.manifests if item.kind not in INSTALLS for pin in item.pins if _plain(pin)]
    for item, pin in every:
        if item.path == own.path and not _meet(pin, pin, area, target):
            message = f"`{shown(pin)}` allows no release"
            reason = "its conditions exclude each other: keep one of them"
            yield pin, PinVerdict(message, "manual", reason, stops=True)
    for (first, early), (second, late) in combinations(every, 2):
        if second.path != own.path or early.name != late.name or not _for_all(first, second):
            continue
        if _meet(early, late, area, target):
            continue
        if all(_meet(pin, pin, area, target) for pin in (early, late)):
            message = f"`{shown(late)}` contradicts `{shown(early)}` in {first.path}"
            apart = _may_be_apart(first, second)
            yield late, PinVerdict(message, "manual", APART if apart else TOGETHER, stops=not apart)


def _for_all(first: Manifest, second: Manifest) -> bool:
    names = {item.path.rpartition("/")[2] for item in (first, second)}
    return first.path == second.path or names <= MAIN


def _may_be_apart(first: Manifest, second: Manifest) -> bool:
    """Whether two manifests may be two ways to make an environment, of which nobody goes both."""
    return first.path != second.path and all(item.path.rpartition("/")[2] in WHOLE for item in (first, second))


def _plain(pin: Pin) -> bool:
    conditional = ";" in pin.requirement and not is_dead(pin)
    return pin.name in NAMES and bool(pin.requirement) and not pin.group and not conditional and not is_dead(pin)


def _meet(first: Pin, second: Pin, area: Area, target: str) -> bool:
    texts = [(fitting(pin, area, target) or pin.meant, pin.language) for pin in (first, second)]
    return any(all(admits(text, release, language) for text, language in texts) for release in releases(*texts))
