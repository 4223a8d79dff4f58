"""One cause, one finding: how the places that rules named are put together for those who read them.

A plan has a finding for each place, since places are edited, ignored and taken into a baseline one by one. A report
has one for each cause, with its places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from codemods.finding import Finding, Fix
from fixer.reports.rule_text import Rules

Effect = Literal["fails", "changes", "warns"]
"""What becomes of a place that is left as it is: it fails on the target, it behaves differently there, or it works and
is a warning, dead code or text."""

EFFECTS: tuple[Effect, ...] = ("fails", "changes", "warns")
_NAMES = re.compile(r"`[^`]*`|\d+(\.\d+)*")
_LEVELS: tuple[Fix, ...] = ("manual", "unsafe", "safe")


@dataclass(frozen=True)
class Cause:
    """What is wrong for one reason, with its places in their order. The first of them stands for all."""

    places: tuple[Finding, ...]
    effect: Effect = "changes"

    @property
    def first(self) -> Finding:
        """The place that stands for all."""
        return self.places[0]

    def alike(self, reasons: bool) -> list[tuple[Finding, ...]]:
        """The places with the same message, and with `reasons` the same reason, in the order of the first of each."""
        found: dict[tuple[str, str], list[Finding]] = {}
        for place in self.places:
            found.setdefault((place.message, place.reason if reasons else ""), []).append(place)
        return [tuple(places) for places in found.values()]


def causes(findings: Iterable[Finding], rules: Rules) -> tuple[Cause, ...]:
    """The findings by cause: those first that fail on the target, then those that behave differently there, and of
    these first what is left to do by hand.

    What a rule rewrites is one cause for each level, as it becomes one commit. What it leaves is one for each thing
    that is wrong, whatever the name of it at a place: each place keeps its own message and reason.
    """
    found: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in sorted(findings, key=order):
        about = _NAMES.sub("", finding.message) if finding.fix == "manual" else ""
        found.setdefault((finding.code, finding.fix, finding.applied, about), []).append(finding)
    return tuple(sorted((_cause(places, rules) for places in found.values()), key=_weight))


def order(finding: Finding) -> tuple[Any, ...]:
    """Where a place comes in a list of them."""
    return (finding.path, finding.cell or 0, finding.span, finding.code, finding.message, finding.reason)


def _cause(places: Sequence[Finding], rules: Rules) -> Cause:
    if any(place.stops for place in places):
        return Cause(tuple(places), "fails")
    rule = rules.get(places[0].code)
    return Cause(tuple(places), "warns" if rule and rule.warns else "changes")


def _weight(cause: Cause) -> tuple[Any, ...]:
    return (
        EFFECTS.index(cause.effect),
        _LEVELS.index(cause.first.fix),
        -len(cause.places),
        order(cause.first),
        cause.first.applied,
    )
