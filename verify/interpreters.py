"""What the interpreters of this machine are and hold."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from verify.containment import Containment
from verify.process import Limits, scrubbed

_QUERY = """
import importlib.metadata, json, sys
found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
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
    """Ask an interpreter what it is; raises Unavailable where it does not answer."""
    return _asked(python, [str(python), "-I", "-c", _QUERY], Path.cwd(), os.environ)


def inspect_named(python: Path, contained: Containment, own: Path) -> Interpreter:
    """Ask an interpreter that a project's settings may have named: it is shut in as the project's code is."""
    folders = [python.parent.parent, Path(os.path.realpath(python)).parent.parent]
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in (folders[0] / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            if line.partition("=")[0].strip() == "home":
                folders.append(Path(line.partition("=")[2].strip()).parent)
    needs = tuple(map(str, folders))
    own.mkdir(exist_ok=True)
    command = contained.command([str(python), "-I", "-c", _QUERY], own, needs, Limits(60, 2**31))
    return replace(_asked(python, command, own, scrubbed(own, 1)), folders=needs)


def _asked(python: Path, command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Interpreter:
    try:
        answer = subprocess.run(
            command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
        data: dict[str, Any] = json.loads(answer.stdout)
        packages = {str(canonicalize_name(name)): str(version) for name, version in data["packages"].items()}
        return Interpreter(python, str(data["python"]), packages, (str(python.parent), *map(str, data["folders"])))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it does not answer as Python does"
        raise Unavailable(f"the interpreter {python} does not run: {why}; name another with --python") from error
