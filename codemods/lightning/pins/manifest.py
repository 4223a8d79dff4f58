"""Where a project states its requirements on Lightning and torch: names, specifiers and their places.

A place is handed out only where it is proven: the text found there is the specifier that the parser saw, or, in TOML,
changing it changes that one value and no other. What is no manifest has no requirements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Literal

from codemods.lightning.pins.commands import dockerfile, notebook, script, workflow
from codemods.lightning.pins.conda import LISTS, environment, hooks, listed
from codemods.lightning.pins.declared import setup_cfg, setup_py
from codemods.lightning.pins.lines import requirements
from codemods.lightning.pins.pin import COMPANIONS, LIGHTNING, NAMES, Pin, Problem
from codemods.lightning.pins.tables import pipfile, pyproject
from codemods.lightning.pins.toml import Unparsable

__all__ = [
    "COMPANIONS", "LIGHTNING", "NAMES", "Pin", "Problem", "Unparsable", "find_pins", "manifest_kind", "read_pins",
    "states",
]  # fmt: skip

Kind = Literal[
    "requirements",
    "pyproject",
    "pipfile",
    "setup.py",
    "setup.cfg",
    "conda",
    "hooks",
    "dockerfile",
    "workflow",
    "notebook",
    "shell",
    "listed",
    "lock",
]
COMMANDS: tuple[Kind, ...] = ("hooks", "dockerfile", "workflow", "notebook", "shell")
INSTALLS: tuple[Kind, ...] = (*COMMANDS, "listed")
"""What some machine or tool installs, rather than what the project needs."""

_READERS: Mapping[str, Callable[[str], Iterator[Pin]]] = {
    "requirements": requirements,
    "pyproject": pyproject,
    "pipfile": pipfile,
    "setup.py": setup_py,
    "setup.cfg": setup_cfg,
    "conda": environment,
    "hooks": hooks,
    "dockerfile": dockerfile,
    "workflow": workflow,
    "notebook": notebook,
    "shell": script,
    "listed": listed,
}
_NAMES: Mapping[str, Kind] = {
    "setup.py": "setup.py",
    "setup.cfg": "setup.cfg",
    "Pipfile": "pipfile",
    "conda-lock.yml": "lock",
    "conda-lock.yaml": "lock",
    ".pre-commit-config.yaml": "hooks",
    ".pre-commit-config.yml": "hooks",
}
_CI = re.compile(
    r"(?:.*/)?(?:\.github/(?:workflows|actions)/|\.circleci/|\.azure[\w-]*/|\.gitlab/|\.gitlab-ci\.ya?ml$|\.travis\.yml$|"
    r"azure-pipelines[^/]*\.ya?ml$|\.readthedocs\.ya?ml$|appveyor\.yml$|cloudbuild\.yaml$)"
)
_CONDA = re.compile(r"(?m)^dependencies:\s*(?:#.*)?$")
_LISTED = re.compile(rf"(?m)^[ -]*(?:{'|'.join(LISTS)}):\s*(?:#.*)?$")


def manifest_kind(path: str, kind: str, text: str) -> Kind | None:
    """What kind of manifest a file is; `kind` is that of the source, None for what states no requirements."""
    name = path.rpartition("/")[2]
    if name in _NAMES:
        return _NAMES[name]
    if kind == "yaml":
        if _CI.match(path):
            return "workflow"
        return "conda" if _CONDA.search(text) else "listed" if _LISTED.search(text) else None
    known: Mapping[str, Kind] = {
        "requirements": "requirements",
        "pyproject": "pyproject",
        "dockerfile": "dockerfile",
        "notebook": "notebook",
        "shell": "shell",
        "lock": "lock",
    }
    return known.get(kind)


def states(path: str, kind: str, text: str) -> bool:
    """Whether a file says what the project needs, rather than what some machine installs."""
    return manifest_kind(path, kind, text) not in (None, "lock", *INSTALLS)


def find_pins(path: str, kind: str, text: str, names: Collection[str] = NAMES) -> tuple[Pin, ...]:
    """The requirements on those packages that can be read, in the order of the text.

    `kind` is that of the source. What is invalid or comes from an address is left out; a file that does not parse
    has none.
    """
    try:
        pins = read_pins(manifest_kind(path, kind, text) or "", text)
    except Unparsable:
        return ()
    return tuple(pin for pin in pins if pin.name in names and pin.requirement)


@lru_cache(maxsize=256)
def read_pins(kind: str, text: str) -> tuple[Pin, ...]:
    """Every requirement on those names, on what goes with them and on Python, problems included. Raises Unparsable."""
    reader = _READERS.get(kind)
    found = {(pin.place, pin.name): pin for pin in reader(text)} if reader else {}
    return tuple(pin for _, pin in sorted(found.items(), key=lambda item: item[0]))
