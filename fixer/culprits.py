"""Which codemods make a patched tree fail, or its numbers differ: found by leaving some out, and proving the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from fixer.groups import changed_codes
from fixer.project import Project
from verify.budget import Clock
from verify.evidence import Evidence, Fact

Progress = Callable[[str], None]
Prove = Callable[["Case", Plan, str], tuple[Evidence, ...]]
TRIALS = 16
SHOWN = 3


@dataclass(frozen=True)
class Case:
    """What stays the same over all the trees that are tried, and what proves the plan of one under a name; `below` is
    what the tree before must be older than, by all that is found in it, as `fixer verify A..B` has it."""

    project: Project
    sources: Sequence[Source]
    options: Options
    before: Path
    folder: Path
    progress: Progress
    clock: Clock
    prove: Prove
    below: str | None


def without_culprits(
    case: Case, made: Plan, evidence: tuple[Evidence, ...], regressed: Sequence[Evidence]
) -> tuple[Plan, tuple[Evidence, ...]]:
    """What is left without the codes that regress, proven again; nothing where that cannot be found."""
    last = {rule.code for rule in case.options.rules if rule.last}
    suspects = tuple(code for code in dict.fromkeys(c for item in regressed for c in item.codes) if code not in last)
    trials = _Trials(case, made, "the patched tree fails", "finding the change that fails")
    pointed = tuple(code for code in suspects if code in _pointed_at(made, regressed))
    few, told = _few(trials, pointed, suspects)
    if few is None:
        evidence = tuple(replace(item, reason=item.reason + told) if item in regressed else item for item in evidence)
        changed = set(changed_codes(made))
        others = tuple(finding for finding in made.findings if finding.code not in changed)
        return _with_findings(made, Plan(others, skipped=made.skipped), changed, evidence), evidence
    kept, again = trials.without(few)
    dropped = tuple(
        replace(item, codes=codes, reason=item.reason + told)
        for item in regressed
        if (codes := tuple(c for c in item.codes if c in few))
    )
    return _with_findings(made, kept, few, regressed), dropped + again


def _few(trials: _Trials, pointed: tuple[str, ...], suspects: tuple[str, ...]) -> tuple[frozenset[str] | None, str]:
    """The fewest codes without which it works, as far as the time lasted, and what is to be said of that; None where
    none were found."""
    found = None
    try:
        found = next(
            (frozenset(codes) for codes in (pointed, suspects) if codes and trials.works(frozenset(codes))), None
        )
        if found is None:
            return None, ""
        fewest = frozenset(narrow([code for code in suspects if code in found], trials.works))
        return (fewest if trials.works(fewest) else found), ""
    except _OutOfTime as error:
        return min(filter(None, [found, *trials.working]), key=len, default=None), f"; {error}"


def explained(case: Case, made: Plan, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """The evidence, other numbers with the findings of the codes without which there are none."""
    changed = [item for item in evidence if item.verdict == "changed"]
    try:
        codes, known = _changing(case, made, tuple(dict.fromkeys(code for item in changed for code in item.codes)))
    except _OutOfTime as error:
        return tuple(replace(item, reason=f"{item.reason}; {error}") if item in changed else item for item in evidence)
    found = [finding for finding in made.findings if finding.applied and finding.code in codes]
    if not found:
        return evidence
    told = [f"one of {', '.join(codes)}, none of which can be left out alone"]
    if known:
        told = [f"{each.code} at {each.path}:{each.span.line}: {each.message}" for each in found[:SHOWN]]
        told += [f"{len(found) - SHOWN} more places"] if found[SHOWN:] else []
    facts = tuple(Fact("explained by", text) for text in told)
    return tuple(replace(item, facts=(*item.facts, *facts)) if item in changed else item for item in evidence)


def _changing(case: Case, made: Plan, codes: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The codes without which the numbers are the same, and whether they are known one by one: those that the move to
    the target needs cannot be left out. None where it cannot be told."""
    rules = {rule.code: rule for rule in case.options.rules}
    able = tuple(code for code in codes if not rules[code].last)
    free = tuple(code for code in able if not rules[code].breaks_in)
    if len(able) < 2 or not free:
        return able, len(able) < 2
    kept = tuple(rule for rule in case.options.rules if rule.code in changed_codes(made))
    trials = _Trials(
        replace(case, options=replace(case.options, rules=kept)),
        made,
        "the numbers differ",
        "finding the change that explains it",
    )
    if trials.same(frozenset(free)):
        return narrow(free, trials.same), True
    differ = any(item.verdict == "changed" for item in trials.without(frozenset(free))[1])
    return tuple(code for code in able if code not in free) if differ else (), False


def narrow(suspects: Sequence[str], works: Callable[[frozenset[str]], bool]) -> tuple[str, ...]:
    """The fewest suspects without which it works, given that it works without all of them and not with all.

    Found by halving: a single one of n takes about twice log2(n) trials, several take that for each.
    """
    return _narrowed(tuple(suspects), frozenset(), works, known=True)


def _narrowed(
    suspects: tuple[str, ...], gone: frozenset[str], works: Callable[[frozenset[str]], bool], *, known: bool = False
) -> tuple[str, ...]:
    """The suspects that have to go besides those that are gone; `known` says that some have to."""
    if not known and works(gone):
        return ()
    if len(suspects) == 1:
        return suspects
    half = len(suspects) // 2
    first, second = suspects[:half], suspects[half:]
    of_second = _narrowed(second, gone | set(first), works)
    return (*_narrowed(first, gone | set(of_second), works, known=not of_second), *of_second)


class _OutOfTime(Exception):
    """There is no time left for a trial; the text says so."""


class _Trials:
    """The plan without some codes, proven; each set of codes once, and no more of them than is worth the time."""

    def __init__(self, case: Case, made: Plan, why: str, goal: str) -> None:
        self.case = case
        self.made = made
        self.why = why
        self.goal = goal
        self.working: list[frozenset[str]] = []
        self._seen: dict[frozenset[str], tuple[Plan, tuple[Evidence, ...]]] = {}

    def without(self, codes: frozenset[str]) -> tuple[Plan, tuple[Evidence, ...]]:
        """What is left without these codes, and its evidence: none where nothing is left."""
        if codes not in self._seen:
            self.case.clock.enter()
            self._check(self.case.clock.is_over())
            earlier, self.case.clock.cut = self.case.clock.cut, {}
            self.case.progress(f"{self.why}; trying it without {', '.join(sorted(codes))}")
            kept = _plan_without(self.case, codes)
            number = sum(1 for _ in self.case.folder.iterdir())
            again = self.case.prove(self.case, kept, f"without-{number}") if kept.changes else ()
            is_cut = bool(self.case.clock.cut) and any(item.verdict == "inconclusive" for item in again)
            self.case.clock.cut = earlier
            self._check(is_cut)
            self._seen[codes] = kept, again
        return self._seen[codes]

    def works(self, codes: frozenset[str]) -> bool:
        """Whether nothing regresses without these codes; once there were too many trials, the answer to new ones
        is no."""
        if self._enough(codes):
            return False
        evidence = self.without(codes)[1]
        if any(item.verdict == "regressed" for item in evidence):
            return False
        works = any(item.verdict != "inconclusive" for item in evidence) or all(map(_both_train, evidence))
        self.working += [codes] if works else []
        return works

    def same(self, codes: frozenset[str]) -> bool:
        """Whether no number differs without these codes, which nobody knows once there were too many trials."""
        if self._enough(codes):
            return False
        verdicts = {item.verdict for item in self.without(codes)[1]}
        return not verdicts or (not verdicts & {"changed", "regressed"} and bool(verdicts & {"preserved", "repaired"}))

    def _check(self, is_cut: bool) -> None:
        """Give up where the time is over: a trial that was cut says neither yes nor no."""
        if is_cut:
            clock = self.case.clock
            clock.ended(self.goal)
            raise _OutOfTime(clock.told())

    def _enough(self, codes: frozenset[str]) -> bool:
        return len(self._seen) >= TRIALS and codes not in self._seen


def _both_train(item: Evidence) -> bool:
    """Whether a script, or each module alone, trains in both trees, although what it says of the changes is not
    known."""
    runs = [run for part in item.alone or (item,) for run in (part.before, part.after)]
    return all(run is not None and run.fitted for run in runs)


def _pointed_at(made: Plan, regressed: Sequence[Evidence]) -> set[str]:
    """The codes that wrote a line at which a patched tree failed."""
    final = made.final()
    codes = set()
    runs = [item.after for item in regressed]
    runs += [part.after for item in regressed for part in item.alone if part.verdict == "regressed"]
    for run in runs:
        path, _, number = (run.failure.place or "").rpartition(":") if run and run.failure else ("", "", "")
        line = final.get(path, b"").splitlines()[int(number) - 1 : int(number)] if number.isdigit() else []
        codes |= {
            change.code
            for change in made.changes
            if change.path == path and set(line) & set(change.after.splitlines()) - set(change.before.splitlines())
        }
    return codes


def _plan_without(case: Case, codes: frozenset[str]) -> Plan:
    rules = tuple(rule for rule in case.options.rules if rule.code not in codes)
    return plan(case.sources, replace(case.options, rules=rules))


def _with_findings(made: Plan, kept: Plan, culprits: Collection[str], regressed: Sequence[Evidence]) -> Plan:
    """What was taken out becomes a finding with the trace."""
    trace = "; ".join(dict.fromkeys(item.reason for item in regressed))
    reason = f"Taken out of the branch: {trace}"
    theirs = [
        replace(finding, applied=False, fix="manual", reason=reason) if finding.applied else finding
        for finding in made.findings
        if finding.code in culprits
    ]
    findings = sorted((*kept.findings, *theirs), key=lambda item: (item.path, item.span, item.code))
    return replace(kept, findings=tuple(findings))
