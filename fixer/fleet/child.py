"""The process of one task: it is `fixer`, and ends when the process that started it does."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_SIGTERM = 15


def main() -> None:
    """Runs fixer with the arguments behind the first one, which is the process that started this one."""
    parent = int(sys.argv.pop(1))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError, ImportError):
            from ctypes import CDLL

            CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(1)
    from fixer.__main__ import main as fixer

    fixer()


if __name__ == "__main__":
    main()
