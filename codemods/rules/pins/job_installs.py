"""What a job of a pipeline installs, where all that it runs is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from codemods.lightning.facts import Facts
from codemods.rules.pins.tools import commands_of, is_option, without_module

PACKAGE = "."
"""The project itself, by `pip install .`."""
_METADATA = {"setup.py": b"setup", "setup.cfg": b"install_requires", "pyproject.toml": b"dependencies"}
"""What says what the project needs, and by which word."""
_OF_PROJECT = re.compile(r"(?:\./?|\$\{?\{? ?github\.workspace ?\}?\}?)(?:\[[\w, -]+\])?")
_NAMED = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w, -]+\])?(?:[=<>~!]=?[\w.*,<>=!~]+)?")
_QUIET = frozenset({"cat", "coverage", "echo", "export", "flake8", "git", "ls", "mkdir", "mypy", "pytest", "ruff"})
_INSTALL = ("install", "list", "freeze", "--version")


def installed_by(job: Any) -> frozenset[str] | None:
    """The files of requirements that a job installs from, and `.` for the project itself; None where a step may install
    more than is seen, or nothing of the project is installed."""
    commands = commands_of(job)
    if commands is None:
        return None
    found: set[str] = set()
    for words in commands:
        named = _of_command(words)
        if named is None:
            return None
        found.update(named)
    return frozenset(found) or None


def _of_command(words: list[str]) -> list[str] | None:
    words = without_module(words)
    if not words or words[0] in _QUIET:
        return []
    if words[0] not in ("pip", "pip3") or words[1:2] == [] or words[1] not in _INSTALL:
        return None
    return list(_targets(words[2:])) if words[1] == "install" and _is_plain(words[2:]) else _nothing(words)


def _nothing(words: list[str]) -> list[str] | None:
    return None if words[1] == "install" else []


def _targets(words: list[str]) -> Iterator[str]:
    for before, word in zip(["", *words], words, strict=False):
        if before in ("-r", "--requirement"):
            yield word.removeprefix("./")
        elif _OF_PROJECT.fullmatch(word):
            yield PACKAGE


def _is_plain(words: list[str]) -> bool:
    """Whether an installation is of files, of the project and of packages by name alone."""
    pairs = list(zip(["", *words], words, strict=False))
    return all(
        before in ("-r", "--requirement")
        or word in ("-r", "--requirement", "-e", "--editable")
        or is_option(word)
        or _OF_PROJECT.fullmatch(word)
        or _NAMED.fullmatch(word)
        for before, word in pairs
    )


def is_installed(path: str, installs: frozenset[str] | None, facts: Facts) -> bool:
    """Whether a job that installs these takes what a manifest asks for, as far as that is known."""
    if installs is None or path in installs:
        return True
    if PACKAGE not in installs:
        return False
    stem = re.compile(rb"(?<![\w-])%b(?![\w-])" % re.escape(path.rpartition("/")[2].partition(".")[0]).encode())
    known = [(facts.sources[each].data, word) for each, word in _METADATA.items() if each in facts.sources]
    metadata = [text for text, word in known if word in text]
    return not metadata or path in _METADATA or any(stem.search(text) for text in metadata)
