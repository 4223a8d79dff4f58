"""Unified diffs that `git apply` accepts."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PLAIN = re.compile(r'[^"\\\x00-\x1f\x7f]*')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True)
class Stat:
    """How many lines a diff adds and removes."""

    added: int
    removed: int


def unified(path: str, before: str | None, after: str) -> str:
    """The diff that turns `before` into `after` in the file `path`; empty where they are the same.

    Only a line feed ends a line, as in git: a carriage return, a form feed or U+2028 is part of the line.
    An empty `before` or `after` is an empty file; `before` is None where the file was missing.
    """
    if before == after:
        return ""
    old, new = _name(f"a/{path}"), _name(f"b/{path}")
    end = "\t" if " " in path else ""
    lines = [f"diff --git {old} {new}\n", *(["new file mode 100644\n"] if before is None else [])]
    lines += ["--- /dev/null\n" if before is None else f"--- {old}{end}\n", f"+++ {new}{end}\n"]
    for line in list(difflib.unified_diff(_LINE.findall(before or ""), _LINE.findall(after)))[2:]:
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def stat(diff: str) -> Stat:
    """Count the lines that a diff made by `unified` adds and removes."""
    in_hunk, added, removed = False, 0, 0
    for line in _LINE.findall(diff):
        if line.startswith(("@@", "diff --git ")):
            in_hunk = line.startswith("@@")
        elif in_hunk:
            added += line.startswith("+")
            removed += line.startswith("-")
    return Stat(added, removed)


def _name(path: str) -> str:
    """A path as git writes it in a diff: quoted where it holds a quote, a backslash or a control."""
    if _PLAIN.fullmatch(path):
        return path
    return '"' + "".join(_quoted(character) for character in path) + '"'


def _quoted(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\{ord(character):03o}" if _PLAIN.fullmatch(character) is None else character
