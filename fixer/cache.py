"""`fixer cache`: the environments that proofs ran in, what is remembered of projects, and what `fixer undo` would put
back, listed or removed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from fixer import undo
from fixer.proof_state import states
from fixer.remembered import places
from verify.environments.building import cache_folder
from verify.environments.environment_cache import CachedEnvironment, forget, kept, remove


def listed() -> str:
    """Every environment with its size and when it was used, what is remembered of projects, and what can be undone."""
    cache = cache_folder()
    found = kept(cache)
    total = f"{_many(found)} in {cache}: {_size(sum(one.size for one in found))}"
    if not found:
        total = f"no environment is kept in {cache}"
    looks, runs = _remembered("remembered", places()), _undone("kept for `fixer undo`", undo.everything())
    return "".join(f"{_line(one)}\n" for one in found) + f"{total}\n" + looks + runs


def pruned(days: float) -> str:
    """Remove what was not used for so many days, and say what it was."""
    cache = cache_folder()
    gone = tuple(remove(one for one in kept(cache) if one.days >= days))
    if not days:
        forget(cache)
        shutil.rmtree(states(), ignore_errors=True)
    looks = places(days)
    said_of_looks = _remembered("forgotten", looks)
    for place in looks:
        place.unlink(missing_ok=True)
    runs = [run for run in undo.everything() if run.days >= days]
    said_of_runs = _undone("no more to be undone", runs)
    for run in runs:
        undo.forget(run)
    freed = _size(sum(one.size for one in gone))
    said = f"removed {_many(gone)} from {cache}: {freed}\n" if gone else f"nothing to remove in {cache}\n"
    return "".join(f"{_line(one)}\n" for one in gone) + said + said_of_looks + said_of_runs


def _undone(what: str, runs: Sequence[undo.KeptImages]) -> str:
    """A line on what `fix` overwrote, nothing where there is nothing."""
    size = _size(sum(run.place.stat().st_size for run in runs))
    return f"{what}: {len(runs)} run{'' if len(runs) == 1 else 's'} of `fixer fix`, {size}\n" if runs else ""


def _remembered(what: str, looks: Sequence[Path]) -> str:
    """A line on what earlier looks at projects said, nothing where there is nothing."""
    size = _size(sum(place.stat().st_size for place in looks))
    return (
        f"{what}: what the files of {len(looks)} project{'' if len(looks) == 1 else 's'} said, {size}\n"
        if looks
        else ""
    )


def _many(found: tuple[CachedEnvironment, ...]) -> str:
    return f"{len(found)} environment{'' if len(found) == 1 else 's'}"


def _line(one: CachedEnvironment) -> str:
    used = "used today" if one.days < 1 else f"used {one.days:.0f} days ago"
    holds = ", ".join(one.holds) or "unfinished"
    shared = f" (and {_size(one.shared)} shared)" if one.shared else ""
    return f"{Path(one.folder).name}  {_size(one.size)}{shared}  {used}  {holds}"


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
