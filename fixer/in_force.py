"""Which settings hold where a commit is worked on: its own, or those of the work tree where only they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fixer.config import Config, read_config
from fixer.gitio import Repository
from fixer.tree import File, read_commit, read_disk

NAME = "pyproject.toml"
WORK_TREE = f"{NAME} (not committed)"
_FROM_WORK_TREE = f"settings from the work tree: {NAME} is not committed"
_LIMIT = 1_000_000


@dataclass(frozen=True)
class InForce:
    """The settings that hold, whose `origin` says where they are from. `message` is what the user should know of that:
    that they are not committed, or that others were written and are not used."""

    config: Config
    message: str | None = None

    @property
    def of_work_tree(self) -> bool:
        """Whether they are those of the work tree, and not those of the commit."""
        return self.config.origin == WORK_TREE


def in_force(committed: bytes | None, on_disk: bytes | None) -> InForce:
    """The settings by the pyproject.toml of a commit and that of the work tree, None where there is none.

    Raises UsageError for settings that hold and cannot be read.
    """
    mine, theirs = _document(committed), _document(on_disk)
    if committed == on_disk or on_disk is None:
        gone = on_disk is None and mine is not None and bool(_settings(mine))
        message = f"settings of the commit: the work tree has no {NAME}" if gone else None
        return InForce(_config(committed, NAME), message)
    if theirs is None:
        return InForce(_config(committed, NAME), _unused("cannot be read as TOML") if b"fixer" in on_disk else None)
    if mine is not None and _settings(mine) == _settings(theirs):
        return InForce(_config(committed, NAME))
    more = sorted(_others(mine or {}, theirs)) if mine is not None else ["all of it"]
    if more:
        return InForce(_config(committed, NAME), _unused(f"differs from that of the commit in {', '.join(more)} too"))
    return InForce(_config(on_disk, WORK_TREE), _FROM_WORK_TREE)


def of_commit(repository: Repository, commit: str) -> InForce:
    """The settings that hold for a commit of a repository with a work tree. Raises UsageError as `in_force` does."""
    items = read_commit(repository, commit, lambda path: path == NAME, lambda _: _LIMIT)
    committed = next((item.data for item in items if isinstance(item, File) and item.path == NAME), None)
    return in_force(committed, on_disk(repository.root))


def on_disk(root: Path) -> bytes | None:
    """The pyproject.toml in a folder, None where there is none that is a plain file."""
    items = read_disk(root, [NAME], lambda _: True, lambda _: _LIMIT)
    return next((item.data for item in items if isinstance(item, File)), None)


def _config(data: bytes | None, origin: str) -> Config:
    return replace(read_config(_text(data), origin), origin=origin)


def _unused(why: str) -> str:
    return (
        f"settings of the commit: those of the work tree are not used, since its {NAME} {why}; commit it, or name what "
        "is to be run with --script, --args, --command and --env"
    )


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8-sig", "replace")


def _document(data: bytes | None) -> dict[str, Any] | None:
    """The file as plain values, None where it is no TOML."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: dict[str, Any] = tomlkit.parse(_text(data)).unwrap()
    except (TOMLKitError, ValueError):
        return None
    return document


def _settings(document: Mapping[str, Any]) -> object:
    tool = document.get("tool")
    return tool.get("fixer") if isinstance(tool, dict) else None


def _others(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[str]:
    """The names of the tables that differ, but for `[tool.fixer]`."""
    for key in mine.keys() | theirs.keys():
        old, new = mine.get(key), theirs.get(key)
        if key == "tool" and isinstance(old or {}, dict) and isinstance(new or {}, dict):
            old, new = old or {}, new or {}
            names = old.keys() | new.keys()
            yield from (f"[tool.{name}]" for name in names if name != "fixer" and old.get(name) != new.get(name))
        elif old != new:
            yield f"[{key}]"
