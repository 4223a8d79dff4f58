"""What configurations name by its dotted path: hydra, jsonargparse and their like import it while the script runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.utils import canonicalize_name

from verify.environments.baseline import requirement
from verify.environments.distributions import names_of
from verify.reading.sources import NAMESPACES, Import, Sources

READ_BY = frozenset({"hydra", "omegaconf", "jsonargparse"})
_NAMED = re.compile(r"^\s*(?:-\s+)?(?:_target_|class_path|target)\s*:\s*['\"]?([A-Za-z_]\w*(?:\.\w+)+)", re.MULTILINE)
_PLUGIN = re.compile(
    r"^\s*(?:-\s+)?(?:override\s+)?/?hydra/(?:job_logging|hydra_logging|launcher|sweeper)\s*:\s*['\"]?(?P<name>\w+)",
    re.MULTILINE,
)
_CHOSEN_LATER = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
HYDRA_PLUGINS = {
    "colorlog": "hydra-colorlog",
    "joblib": "hydra-joblib-launcher",
    "ray": "hydra-ray-launcher",
    "submitit_local": "hydra-submitit-launcher",
    "submitit_slurm": "hydra-submitit-launcher",
    "ax": "hydra-ax-sweeper",
    "nevergrad": "hydra-nevergrad-sweeper",
    "optuna": "hydra-optuna-sweeper",
}
"""The distribution of each value that a configuration may give to a part of hydra (hydra.cc/docs/plugins): a script
does not start without it, and nothing imports it."""
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


def hydra_plugins(root: Path) -> frozenset[str]:
    """The distributions of hydra's own plugins that the configurations of a tree ask for, but for those that a command
    line chooses (`# @package _global_`)."""
    texts = (text for text in _yaml_texts(root) if not _CHOSEN_LATER.search(text))
    named = {match["name"] for text in texts for match in _PLUGIN.finditer(text)}
    return frozenset(HYDRA_PLUGINS[name] for name in named if name in HYDRA_PLUGINS)


def _local(sources: Sources, place: str, module: list[str], name: str) -> tuple[str, ...]:
    return sources.local(place, Import(".".join(module), 0, (name,), False))


def _within(sources: Sources, place: str, module: list[str]) -> tuple[str, ...]:
    """The files of a class whose method is named."""
    *parents, name = module
    return _local(sources, place, parents, name) if parents else ()


def _dotted(root: Path) -> set[str]:
    return {dotted for text in _yaml_texts(root) for dotted in _NAMED.findall(text)}


def _yaml_texts(root: Path) -> Iterator[str]:
    paths = [path for pattern in ("*.yaml", "*.yml") for path in root.rglob(pattern)]
    for path in sorted(paths)[:_FILES]:
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if not hidden and path.is_file() and not path.is_symlink() and path.stat().st_size <= _SIZE:
            yield path.read_text(encoding="utf-8", errors="replace")
