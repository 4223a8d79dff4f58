"""What the interpreters of this machine are and hold."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from verify.sandbox.containment import Containment
from verify.sandbox.process import Limits, kept, run, scratch, scrubbed

_QUERY = """
import importlib.metadata, json, sys
found = [(d.metadata["Name"], d.version) for d in importlib.metadata.distributions() if d.metadata["Name"]]
folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]
print(json.dumps({"python": "%d.%d.%d" % sys.version_info[:3], "packages": found, "folders": folders}))
"""


class Unavailable(Exception):
    """An environment that cannot be had, and what to do about it."""


@dataclass(frozen=True)
class Interpreter:
    """A Python that can be run, its version, what is installed in it, and the folders that it needs."""

    path: Path
    python: str
    packages: Mapping[str, str]
    folders: tuple[str, ...] = ()


def inspect(python: Path) -> Interpreter:
    """Ask an interpreter of the user's own what it is; raises Unavailable where it does not answer."""
    command = [str(python), "-I", "-c", _QUERY]
    try:
        answer = subprocess.run(
            command, env=kept(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise _silent(python, error) from error
    return _parsed(python, answer)


def inspect_named(python: Path, contained: Containment) -> Interpreter:
    """Ask an interpreter that a project's settings may have named."""
    folders = [python.parent.parent, Path(os.path.realpath(python)).parent.parent]
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in (folders[0] / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            if line.partition("=")[0].strip() == "home":
                folders.append(Path(line.partition("=")[2].strip()).parent)
    return inspect_shut_in(python, contained, tuple(map(str, folders)))


def inspect_shut_in(python: Path, contained: Containment, needs: Sequence[str]) -> Interpreter:
    """Ask an interpreter that may run code of others as soon as it starts: it is shut in as the project's code is, with
    the folders that Python `needs`. Of those that it names, its own are taken and no others."""
    limits = Limits(60, 2**31)
    with scratch() as own:
        command = contained.command([str(python), "-I", "-c", _QUERY], own, needs, limits)
        try:
            outcome = run(command, own, scrubbed(own, 1), limits, threading.Event(), own)
        except OSError as error:
            raise _silent(python, error) from error
    lines = outcome.output.splitlines()
    found = _parsed(python, lines[-1] if lines and outcome.status == 0 else "")
    mine = os.path.realpath(python.parent.parent)
    own_folders = (place for place in found.folders if Path(os.path.realpath(place)).is_relative_to(mine))
    return replace(found, folders=tuple(dict.fromkeys((*own_folders, *needs))))


def _parsed(python: Path, answer: str) -> Interpreter:
    try:
        data: dict[str, Any] = json.loads(answer)
        # of two of one name the first one on the path is imported
        packages = {str(canonicalize_name(name)): str(version) for name, version in reversed(data["packages"])}
        return Interpreter(python, str(data["python"]), packages, (str(python.parent), *map(str, data["folders"])))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _silent(python, error) from error


def _silent(python: Path, error: Exception) -> Unavailable:
    why = error.strerror if isinstance(error, OSError) else "it does not answer as Python does"
    return Unavailable(f"the interpreter {python} does not run: {why}; name another with --python")
