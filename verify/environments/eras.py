"""Which release old code must be older than, as the names say that it takes from Lightning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from verify.environments.baseline import LIGHTNING, named
from verify.environments.releases import MINORS
from verify.reading.sources import NAMESPACES, Sources
from verify.reading.uses import Call, Name, OverriddenHook, Use, by_attributes, of_file

_UNINSTALLABLE = ("0.10.0", "1.0.8", "1.1.8", "1.2.10", "1.3.8")
"""The last releases of minors that no longer install: pins may still admit them."""
_UNLOADED = {
    "1.5.0": ("core.decorators", "core.memory", "distributed"),
    "1.7.0": ("callbacks.base", "core.lightning", "loops.base", "profiler"),
    "1.8.0": (
        "utilities.apply_func", "utilities.cloud_io", "utilities.device_parser", "utilities.meta",
        "utilities.optimizer", "utilities.xla_device",
    ),
}  # fmt: skip
"""Modules that are no attributes any more where the package alone is imported, by the release since which (the modules
that `import pytorch_lightning` loads were listed on 1.4.9, 1.5.10, 1.7.7 and 1.8.6, and read in 1.6.5)."""
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
    found = by_attributes([use for path in sources.paths() for use in of_file(sources, path)])
    limits = {_lacking(name, lasted) for name in _used(found)} | {_unloaded(use) for use in found}
    usable = [limit for limit in limits if limit and any(version < limit for version in known)]
    return str(min((Version(below), *usable)))


def _used(found: Iterable[Use]) -> Iterator[str]:
    """The names that a tree uses, without their namespace, and the hooks that its classes have, which 1.8 refuses even
    where only the project calls them."""
    for use in found:
        if isinstance(use, Name | Call):
            space = next((each for each in _SPACES if use.name.startswith(each)), None)
            yield from () if space is None else (use.name.removeprefix(space),)
        elif isinstance(use, OverriddenHook):
            yield f"{use.base.rpartition('.')[2]}.{use.name}"


def _unloaded(use: Use) -> Version | None:
    """The first release in which attributes of the package no longer lead to a name."""
    way = f"{use.name}." if isinstance(use, Name) and use.by == NAMESPACES[0] else ""
    modules = ((since, module) for since, several in _UNLOADED.items() for module in several)
    return next((Version(since) for since, module in modules if way.startswith(f"{NAMESPACES[0]}.{module}.")), None)


def _lacking(name: str, lasted: Mapping[str, str]) -> Version | None:
    """The first release without a name; None for a name that is there still, or never was."""
    last = lasted.get(name)
    if last is None:
        return None
    later = (minor.version(0) for minor in MINORS if minor.version(0).release[:2] > Version(last).release[:2])
    return next(later, None)
