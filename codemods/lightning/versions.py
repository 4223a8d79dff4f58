"""Which releases of torch, Lightning and transformers the project's pins admit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from codemods.lightning.facts import Facts

TORCH = ("torch",)
LIGHTNING = ("lightning", "pytorch-lightning")
_MINORS = {1: range(0, 20), 2: range(0, 40), 4: range(0, 58)}
"""The releases of torch, Lightning and transformers that a range of versions is tried on."""


def admits_below(facts: Facts, names: Sequence[str], limit: str) -> bool:
    """Whether the pins on those packages admit a release before `limit`; where none says a version, they do."""
    return _any_admits(facts.pins, frozenset(names), "0.dev0", limit)


def demands(facts: Facts, names: Iterable[str], limit: str) -> bool:
    """Whether a pin on those packages admits no release before `limit`, as the one of a part of the project may."""
    return any(not _any_admits((pin,), frozenset(names), "0.dev0", limit) for pin in facts.pins)


def newest_admitted(facts: Facts, name: str, newest: str) -> tuple[Version | None, ...]:
    """The newest release, up to one, that each pin on a package with a version admits; None where that is not known."""
    last = Version(newest)
    return tuple(
        max(
            (
                version
                for version in (last, *_RELEASES, *_named(item))
                if version <= last and item.specifier.contains(version, prereleases=True)
            ),
            default=None,
        )
        for item in _specifiers(facts.pins, frozenset({name}))
    )


def pinned_names(facts: Facts) -> frozenset[str]:
    """The distributions that the pins name, in their canonical form."""
    found = set()
    for text in facts.pins:
        with suppress(InvalidRequirement):
            found.add(str(canonicalize_name(Requirement(text).name)))
    return frozenset(found)


def is_open(facts: Facts, names: Iterable[str]) -> bool:
    """Whether no pin on those packages says a version."""
    return not _specifiers(facts.pins, frozenset(names))


@lru_cache(maxsize=1000)
def _specifiers(pins: tuple[str, ...], names: frozenset[str]) -> list[Requirement]:
    found = []
    for text in pins:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if canonicalize_name(requirement.name) in names and requirement.specifier:
            found.append(requirement)
    return found


def _named(requirement: Requirement) -> list[Version]:
    """The versions that the requirement writes down, local ones (`2.1.0+cu118`) among them."""
    found = []
    for clause in requirement.specifier:
        try:
            found.append(Version(clause.version.removesuffix(".*")))
        except InvalidVersion:
            continue
    return found


_RELEASES = tuple(
    Version(f"{major}.{minor}.{patch}") for major, minors in _MINORS.items() for minor in minors for patch in range(11)
)


def admits_from(facts: Facts, names: Iterable[str], limit: str, below: str = "999") -> bool:
    """Whether the pins on those packages admit a release from `limit` on and before `below`; where none says a version,
    they do."""
    return _any_admits(facts.pins, frozenset(names), limit, below)


@lru_cache(maxsize=1000)
def _any_admits(pins: tuple[str, ...], names: frozenset[str], limit: str, below: str) -> bool:
    bound, end = Version(limit), Version(below)
    specifiers = _specifiers(pins, names)
    return not specifiers or any(
        bound <= version < end and item.specifier.contains(version, prereleases=True)
        for item in specifiers
        for version in (bound, *_RELEASES, *_named(item))
    )


def reaches(facts: Facts, release: str) -> bool:
    """Whether the target is that release or a later one, as it is where none is named."""
    return not facts.target or Version(facts.target) >= Version(release)
