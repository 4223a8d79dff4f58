"""Which release old code must be older than, as the names say that it takes from Lightning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from verify.environments.baseline import LIGHTNING, named
from verify.environments.releases import MINORS
from verify.reading.sources import NAMESPACES, Sources
from verify.reading.uses import Call, Name, OverriddenHook, of_file

_UNINSTALLABLE = ("0.10.0", "1.0.8", "1.1.8", "1.2.10", "1.3.8")
"""The last releases of minors that no longer install: pins may still admit them."""
_SPACES = (f"{NAMESPACES[1]}.pytorch.", f"{NAMESPACES[0]}.")


def oldest(limits: Iterable[str], pins: Iterable[str]) -> str | None:
    """The oldest of the releases that old code must be older than, by what is found in it; None where there is none.

    A find that the code would not have run with on anything the pins admit says nothing of the rest of it, and is
    passed over, unless all are of that kind.
    """
    admitted = SpecifierSet(",".join(str(pin.specifier) for pin in named(pins, LIGHTNING) if pin.specifier))
    every = [Version(text) for text in _UNINSTALLABLE] + [version for minor in MINORS for version in minor.versions]
    known = list(admitted.filter(every))
    found = sorted(map(Version, limits))
    usable = [limit for limit in found if any(version < limit for version in known)]
    return next((str(limit) for limit in (*usable, *found)), None)


def older_than(sources: Sources, below: str, pins: Iterable[str], lasted: Mapping[str, str]) -> str:
    """The first release that lacks a name or a hook which a tree uses, where that is older than `below`, but not older
    than the pins admit, nor than what installs: a name that no such release has decides nothing. `lasted` says which
    release was the last to have a name that is gone, without its namespace, or a hook (`Callback.on_init_end`)."""
    admitted = SpecifierSet(",".join(str(pin.specifier) for pin in named(pins, LIGHTNING) if pin.specifier))
    known = [version for minor in MINORS for version in minor.versions[minor.oldest :] if version in admitted]
    limits = {_lacking(name, lasted) for name in _used(sources)}
    usable = [limit for limit in limits if limit and any(version < limit for version in known)]
    return str(min((Version(below), *usable)))


def _used(sources: Sources) -> Iterator[str]:
    """The names that a tree uses, without their namespace, and the hooks that its classes have, which 1.8 refuses even
    where only the project calls them."""
    for path in sources.paths():
        for use in of_file(sources, path):
            if isinstance(use, Name | Call):
                space = next((each for each in _SPACES if use.name.startswith(each)), None)
                yield from () if space is None else (use.name.removeprefix(space),)
            elif isinstance(use, OverriddenHook):
                yield f"{use.base.rpartition('.')[2]}.{use.name}"


def _lacking(name: str, lasted: Mapping[str, str]) -> Version | None:
    """The first release without a name; None for a name that is there still, or never was."""
    last = lasted.get(name)
    if last is None:
        return None
    later = (minor.version(0) for minor in MINORS if minor.version(0).release[:2] > Version(last).release[:2])
    return next(later, None)
