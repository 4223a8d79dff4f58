"""How the text report is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """Whether there is colour, how wide the terminal is (None: there is none), how much is said, and whether findings
    are counted by rule instead of listed."""

    color: bool = False
    width: int | None = None
    verbose: bool = False
    quiet: bool = False
    statistics: bool = False
