"""All tests of a rule that need no more than its examples, as `fixer test-rules` runs them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from codemods.rule import Rule
from codemods.testing.around import AROUND, put
from codemods.testing.examples import RuleFailure, difference, shortcomings, wrong
from codemods.testing.neutrality import EVERY, EditOutcome, Fired, edited, fired, outcome

KINDS = ("examples", "neutral edits", "surroundings")
BLINDED = "the rule finds less"
CRASHED = "makes the rule fail"


@dataclass(frozen=True)
class RuleTest:
    """One test of a rule: of which kind, its name, and what failed (None: it passed)."""

    code: str
    kind: str
    name: str
    failure: RuleFailure | None = None


def names() -> tuple[str, ...]:
    """The neutral edits and surroundings by their names."""
    return (*EVERY, *AROUND)


def run_tests(rule: Rule, skip: Collection[str] = ()) -> Iterator[RuleTest]:
    """The tests of a rule, less the neutral edits and surroundings named in `skip`: each example with a second run, and
    where it finds something, that edits which change nothing of what a program does, and other surroundings, hide none
    of it."""
    for lack in shortcomings(rule):
        yield RuleTest(rule.code, "examples", "its examples", RuleFailure(lack))
    for number, example in enumerate(rule.examples, 1):
        yield RuleTest(rule.code, "examples", f"example {number}", wrong(rule, example))
    for case in fired((rule,)):
        for edit in (edit for edit in EVERY if edit not in skip):
            for line, files in edited(case, edit):
                yield _judged(case, "neutral edits", edit, outcome(case, edit, line, files))
        for around in (around for around in AROUND if around not in skip):
            if put_in := put(case, around):
                yield _judged(case, "surroundings", around, outcome(case, around, 0, put_in))


def _judged(case: Fired, kind: str, edit: str, made: EditOutcome) -> RuleTest:
    name, failure = f"example {case.number + 1} with `{edit}`", None
    if made.kind in ("vanished", "crashed"):
        what = CRASHED if made.kind == "crashed" else BLINDED
        failure = RuleFailure(what, _shown(case.files, made.files))
    return RuleTest(case.rule.code, kind, name, failure)


def _shown(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What an edit changed, file by file."""
    changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    return "\n".join(difference(before.get(path, ""), after.get(path, ""), path, path) for path in changed)
