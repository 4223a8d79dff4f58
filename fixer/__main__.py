"""The command `fixer`, and `python -m fixer`."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Runs the command line. The current folder may hold a `verify.py` of its own, so it is never imported
    from, and fixer does not start unless its sibling packages are the ones installed with it."""
    here, home = os.path.realpath(os.curdir), _home()
    sys.path[:] = [entry for entry in sys.path if home == here or os.path.realpath(entry) != here]
    _check_siblings(home)
    gc.set_threshold(200_000)  # modules and syntax trees are many objects and hardly a cycle: look for them seldom
    _open_streams()
    try:
        _end_in_order()
        from codemods.engine.warnings_off import ignore_warnings

        ignore_warnings()
        from fixer.cli import start

        code = start(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are loaded, or once more while the first one is told of
        sys.stderr.write("fixer: interrupted\n")
        code = 130
    exec("")  # else `python -m` ends with -2 where the `exec` of a dataclass was interrupted, whatever was made of that
    gc.freeze()  # what is left ends with the process: no cycles need be searched for in it
    sys.exit(code)


def _home() -> str:
    """The folder that fixer and its sibling packages lie in. Nothing is imported for it yet but `os`."""
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120


def _open_streams() -> None:
    """A stream that the caller closed leads nowhere, in the place of the first file that is opened."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def _end_in_order() -> None:
    """Being told to end, or losing the terminal, is an interruption like Ctrl-C: what was begun is cleared away."""
    import signal

    for name in ("SIGTERM", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, signal.default_int_handler)


def _check_siblings(home: str) -> None:
    from importlib.util import find_spec

    for name in ("codemods", "verify"):
        spec = find_spec(name)
        origin = spec.origin if spec else None
        if origin is None or os.path.realpath(origin) != os.path.join(home, name, "__init__.py"):  # noqa: PTH118
            where = f"comes from {origin}" if origin else "is missing"
            sys.stderr.write(
                f"fixer: the package '{name}' that belongs to fixer {where}; reinstall fixer in an environment "
                "of its own (`pipx install fixer`)\n"
            )
            sys.exit(2)


if __name__ == "__main__":
    main()
