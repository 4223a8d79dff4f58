"""Requirements on torch and torchmetrics that admit releases on which rewritten code does not run."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from codemods.pins.beside import why_not
from codemods.pins.compat import built_for
from codemods.pins.lightning import Verdict, after, shown
from codemods.pins.pin import LIGHTNING, Pin
from codemods.pins.reach import Area, Manifest
from codemods.pins.specifier import admits, admits_from, floored


def raising(own: Manifest, area: Area, target: str) -> Iterator[tuple[Pin, Verdict]]:
    """What becomes of the requirements of a manifest on torch and torchmetrics, where what was rewritten needs a newer
    one.

    Nothing where every Lightning that is still admitted asks for such a one itself.
    """
    for pin in own.pins:
        needed = area.beside.get(pin.name)
        if not needed or not pin.requirement or pin.problem == "locked":
            continue
        if _admits_older(pin, needed) and not _asked_for_by_lightning(pin, needed, own, area, target):
            yield pin, _verdict(pin, own, area, needed)


def _admits_older(pin: Pin, needed: str) -> bool:
    olds = (f"{major}.{minor}.{patch}" for major in (0, 1, 2) for minor in range(20) for patch in range(4))
    return any(Version(old) < Version(needed) and admits(pin.meant, old, pin.language) for old in olds)


def _asked_for_by_lightning(pin: Pin, needed: str, own: Manifest, area: Area, target: str) -> bool:
    if not any(other.name in LIGHTNING for other in area.pins):
        return False
    left = after(own, pin.group, area, target)
    return bool(left) and all(Version(minor.beside[pin.name].floor) >= Version(needed) for minor in left)


def _verdict(pin: Pin, own: Manifest, area: Area, needed: str) -> Verdict:
    message = f"`{shown(pin)}` admits releases that the rewritten code does not run on"
    asked = f"what was rewritten needs {pin.name}>={needed}"
    if not admits_from(pin.meant, needed, pin.language):
        return Verdict(f"`{shown(pin)}` is too old for the rewritten code", "manual", f"{asked}: raise it")
    along = built_for(needed) if pin.name == "torch" else {}
    held = [other for other in own.pins if other.name in along and other.group in ("", pin.group)]
    behind = [other for other in held if not admits_from(other.meant, along[other.name], other.language)]
    why = why_not(pin, own, area) or (behind and f"raise it together with {shown(behind[0])}, which is built for it")
    wanted = floored(pin.meant, needed, pin.language)
    if why or wanted is None:
        return Verdict(message, "manual", f"{asked}; {why or 'its conditions leave no room for that: write it anew'}")
    return Verdict(message, "safe", f"{asked}: {pin.specifier or 'any version'} becomes {wanted}", wanted)
