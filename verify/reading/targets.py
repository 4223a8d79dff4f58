"""What configurations name by its dotted path: hydra, jsonargparse and their like import it while the script runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import canonicalize_name

from verify.environments.baseline import requirement
from verify.environments.distributions import names_of
from verify.reading.sources import NAMESPACES, Import, Sources

READ_BY = frozenset({"hydra", "omegaconf", "jsonargparse"})
_NAMED = re.compile(r"^\s*(?:-\s+)?(?:_target_|class_path|target)\s*:\s*['\"]?([A-Za-z_]\w*(?:\.\w+)+)", re.MULTILINE)
_FILES = 1000
_SIZE = 100_000


def targets(sources: Sources, scripts: Iterable[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The files of a tree, and the top-level packages from outside, that its YAML files name; what lies beside one of
    the scripts is found from there."""
    places = ["_.py", *scripts]
    files: dict[str, None] = {}
    outside: set[str] = set()
    for dotted in sorted(_dotted(sources.root)):
        *module, name = dotted.split(".")
        tried = (
            each for place in places for each in (_local(sources, place, module, name), _within(sources, place, module))
        )
        found: tuple[str, ...] = next(filter(None, tried), ())
        files.update(dict.fromkeys(found))
        if not found and module[0] != "hydra_plugins" and not (sources.root / module[0]).exists():
            outside.add(module[0])
    return tuple(files), frozenset(outside)


def named_classes(sources: Sources) -> frozenset[str]:
    """The classes of Lightning that the YAML files of a tree name."""
    found = (dotted.split(".") for dotted in _dotted(sources.root))
    return frozenset(name[-1] for name in found if name[0] in NAMESPACES)


def asked_for(packages: Iterable[str], pins: Iterable[str]) -> frozenset[str]:
    """Those of the packages that a requirement has, or all where a project states none: configurations often name
    loggers and the like that nobody chose."""
    pinned = {str(canonicalize_name(pin.name)) for line in pins if (pin := requirement(line))}
    return frozenset(package for package in packages if not pinned or names_of(package) & pinned)


def _local(sources: Sources, place: str, module: list[str], name: str) -> tuple[str, ...]:
    return sources.local(place, Import(".".join(module), 0, (name,), False))


def _within(sources: Sources, place: str, module: list[str]) -> tuple[str, ...]:
    """The files of a class whose method is named."""
    *parents, name = module
    return _local(sources, place, parents, name) if parents else ()


def _dotted(root: Path) -> set[str]:
    found: set[str] = set()
    paths = [path for pattern in ("*.yaml", "*.yml") for path in root.rglob(pattern)]
    for path in sorted(paths)[:_FILES]:
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if not hidden and path.is_file() and not path.is_symlink() and path.stat().st_size <= _SIZE:
            found.update(_NAMED.findall(path.read_text(encoding="utf-8", errors="replace")))
    return found
