"""As of which day the packages around old code are taken: newer ones than it knew may lack what it uses."""

from __future__ import annotations

from datetime import date, timedelta

WHEELS = timedelta(days=30)
"""How long after a Python's release most packages have wheels for it."""
FRESH = timedelta(days=365)
"""Code that was worked on within this time is taken to know today's packages."""
_PYTHONS = {
    "3.9": date(2020, 10, 5), "3.10": date(2021, 10, 4), "3.11": date(2022, 10, 24), "3.12": date(2023, 10, 2),
    "3.13": date(2024, 10, 7), "3.14": date(2025, 10, 7),
}  # fmt: skip


def as_of(written: str | None, python: str, today: date) -> str | None:
    """The day for code that was last written on an ISO day, on a Python; None for today's packages.

    Nothing from before the Python had wheels is asked for. Raises ValueError where `written` is no day.
    """
    if written is None:
        return None
    first = _PYTHONS.get(".".join(python.split(".")[:2]))
    if first is None:
        return None
    day = max(date.fromisoformat(written), first + WHEELS)
    return day.isoformat() if day <= today - FRESH else None
