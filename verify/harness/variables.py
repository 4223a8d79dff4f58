"""Environment variables that were lent because the project reads them and nothing sets them, and which of them it read.

Beside the harness as well as here: standard library alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

ENVIRON: Any = type(os.environ)


def lend(values: Mapping[str, str], read: dict[str, None]) -> None:
    """Set variables that are not set, and note the names of those that are read in `read`."""
    lent = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(lent)
    plain = ENVIRON.__getitem__

    def noted(self: Any, name: str) -> str:
        if name in lent:
            read[name] = None
        return str(plain(self, name))

    if lent:
        ENVIRON.__getitem__ = noted
