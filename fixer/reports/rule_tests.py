"""What the tests of rules say, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent

from codemods.rule import Rule
from codemods.testing.rule_tests import KINDS, RuleTest

SHOWN = 3
"""Of how many failures of one rule and kind the difference is shown; --verbose shows all."""


def told(tested: Iterable[tuple[Rule, Sequence[RuleTest]]], verbose: bool = False) -> tuple[str, bool]:
    """What was tried of each rule and what failed, and whether all passed."""
    lines, failed, total = [], 0, 0
    for rule, tests in tested:
        wrong = [test for test in tests if test.failure]
        total, failed = total + len(tests), failed + len(wrong)
        counts = ", ".join(_counted(kind, tests) for kind in KINDS)
        lines.append(f"{rule.code}  {rule.name}: {counts}")
        lines += _failures(wrong, verbose)
    lines.append(f"{total} tests: {f'{failed} failed' if failed else 'all passed'}")
    return "\n".join(lines) + "\n", not failed


def _counted(kind: str, tests: Sequence[RuleTest]) -> str:
    of_kind = [test for test in tests if test.kind == kind]
    wrong = sum(test.failure is not None for test in of_kind)
    return f"{len(of_kind)} {kind}" + (f" ({wrong} failed)" if wrong else "")


def _failures(wrong: Sequence[RuleTest], verbose: bool) -> Iterator[str]:
    for kind in KINDS:
        of_kind = [test for test in wrong if test.kind == kind]
        for number, test in enumerate(of_kind):
            assert test.failure
            if verbose or number < SHOWN:
                yield f"  FAILED {test.name}: {test.failure.what}"
                yield from [indent(test.failure.shown, "    ")] if test.failure.shown else []
        if not verbose and len(of_kind) > SHOWN:
            others = dict.fromkeys(test.name for test in of_kind[SHOWN:])
            yield f"  FAILED in {len(of_kind) - SHOWN} more {kind} (--verbose): {', '.join(others)}"
