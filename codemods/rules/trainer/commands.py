"""What the commands in shell scripts, docs and CI files give to the project's own scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from codemods.code.source import TextFile

SCRIPT = re.compile(r"(?:^|[\s\"'`(])(?:[\w./-]*/)?(?P<name>[\w-]+\.py)\b")
_RUN = re.compile(r"\s-m\s+(?:[\w-]+\.)*(?P<name>[\w-]+)(?=\s|$)")
"""A module that is run by its name."""


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with those that a backslash continues, and where each begins."""
    start = 0
    lines = text.splitlines(keepends=True)
    index = 0
    while index < len(lines):
        command = lines[index]
        while command.rstrip().endswith("\\") and index + 1 < len(lines):
            index += 1
            command += lines[index]
        yield start, command
        start += len(command)
        index += 1


def passed(file: TextFile, options: tuple[str, ...]) -> Mapping[str, frozenset[str]] | None:
    """Which of some options the commands of a file give to scripts, by the name of the script."""
    wanted = re.compile(rf"(?<![\w-])--({'|'.join(options)})(?=[\s=\\`\"']|$)")
    found: dict[str, set[str]] = {}
    for _, command in commands(file.text):
        for name, end in _run_by(command):
            if given := wanted.findall(command, end):
                found.setdefault(name, set()).update(given)
    return {name: frozenset(given) for name, given in found.items()} or None


def _run_by(command: str) -> Iterator[tuple[str, int]]:
    """The files that a command may run, and where what is given to each begins."""
    if script := SCRIPT.search(command):
        yield script["name"], script.end()
    elif module := _RUN.search(command):
        yield f"{module['name']}.py", module.end()
        yield "__main__.py", module.end()
