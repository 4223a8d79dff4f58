"""Which release of Lightning the tree before runs on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from verify.environments.releases import MINORS, ReleaseLine, minor_of

LIGHTNING = ("pytorch-lightning", "lightning")


@dataclass(frozen=True)
class Choice:
    """A release and why it was chosen."""

    version: Version
    reason: str


def requirement(line: str) -> Requirement | None:
    """The requirement that a line states, None where it is none."""
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def named(pins: Iterable[str], names: Iterable[str]) -> list[Requirement]:
    """The requirements among `pins` on one of these distributions."""
    wanted = set(names)
    parsed = (requirement(pin) for pin in pins)
    return [found for found in parsed if found and canonicalize_name(found.name) in wanted]


def choose(pins: Iterable[str], below: str | None, target: str) -> Choice:
    """The newest release that installs today, that the pins admit and that is older than `below`.

    Where only releases that no longer install are admitted, the nearest one that does is taken; the reason
    always says what happened.
    """
    found = named(pins, LIGHTNING)
    specifier = SpecifierSet(",".join(str(pin.specifier) for pin in found if pin.specifier))
    limit = Version(below) if below else None
    known = [version for minor in MINORS for version in minor.versions if version <= Version(target)]
    old = [version for version in known if limit is None or version < limit]
    if not old:
        return Choice(MINORS[0].version(MINORS[0].newest), f"nothing older than {below} installs; the oldest is")
    admitted = list(specifier.filter(old, prereleases=False))
    said = _said(specifier, limit)
    if not admitted:
        return _nearest(specifier, old, said)
    newest = admitted[-1]
    installable = [version for version in admitted if _installs(version)]
    if installable:
        return Choice(installable[-1], f"the newest release that {said} and that installs today")
    minor = minor_of(newest) or MINORS[0]
    taken = minor.version(minor.newest)
    return Choice(taken, f"{newest} no longer installs; {taken} is the nearest release of {minor.name} that does")


def _installs(version: Version) -> bool:
    minor = minor_of(version)
    return minor is not None and version.micro >= minor.oldest


def _said(specifier: SpecifierSet, limit: Version | None) -> str:
    admit = f"the requirements allow ({specifier})" if str(specifier) else "the open requirements allow"
    return f"{admit}, older than {limit} since the old code needs it," if limit else admit


def _nearest(specifier: SpecifierSet, old: list[Version], said: str) -> Choice:
    """The release to take where no known one is admitted: the oldest for a pin on something older still."""
    bounds = [Version(clause.version.removesuffix(".*")) for clause in specifier]
    ancient = [bound for bound in bounds if bound < old[0]]
    exact = any(clause.operator in ("==", "===", "~=", "<", "<=") for clause in specifier)
    if ancient and exact:
        return Choice(_oldest(), f"nothing that {said} installs today; {_oldest()} is the oldest that does")
    installable = [version for version in old if _installs(version)]
    return Choice(installable[-1], f"nothing {said} exists; {installable[-1]} is the newest the old code can run on")


def _oldest() -> Version:
    first: ReleaseLine = MINORS[0]
    return first.version(first.newest)
