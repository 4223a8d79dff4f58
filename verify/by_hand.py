"""A patched tree that stops at what is left to do by hand: that shows no rewrite to be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verify.evidence import Failure


def stopped_at(failure: Failure | None, problems: Iterable[str]) -> str | None:
    """The use that the target does not have and that a failure names, at its line or in quotes; None where there is no
    such. The problems are as `conform.problems` tells them: `path:line: Trainer(gpus=...), the target has no such
    argument`."""
    return next((problem for problem in problems if _names(failure, problem)), None) if failure else None


def _names(failure: Failure, problem: str) -> bool:
    place, _, text = problem.partition(": ")
    words = re.findall(r"\w+", re.split(r" \(|, ", text)[0])
    if not words or text.startswith("not read"):
        return False
    if re.search(rf"[`'\"](?:[\w.]+\.)?{words[-1]}[`'\"]", failure.message):
        return True
    return place == failure.place and re.search(rf"\b{words[-1]}\b", failure.message) is not None
