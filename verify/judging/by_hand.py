"""A patched tree that stops at what is left to do by hand: that shows no rewrite to be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verify.evidence import Failure


def stopped_at(failure: Failure | None, problems: Iterable[str], left: Iterable[tuple[str, str]]) -> str | None:
    """The use that the target does not have and that a failure names, at its line or in quotes, where it is `left` to
    do by hand: a path and what is said of it there. None where there is no such: then a rewrite wrote it, or forgot it.
    The problems are as `conform.problems` tells them: `path:line: Trainer(gpus=...), the target has no such
    argument`."""
    if failure is None:
        return None
    known = tuple(left)
    named = (problem for problem in problems if _names(failure, problem))
    return next((problem for problem in named if any(_is_of(problem, *one) for one in known)), None)


def _is_of(problem: str, path: str, said: str) -> bool:
    own = problem.partition(": ")[0].rpartition(":")[0]
    return own == path and re.search(rf"\b{_name(problem)}\b", said) is not None


def _name(problem: str) -> str:
    """The last name in what a problem is of; empty where a file was not read."""
    text = problem.partition(": ")[2]
    words = re.findall(r"\w+", re.split(r" \(|, ", text)[0])
    return words[-1] if words and not text.startswith("not read") else ""


def _names(failure: Failure, problem: str) -> bool:
    name = _name(problem)
    if name and re.search(rf"[`'\"](?:[\w.]+\.)?{name}[`'\"]", failure.message):
        return True
    is_there = problem.partition(": ")[0] == failure.place
    return bool(name) and is_there and re.search(rf"\b{name}\b", failure.message) is not None
