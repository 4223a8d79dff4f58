"""Parts of a project that have manifests of their own, and what stands beside its code: tests and examples."""

from __future__ import annotations

import re
from collections.abc import Mapping

from codemods.lightning.facts import Facts
from codemods.lightning.pins.brought import TransitiveDistribution
from codemods.lightning.pins.manifest import INSTALLS
from codemods.lightning.pins.reach import MENTIONS, Manifest, home_of, is_manifest
from codemods.rules.pins.needed import FeatureUse

_ASIDE = re.compile(
    r"(?:.*/)?(?:(?:tests?|examples?|docs?|tutorials?|benchmarks?)/.*|conftest\.py|test_[^/]*\.py|[^/]*_test\.py)"
)

_KEY = f"{__name__}.homes"
_SETTINGS = {"pyproject.toml": b"dependencies", "setup.cfg": b"install_requires"}


def is_aside(path: str) -> bool:
    """Whether a file is a test or an example, which a package does not need to be installed."""
    return _ASIDE.fullmatch(path) is not None


def is_for(home: str, path: str, facts: Facts) -> bool:
    """Whether the manifests of a folder are for a file: it lies in there, or no other manifest is for it."""
    if _KEY not in facts.memo:
        facts.memo[_KEY] = {home_of(item, facts) for item in facts.kinds if is_manifest(item) and _asks(item, facts)}
    folders: set[str] = facts.memo[_KEY]
    return _holds(home, path) or not any(_holds(folder, path) for folder in folders)


def _asks(path: str, facts: Facts) -> bool:
    """Whether a manifest asks for something, rather than hold the settings of tools."""
    needed = _SETTINGS.get(path.rpartition("/")[2])
    return needed is None or path not in facts.sources or needed in facts.sources[path].data


def has_its_own(
    use: FeatureUse, row: TransitiveDistribution, home: str, base: Mapping[str, Manifest], facts: Facts
) -> bool:
    """Whether a manifest further inside than `home` is for the code of a use: one that asks for what it needs, or that
    of a part which knows nothing of Lightning, and so never had it from there."""
    inside = {
        folder: asked
        for folder, asked in _folders(base, facts).items()
        if folder != home and _holds(home, folder) and _holds(folder, use.path)
    }
    if any(row.served_by & asked for asked in inside.values()):
        return True
    lightning = frozenset[str]().union(*(facts.mentions.get(text, frozenset()) for text in MENTIONS))
    return any(not any(_holds(folder, path) for path in lightning) for folder in inside)


def _folders(base: Mapping[str, Manifest], facts: Facts) -> Mapping[str, frozenset[str]]:
    """The folders that manifests are for, and what those ask for in every installation."""
    if __name__ not in facts.memo:
        paths = {path for path, item in base.items() if item.kind not in INSTALLS} | set(
            filter(is_manifest, facts.kinds)
        )
        found: dict[str, frozenset[str]] = {}
        for path in sorted(paths):
            home = home_of(path, facts)
            asked = {pin.name for pin in base[path].pins if not pin.group} if path in base else set()
            found[home] = found.get(home, frozenset()) | asked
        facts.memo[__name__] = found
    known: Mapping[str, frozenset[str]] = facts.memo[__name__]
    return known


def _holds(folder: str, path: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
