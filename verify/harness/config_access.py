"""Tells which configurations of the project a program opens, and for which of its modules.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from .active_module import asking

ENDS = (".yaml", ".yml", ".json", ".sh")


def tell_opened(root: str, used: dict[str, None]) -> None:
    """Add to `used` what of the project at `root` is opened to be read from now on, with the innermost of its modules
    whose code is running: `conf/small.yaml to train`."""
    real = os.path.realpath(root)

    def told(event: str, args: tuple[Any, ...]) -> None:
        if event != "open" or not str(args[0]).endswith(ENDS) or "r" not in (args[1] or "r"):
            return
        with contextlib.suppress(OSError, ValueError):
            path = os.path.realpath(args[0])
            if path.startswith(f"{real}{os.sep}") and os.path.isfile(path):  # noqa: PTH113
                used[f"{os.path.relpath(path, real).replace(os.sep, '/')} to {asking(root)}"] = None

    sys.addaudithook(told)
