"""A patched tree that stops at what is left to do by hand: that shows no rewrite to be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verify.evidence import Failure


def stopped_at(failure: Failure | None, problems: Iterable[str], before: Iterable[str]) -> str | None:
    """The use that the target does not have and that a failure names, at its line or in quotes; None where there is no
    such, or where the same file of the tree `before` has it not: then a rewrite wrote it. Both are as
    `conform.problems` tells them: `path:line: Trainer(gpus=...), the target has no such argument`."""
    if failure is None:
        return None
    old = {(_file(problem), _name(problem)) for problem in before}
    named = (problem for problem in problems if _names(failure, problem))
    return next((problem for problem in named if (_file(problem), _name(problem)) in old), None)


def _file(problem: str) -> str:
    return problem.partition(": ")[0].rpartition(":")[0]


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
