"""The command `fixer`, and `python -m fixer`."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Runs the command line. The current folder may hold a `verify.py` of its own, so it is never imported
    from, and fixer does not start unless its sibling packages are the ones installed with it."""
    here = Path.cwd()
    sys.path[:] = [entry for entry in sys.path if entry and (Path(entry) != here or _holds_fixer(here))]
    _check_siblings()
    from fixer.cli import start

    sys.exit(start(sys.argv[1:]))


def _holds_fixer(folder: Path) -> bool:
    return Path(__file__).resolve().parent.parent == folder.resolve()


def _check_siblings() -> None:
    from importlib.util import find_spec

    home = Path(__file__).resolve().parent.parent
    for name in ("codemods", "verify"):
        spec = find_spec(name)
        found = Path(spec.origin).resolve().parent.parent if spec and spec.origin else None
        if found is None or not found.samefile(home):
            where = f"comes from {found}" if found else "is missing"
            sys.stderr.write(
                f"fixer: the package '{name}' that belongs to fixer {where}; reinstall fixer in an environment "
                "of its own (`pipx install fixer`)\n"
            )
            sys.exit(2)


if __name__ == "__main__":
    main()
