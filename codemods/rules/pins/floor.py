"""Requirements on torch and torchmetrics that admit releases on which rewritten code does not run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from packaging.version import Version

from codemods.lightning.facts import Facts
from codemods.lightning.pins.compat import built_for
from codemods.lightning.pins.manifest import INSTALLS
from codemods.lightning.pins.pin import LIGHTNING, Pin
from codemods.lightning.pins.reach import Area, Manifest, home_of, nearest
from codemods.lightning.pins.specifier import admits, admits_from, floored, lifted
from codemods.rule import all_rules
from codemods.rules.pins.companion_packages import why_not
from codemods.rules.pins.lightning import PinVerdict, after, shown


def raising(
    own: Manifest, others: Mapping[str, Manifest], area: Area, facts: Facts
) -> Iterator[tuple[Pin, PinVerdict]]:
    """What becomes of the requirements of a manifest on torch and torchmetrics, where what was rewritten needs a newer
    one.

    Nothing where every Lightning that is still admitted asks for such a one itself, nor of a name alone where another
    manifest of the same code says which.
    """
    if own.kind in INSTALLS:
        return
    for name in ("torch", "torchmetrics"):
        beside = _beside(name, own, others, facts)
        needed = _needed(name, own, beside, facts)
        for pin in own.pins if needed else ():
            if pin.name != name or not pin.requirement or pin.problem == "locked" or not needed:
                continue
            told = not pin.specifier.strip(" *") and any(not _admits_older(other, needed) for _, other in beside)
            if (
                not told
                and _admits_older(pin, needed)
                and not _asked_for_by_lightning(pin, needed, own, area, facts.target)
            ):
                yield pin, _verdict(pin, own, area, needed)


def reaching(pin: Pin, found: PinVerdict, own: Manifest, others: Mapping[str, Manifest], facts: Facts) -> PinVerdict:
    """The verdict on a requirement that moves along with Lightning, as far as what was rewritten needs it to move."""
    needed = None
    if found.wanted is not None and pin.name == "torchmetrics":
        needed = _needed(pin.name, own, _beside(pin.name, own, others, facts), facts)
    if found.wanted is None or needed is None:
        return found
    wanted = lifted(pin.meant, needed, needed, pin.language)
    if admits_from(found.wanted, needed, pin.language):
        older = _admits_older(replace(pin, specifier=found.wanted, repaired=""), needed)
        wanted = floored(found.wanted, needed, pin.language) if older else None
        if wanted is None:
            return found
    if wanted is None:
        return replace(
            found, fix="manual", reason=f"what was rewritten needs {pin.name}>={needed}: raise it", wanted=None
        )
    return replace(
        found, reason=found.reason.replace(found.wanted, f"{wanted}, which what was rewritten needs"), wanted=wanted
    )


def _beside(name: str, own: Manifest, others: Mapping[str, Manifest], facts: Facts) -> list[tuple[str, Pin]]:
    """The requirements of all manifests on something, with the folders that they are for."""
    return [
        (home_of(manifest.path, facts), pin)
        for manifest in {**others, own.path: own}.values()
        if manifest.kind not in (*INSTALLS, "lock")
        for pin in manifest.pins
        if pin.name == name and pin.requirement
    ]


def _needed(name: str, own: Manifest, beside: list[tuple[str, Pin]], facts: Facts) -> str | None:
    """The oldest release on which the rewritten code runs that a manifest is for: what has no nearer one that states
    the same."""
    asked: dict[str, str | None] = {rule.code: getattr(rule, name) for rule in all_rules()}
    homes, home = {folder for folder, _ in beside}, home_of(own.path, facts)
    found = (
        release
        for item in facts.planned
        if item.applied
        and (release := (name == "torchmetrics" and item.torchmetrics) or asked.get(item.code))
        and (len(homes) == 1 or nearest(item.path, homes) == home)
    )
    return max(found, key=Version, default=None)


def _admits_older(pin: Pin, needed: str) -> bool:
    olds = (f"{major}.{minor}.{patch}" for major in (0, 1, 2) for minor in range(20) for patch in range(4))
    return any(Version(old) < Version(needed) and admits(pin.meant, old, pin.language) for old in olds)


def _asked_for_by_lightning(pin: Pin, needed: str, own: Manifest, area: Area, target: str) -> bool:
    if not any(other.name in LIGHTNING for other in area.pins):
        return False
    left = after(own, pin.group, area, target)
    return bool(left) and all(Version(minor.beside[pin.name].floor) >= Version(needed) for minor in left)


def _verdict(pin: Pin, own: Manifest, area: Area, needed: str) -> PinVerdict:
    message = f"`{shown(pin)}` allows releases that the rewritten code does not run on"
    asked = f"what was rewritten needs {pin.name}>={needed}"
    if not admits_from(pin.meant, needed, pin.language):
        message = f"`{shown(pin)}` is too old for the rewritten code"
        return PinVerdict(message, "manual", f"{asked}: raise it", stops=True)
    along = built_for(needed) if pin.name == "torch" else {}
    held = [other for other in own.pins if other.name in along and other.group in ("", pin.group)]
    behind = [other for other in held if not admits_from(other.meant, along[other.name], other.language)]
    why = why_not(pin, own, area) or (behind and f"raise it together with {shown(behind[0])}, which is built for it")
    wanted = floored(pin.meant, needed, pin.language)
    if why or wanted is None:
        return PinVerdict(message, "manual", f"{asked}; {why or 'its conditions leave no room for that: rewrite it'}")
    return PinVerdict(message, "safe", f"{asked}: {pin.specifier or 'any version'} becomes {wanted}", wanted)
