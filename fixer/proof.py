"""Proving a plan: the trees before and after are exported and run, and a codemod that regresses is taken out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from codemods.plan import Plan, plan
from codemods.scan import Options
from codemods.source import Source
from fixer.groups import changed_codes, groups
from fixer.project import Project, export
from fixer.settings import pins_of
from verify.evidence import Evidence
from verify.process import scratch
from verify.prove import TIMEOUT_S, Request, prove

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ProofOptions:
    """The interpreter for the target (None: fixer finds or builds one) and seconds for each tree that runs."""

    python: Path | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class _Case:
    """What stays the same over all the trees that are tried."""

    project: Project
    sources: Sequence[Source]
    options: Options
    how: ProofOptions
    before: Path
    folder: Path
    progress: Progress


def prove_plan(
    project: Project,
    sources: Sequence[Source],
    options: Options,
    made: Plan,
    how: ProofOptions,
    progress: Progress,
) -> tuple[Plan, tuple[Evidence, ...]]:
    """The plan without what regressed, and the evidence for each group, that of what was taken out included."""
    with scratch() as folder:
        before = folder / "before"
        export(project, before, {})
        case = _Case(project, sources, options, how, before, folder, progress)
        evidence = _prove(case, made, "after")
        regressed = [item for item in evidence if item.verdict == "regressed"]
        if not regressed:
            return made, evidence
        return _without_culprits(case, made, evidence, regressed)


def _without_culprits(
    case: _Case, made: Plan, evidence: tuple[Evidence, ...], regressed: Sequence[Evidence]
) -> tuple[Plan, tuple[Evidence, ...]]:
    suspects = _with_dependents(case, {code for item in regressed for code in item.codes})
    culprits, kept, again = _culprits(case, made, regressed) or (suspects, _plan_without(case, suspects), ())
    dropped = tuple(
        replace(item, codes=codes) for item in regressed if (codes := tuple(c for c in item.codes if c in culprits))
    )
    if kept.changes and not again:
        again = _prove(case, kept, "rest")
        if any(item.verdict == "regressed" for item in again):
            changed = set(changed_codes(made))
            others = tuple(finding for finding in made.findings if finding.code not in changed)
            return _with_findings(made, Plan(others, skipped=made.skipped), changed, evidence), evidence
    return _with_findings(made, kept, culprits, regressed), dropped + again


def _culprits(
    case: _Case, made: Plan, regressed: Sequence[Evidence]
) -> tuple[set[str], Plan, tuple[Evidence, ...]] | None:
    """The codes without which nothing regresses, with the plan and evidence of the rest: one code where that
    is enough, else one group; None where neither is."""
    last = {rule.code for rule in case.options.rules if rule.last}
    pointed = _pointed_at(made, regressed)
    single = [{code} for item in regressed for code in item.codes if code not in last]
    whole = [set(item.codes) for item in regressed if len(regressed) > 1 and len(item.codes) > 1]
    for number, tried in enumerate([*sorted(single, key=lambda codes: not codes & pointed), *whole]):
        codes = _with_dependents(case, tried)
        case.progress(f"the patched tree fails; trying it without {', '.join(sorted(codes))}")
        kept = _plan_without(case, codes)
        again = _prove(case, kept, f"without-{number}") if kept.changes else ()
        if again and all(item.verdict not in ("regressed", "inconclusive") for item in again):
            return codes, kept, again
    return None


def _pointed_at(made: Plan, regressed: Sequence[Evidence]) -> set[str]:
    """The codes that wrote a line at which a patched tree failed."""
    final = made.final()
    codes = set()
    for item in regressed:
        failure = item.after.failure if item.after else None
        path, _, number = (failure.place or "").rpartition(":") if failure else ("", "", "")
        line = final.get(path, b"").splitlines()[int(number) - 1 : int(number)] if number.isdigit() else []
        codes |= {
            change.code
            for change in made.changes
            if change.path == path and set(line) & set(change.after.splitlines()) - set(change.before.splitlines())
        }
    return codes


def _with_dependents(case: _Case, codes: set[str]) -> set[str]:
    """The codes, and those that must not land without one of them."""
    more = {rule.code for rule in case.options.rules if codes & set(rule.requires)}
    return codes if more <= codes else _with_dependents(case, codes | more)


def _plan_without(case: _Case, codes: set[str]) -> Plan:
    rules = tuple(rule for rule in case.options.rules if rule.code not in codes)
    return plan(case.sources, replace(case.options, rules=rules))


def _with_findings(made: Plan, kept: Plan, culprits: set[str], regressed: Sequence[Evidence]) -> Plan:
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


def _prove(case: _Case, made: Plan, name: str) -> tuple[Evidence, ...]:
    """The evidence for each group. All of them are judged by the same two trees, which run once."""
    after = case.folder / name
    final = made.final()
    export(case.project, after, final)
    pins = pins_of([replace(source, data=final.get(source.path, source.data)) for source in case.sources])
    whole = prove(case.before, after, _request(case, made, pins), case.progress)
    found = groups(made, case.options)
    return tuple(replace(whole, group=group, codes=codes) for group, codes in found.items())


def _request(case: _Case, made: Plan, after_pins: tuple[str, ...]) -> Request:
    codes = changed_codes(made)
    broken: Mapping[str, str | None] = {rule.code: rule.breaks_in for rule in case.options.rules}
    limits = [limit for code in codes if (limit := broken.get(code))]
    return Request(
        group="",
        codes=codes,
        changed=tuple(sorted(made.final())),
        target=case.options.target,
        baseline_below=min(limits, key=Version) if limits else None,
        before_pins=case.options.pins,
        after_pins=after_pins,
        python=case.how.python,
        timeout=case.how.timeout or TIMEOUT_S,
    )
