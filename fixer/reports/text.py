"""The report for a person at a terminal."""

from __future__ import annotations

from fixer.result import Result


def render(result: Result, *, color: bool, width: int | None, verbose: bool, quiet: bool) -> str:
    """The whole result, or with `quiet` its last line."""
    raise NotImplementedError
