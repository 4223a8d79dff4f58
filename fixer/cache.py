"""`fixer cache`: the environments that proofs ran in, listed or removed."""

from __future__ import annotations

from pathlib import Path

from verify.building import cache_folder
from verify.kept import Kept, forget, kept, remove


def listed() -> str:
    """Every environment with its size and when it was used."""
    cache = cache_folder()
    found = kept(cache)
    if not found:
        return f"no environment is kept in {cache}\n"
    total = f"{_many(found)} in {cache}: {_size(sum(one.size for one in found))}"
    return "".join(f"{_line(one)}\n" for one in found) + f"{total}\n"


def pruned(days: float) -> str:
    """Remove what was not used for so many days, and say what it was."""
    cache = cache_folder()
    gone = tuple(remove(one for one in kept(cache) if one.days >= days))
    if not days:
        forget(cache)
    freed = _size(sum(one.size for one in gone))
    said = f"removed {_many(gone)} from {cache}: {freed}\n" if gone else f"nothing to remove in {cache}\n"
    return "".join(f"{_line(one)}\n" for one in gone) + said


def _many(found: tuple[Kept, ...]) -> str:
    return f"{len(found)} environment{'' if len(found) == 1 else 's'}"


def _line(one: Kept) -> str:
    used = "used today" if one.days < 1 else f"used {one.days:.0f} days ago"
    holds = ", ".join(one.holds) or "unfinished"
    shared = f" (and {_size(one.shared)} shared)" if one.shared else ""
    return f"{Path(one.folder).name}  {_size(one.size)}{shared}  {used}  {holds}"


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
