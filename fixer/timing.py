"""Times as users write them."""

from __future__ import annotations

import re
from math import isfinite

WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h)?\s*")
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds_of(text: str | float) -> float:
    """The seconds that `10` (minutes), `"10m"`, `"600s"` or `"1h"` say. Raises ValueError for what is no such time, or
    none above 0."""
    found = WRITTEN.fullmatch(str(text))
    seconds = float(found[1]) * _UNITS[found[2] or "m"] if found else 0.0
    if not seconds > 0 or not isfinite(seconds):
        raise ValueError(f"'{text}' is no time; give minutes, such as 10, or 10m or 600s")
    return seconds
