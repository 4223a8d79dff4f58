"""Proving a plan: the trees before and after are exported and run, and a codemod that regresses is taken out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from codemods.hooks.unheard import DATA_HOOKS, HOOKS
from codemods.names.table import gone
from codemods.plan import Plan, plan
from codemods.scan import Options
from codemods.source import Source
from fixer.errors import UsageError
from fixer.gitio import find_repository, git_is_installed
from fixer.groups import changed_codes, groups
from fixer.project import Project, export, written_on
from fixer.settings import pins_of
from verify.bench import TIMEOUT_S, Request
from verify.eras import oldest
from verify.evidence import Evidence, Rung
from verify.modules import touches
from verify.process import scratch
from verify.prove import prove

Progress = Callable[[str], None]
TRIALS = 16
SHOWN = 3


@dataclass(frozen=True)
class ProofOptions:
    """The interpreters for target and baseline (None: fixer finds or builds one), seconds for each tree that runs,
    whether the baseline is on the project's own torch, folders outside the project that it may read, one to keep what
    is recorded in, and what a tree trains on."""

    python: Path | None = None
    timeout: float | None = None
    baseline_python: Path | None = None
    own_torch: bool = False
    readable: tuple[Path, ...] = ()
    records: Path | None = None
    accelerator: str = "auto"
    devices: int = 1


def proof_options(
    project: Project,
    python: Path | None,
    timeout: float | None,
    readable: tuple[Path, ...],
    records: Path | None = None,
) -> ProofOptions:
    """What the user asked for, laid over the project's settings. Raises UsageError for a script that is not there, and
    for an interpreter that is a file of the repository: it would be run where nothing of the project is to be."""
    config = project.config.verify
    script = PurePosixPath(config.script or "")
    if script.suffix == ".py" and script not in {PurePosixPath(source.path) for source in project.sources}:
        raise UsageError(
            f"pyproject.toml: [tool.fixer.verify] script: there is no '{script}' in the project; name one that is "
            "committed, or take the setting out"
        )

    def named(setting: str, place: str | None) -> Path | None:
        found = project.root / Path(place).expanduser() if place else None
        if found and _is_tracked(project, found):
            raise UsageError(
                f"pyproject.toml: [tool.fixer.verify] {setting}: '{place}' is a file of the repository, and is not "
                "run; name an interpreter of yours"
            )
        return found

    return ProofOptions(
        python.absolute() if python else named("target-python", config.target_python),
        timeout or config.timeout,
        named("baseline-python", config.baseline_python),
        config.torch == "project",
        tuple(place.resolve() for place in readable),
        records,
        config.accelerator,
        config.devices,
    )


def _is_tracked(project: Project, place: Path) -> bool:
    """Whether the repository holds a file, a link on the way to it, or the submodule that it lies in."""
    repository = find_repository(project.root) if git_is_installed() else None
    if repository is None:
        return False
    tracked = {os.fsdecode(name) for name in repository.git("ls-files", "--cached", "-z").split(b"\0") if name}
    root = repository.root
    ways = [path.relative_to(root) for path in (place.absolute(), place.resolve()) if path.is_relative_to(root)]
    return any(part.as_posix() in tracked for way in ways for part in (way, *way.parents))


def request(
    how: ProofOptions,
    *,
    group: str,
    codes: tuple[str, ...],
    changed: tuple[str, ...],
    target: str,
    below: str | None,
    before_pins: tuple[str, ...],
    after_pins: tuple[str, ...],
    written: str | None = None,
    conforms_only: bool = False,
) -> Request:
    """What to prove, and how."""
    return Request(
        group=group,
        codes=codes,
        changed=changed,
        target=target,
        baseline_below=below,
        before_pins=before_pins,
        after_pins=after_pins,
        python=how.python,
        timeout=how.timeout or TIMEOUT_S,
        baseline_python=how.baseline_python,
        own_torch=how.own_torch,
        readable=how.readable,
        conforms_only=conforms_only,
        written=written,
        records=how.records,
        accelerator=how.accelerator,
        devices=how.devices,
        lasted=_lasted(),
    )


def _lasted() -> dict[str, str]:
    """The last releases to have names that are gone since, and to call hooks that are not called since some 1.x."""
    names = {name.removeprefix("pl."): entry.last for name, entry in gone().items() if name.startswith("pl.")}
    hooks = {
        f"{kind.rpartition('.')[2]}.{name}": f"1.{int(minor) - 1}"
        for name, hook in (*HOOKS.items(), *DATA_HOOKS.items())
        for major, _, minor in [hook.since.partition(".")]
        for kind in hook.kinds
        if major == "1" and minor != "0"
    }
    return names | hooks


def broken_in(codes: Iterable[str], options: Options, pins: Iterable[str]) -> str | None:
    """The release that code with these pins must be older than in which these rules find something; None if that is
    not known."""
    broken: Mapping[str, str | None] = {rule.code: rule.breaks_in for rule in options.rules}
    return oldest((limit for code in codes if (limit := broken.get(code))), pins)


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
        if regressed:
            made, evidence = _without_culprits(case, made, evidence, regressed)
        return made, _explained(case, made, evidence)


def _without_culprits(
    case: _Case, made: Plan, evidence: tuple[Evidence, ...], regressed: Sequence[Evidence]
) -> tuple[Plan, tuple[Evidence, ...]]:
    """What is left without the codes that regress, proven again; nothing where that cannot be found."""
    last = {rule.code for rule in case.options.rules if rule.last}
    suspects = tuple(code for code in dict.fromkeys(c for item in regressed for c in item.codes) if code not in last)
    trials = _Trials(case, made, "the patched tree fails")
    pointed = tuple(code for code in suspects if code in _pointed_at(made, regressed))
    few = next((codes for codes in (pointed, suspects) if codes and trials.works(frozenset(codes))), None)
    if few is None:
        changed = set(changed_codes(made))
        others = tuple(finding for finding in made.findings if finding.code not in changed)
        return _with_findings(made, Plan(others, skipped=made.skipped), changed, evidence), evidence
    fewest = frozenset(narrow(few, trials.works))
    culprits, kept, again = trials.without(fewest if trials.works(fewest) else frozenset(few))
    dropped = tuple(
        replace(item, codes=codes) for item in regressed if (codes := tuple(c for c in item.codes if c in culprits))
    )
    return _with_findings(made, kept, culprits, regressed), dropped + again


def _explained(case: _Case, made: Plan, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """The evidence, other numbers with the findings of the codes without which there are none."""
    changed = [item for item in evidence if item.verdict == "changed"]
    codes, known = _changing(case, made, tuple(dict.fromkeys(code for item in changed for code in item.codes)))
    found = [finding for finding in made.findings if finding.applied and finding.code in codes]
    if not found:
        return evidence
    told = f"; it is one of {', '.join(codes)}, of which none can be left out by itself"
    if known:
        shown = "; ".join(f"{each.code} at {each.path}:{each.span.line}, {each.message}" for each in found[:SHOWN])
        told = f"; explained by {shown}" + (f"; and {len(found) - SHOWN} more" if found[SHOWN:] else "")
    return tuple(replace(item, reason=item.reason + told) if item in changed else item for item in evidence)


def _changing(case: _Case, made: Plan, codes: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The codes without which the numbers are the same, and whether they are known one by one: those that the move to
    the target needs cannot be left out. None where it cannot be told."""
    rules = {rule.code: rule for rule in case.options.rules}
    able = tuple(code for code in codes if not rules[code].last)
    free = tuple(code for code in able if not rules[code].breaks_in)
    if len(able) < 2 or not free:
        return able, len(able) < 2
    kept = tuple(rule for rule in case.options.rules if rule.code in changed_codes(made))
    trials = _Trials(replace(case, options=replace(case.options, rules=kept)), made, "the numbers differ")
    if trials.same(frozenset(free)):
        return narrow(free, trials.same), True
    differ = any(item.verdict == "changed" for item in trials.without(frozenset(free))[2])
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


class _Trials:
    """The plan without some codes, proven; each set of codes once, and no more of them than is worth the time."""

    def __init__(self, case: _Case, made: Plan, why: str) -> None:
        self.case = case
        self.made = made
        self.why = why
        self._seen: dict[frozenset[str], tuple[set[str], Plan, tuple[Evidence, ...]]] = {}

    def without(self, codes: frozenset[str]) -> tuple[set[str], Plan, tuple[Evidence, ...]]:
        """What had to go with these codes, what is left, and its evidence: none where nothing is left."""
        gone = frozenset(_with_dependents(self.case, set(codes)))
        if gone not in self._seen:
            self.case.progress(f"{self.why}; trying it without {', '.join(sorted(gone))}")
            kept = _plan_without(self.case, set(gone))
            number = sum(1 for _ in self.case.folder.iterdir())
            again = _prove(self.case, kept, f"without-{number}") if kept.changes else ()
            self._seen[gone] = set(gone), kept, again
        return self._seen[gone]

    def works(self, codes: frozenset[str]) -> bool:
        """Whether nothing regresses without these codes; once there were too many trials, the answer to new ones
        is no."""
        if self._enough(codes):
            return False
        evidence = self.without(codes)[2]
        if any(item.verdict == "regressed" for item in evidence):
            return False
        return any(item.verdict != "inconclusive" for item in evidence) or all(map(_both_train, evidence))

    def same(self, codes: frozenset[str]) -> bool:
        """Whether no number differs without these codes, which nobody knows once there were too many trials."""
        if self._enough(codes):
            return False
        verdicts = {item.verdict for item in self.without(codes)[2]}
        return not verdicts or (not verdicts & {"changed", "regressed"} and bool(verdicts & {"preserved", "repaired"}))

    def _enough(self, codes: frozenset[str]) -> bool:
        return len(self._seen) >= TRIALS and frozenset(_with_dependents(self.case, set(codes))) not in self._seen


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
    return tuple(_of_group(replace(whole, group=group, codes=codes), made, after) for group, codes in found.items())


def _of_group(whole: Evidence, made: Plan, after: Path) -> Evidence:
    """What the two trees say of one group: nothing where nothing of what it changed was executed or read."""
    executed = set(made.final()).difference(whole.unexecuted)
    changed = {change.path for change in made.changes if change.code in whole.codes}
    told = whole.verdict == "inconclusive" and whole.rung in (None, "conforms")
    if told or whole.verdict == "regressed" or not whole.unexecuted or touches(after, sorted(changed), executed):
        return whole
    reason = f"nothing was executed of what {', '.join(whole.codes)} changed: {whole.reason}"
    rung: Rung | None = None if whole.rung is None else "conforms"
    return replace(whole, verdict="inconclusive", rung=rung, reason=reason, max_difference=None, tolerance=None)


def _request(case: _Case, made: Plan, after_pins: tuple[str, ...]) -> Request:
    codes = changed_codes(made)
    asked = request(
        case.how,
        group="",
        codes=codes,
        changed=tuple(sorted(made.final())),
        target=case.options.target,
        below=broken_in(codes, case.options, case.options.pins),
        before_pins=case.options.pins,
        after_pins=after_pins,
        written=written_on(case.project),
    )
    left = ((finding.path, finding.message) for finding in made.findings if not finding.applied)
    return replace(asked, by_hand=tuple(left))
