"""Proving a plan: the trees before and after are exported and run, and a codemod that regresses is taken out."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from packaging.version import Version

from codemods.code.source import Source
from codemods.engine.plan import Plan
from codemods.engine.scan import Options
from codemods.finding import Finding
from codemods.lightning.arguments import first
from codemods.lightning.pins.stated import pins_of
from codemods.rules.hooks.removed_hooks import DATA_HOOKS, HOOKS
from codemods.rules.names.table import gone
from fixer.culprits import Case, explained, without_culprits
from fixer.errors import UsageError
from fixer.gitio import find_repository, git_is_installed
from fixer.groups import changed_codes, groups
from fixer.in_force import NAME
from fixer.project import Project, export, written_on
from fixer.shares import with_shares
from fixer.timing import seconds_of
from verify.budget import TRIALS as TRIALS_STAGE
from verify.budget import Budget, Clock, Interrupted
from verify.environments.eras import oldest
from verify.evidence import Evidence, Fact, Rung
from verify.given_data import LARGEST, files_of
from verify.prove import prove
from verify.reading.entry import EntrySettings
from verify.reading.modules import touches
from verify.request import CALLED, TIMEOUT_S, Request
from verify.sandbox.process import scratch

_OLDEST = Version("1.4")
_PLAIN = re.compile(r"[\w.+-]{1,100}")
"""A name of a folder that is one in every path."""
_LAST = re.compile(r"removed after Lightning (\d+)\.(\d+)\.\d+")
_FIRST = re.compile(r"(?:no longer given .* since|was removed in) Lightning (\d+\.\d+)$")
Progress = Callable[[str], None]
DEFAULT_BUDGET = "10m"
FURTHER = "`fixer run --continue` goes on"


@dataclass(frozen=True)
class ProofOptions:
    """The interpreters for target and baseline (None: fixer finds or builds one), seconds for each tree that runs,
    whether the baseline is on the project's own torch, folders outside the project that it may read, one to keep what
    is recorded in, what a tree trains on, what is to be run where its own settings are not what holds, and requirements
    to install besides those of the project. `clock` bounds the whole proof, `finished` is a folder for the runs that
    came to their end, and `required` the rung that is asked for. `data` is a folder of files for both trees."""

    python: Path | None = None
    timeout: float | None = None
    baseline_python: Path | None = None
    own_torch: bool = False
    readable: tuple[Path, ...] = ()
    records: Path | None = None
    accelerator: str = "auto"
    devices: int = 1
    start: EntrySettings | None = None
    packages: tuple[str, ...] = ()
    clock: Clock | None = None
    finished: Path | None = None
    required: Rung | None = None
    data: Path | None = None
    called: str = CALLED


def proof_options(
    project: Project,
    python: Path | None,
    timeout: float | None,
    readable: tuple[Path, ...],
    records: Path | None = None,
    budget: float | None = None,
    required: Rung | None = None,
    further: str = FURTHER,
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
        None
        if project.config.origin == NAME
        else EntrySettings(config.script, config.command, config.args, config.env, config.setup),
        config.packages,
        Clock(Budget(budget or seconds_of(config.budget or DEFAULT_BUDGET), further=further)),
        required=required,
        data=_data(project),
        called=project.root.name if _PLAIN.fullmatch(project.root.name) else CALLED,
    )


def _data(project: Project) -> Path | None:
    """The folder of data that the settings name. Raises UsageError where it is not there, is more than is copied, or
    lies elsewhere on the machine, which the settings of a stranger could have read."""
    named = project.config.verify.data
    if named is None:
        return None
    place, setting = project.root / named, f"pyproject.toml: [tool.fixer.verify] data: '{named}'"
    if not place.resolve().is_relative_to(project.root.resolve()):
        raise UsageError(f"{setting} leaves the project; copy what a short training reads into a folder of it")
    if not place.is_dir():
        raise UsageError(f"{setting} is no folder; name one whose files the training reads, or take the setting out")
    own = place.resolve().relative_to(project.root.resolve()).parts
    if not own or ".git" in own:
        raise UsageError(f"{setting} is more than data; copy what a short training reads into a folder of its own")
    size = sum(file.stat().st_size for file in files_of(place))
    if size > LARGEST:
        raise UsageError(
            f"{setting} holds {size >> 20} MiB, and every run gets a copy; a short training needs few files: name a "
            f"folder of {LARGEST >> 20} MiB at most"
        )
    return place


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
        start=how.start,
        packages=how.packages,
        lasted=_lasted(),
        clock=how.clock,
        finished=how.finished,
        required=how.required,
        data=how.data,
        called=how.called,
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


def broken_in(
    findings: Iterable[Finding], options: Options, pins: Iterable[str], sources: Iterable[Source]
) -> str | None:
    """The release that the code of these sources, with these pins, must be older than in which this is found: by the
    rules, and by what a message says of the last release that had a name; None if that is not known. A release before
    which a Trainer does not take what the code gives it is none: a find that asks for one is of other code."""
    broken: Mapping[str, str | None] = {rule.code: rule.breaks_in for rule in options.rules}
    said = {(finding.code, finding.message) for finding in findings}
    limits = (limit for code, message in sorted(said) for limit in (broken.get(code), _gone_in(message)))
    least = max((Version(first(name)) for name in _given(sources)), default=Version("0"))
    return oldest((limit for limit in limits if limit and Version(limit) > least), pins)


def _given(sources: Iterable[Source]) -> Iterator[str]:
    """The arguments by name that a Trainer is made with."""
    for source in sources:
        if source.kind != "python" or b"Trainer(" not in source.data:
            continue
        with suppress(SyntaxError, ValueError):
            calls = (node for node in ast.walk(ast.parse(source.data)) if isinstance(node, ast.Call))
            made = (call for call in calls if ast.unparse(call.func).rpartition(".")[2] == "Trainer")
            yield from (word.arg for call in made for word in call.keywords if word.arg)


def _gone_in(message: str) -> str | None:
    """The first release without a name or an argument of a hook, as a message says it: `it was removed after Lightning
    1.7.7`; None for what no release has that installs today."""
    if since := _FIRST.search(message):
        return f"{since[1]}.0" if Version(since[1]) > _OLDEST else None
    last = _LAST.search(message)
    major, minor = map(int, last.groups()) if last else (0, 0)
    if Version(f"{major}.{minor}") < _OLDEST:
        return None
    return "2.0.0" if (major, minor) == (1, 9) else f"{major}.{minor + 1}.0"


def prove_plan(
    project: Project,
    sources: Sequence[Source],
    options: Options,
    made: Plan,
    how: ProofOptions,
    progress: Progress,
) -> tuple[Plan, tuple[Evidence, ...]]:
    """The plan without what regressed, and the evidence for each group, that of what was taken out included. Raises
    Interrupted with the evidence by then."""
    clock = how.clock or Clock(Budget())
    clock.reserved = (TRIALS_STAGE,) if len(changed_codes(made)) > 1 else ()
    evidence: tuple[Evidence, ...] = ()
    with scratch() as folder:
        before = folder / "before"
        export(project, before, {})
        below = broken_in(made.findings, options, options.pins, sources)
        how = replace(how, clock=clock)
        proven = partial(_prove, how)
        case = Case(project, sources, options, before, folder, progress, clock, proven, below)
        try:
            evidence = proven(case, made, "after")
            clock.reserved = ()
            regressed = [item for item in evidence if item.verdict == "regressed"]
            if regressed:
                made, evidence = without_culprits(case, made, evidence, regressed)
            return made, explained(case, made, evidence)
        except Interrupted as stop:
            raise Interrupted(evidence or stop.evidence) from None


def _prove(how: ProofOptions, case: Case, made: Plan, name: str) -> tuple[Evidence, ...]:
    """The evidence for each group. All of them are judged by the same two trees, which run once."""
    after = case.folder / name
    final = made.final()
    export(case.project, after, final)
    pins = pins_of([replace(source, data=final.get(source.path, source.data)) for source in case.sources])
    whole = prove(case.before, after, _request(how, case, made, pins), case.progress)
    found = groups(made, case.options)
    each = (_of_group(replace(whole, group=group, codes=codes), made, after) for group, codes in found.items())
    return tuple(_of_arguments(with_shares(evidence, made.changes)) for evidence in each)


def _of_group(whole: Evidence, made: Plan, after: Path) -> Evidence:
    """What the two trees say of one group: nothing where nothing of what it changed was executed or read."""
    executed = set(made.final()).difference(whole.unexecuted)
    changed = {change.path for change in made.changes if change.code in whole.codes}
    untold = whole.verdict == "inconclusive" and whole.rung in (None, "conforms")
    if untold or whole.verdict == "regressed" or not whole.unexecuted or touches(after, sorted(changed), executed):
        return whole
    return _nothing_of(whole)


def _of_arguments(evidence: Evidence) -> Evidence:
    """The evidence of a group: nothing where the arguments of a Trainer are all that was tried of its files, and other
    groups changed those."""
    is_tried = any(file.argued for file in evidence.touched) and evidence.verdict in ("preserved", "repaired")
    is_lost = is_tried and all(share.outcome == "not executed" for share in evidence.shares)
    return _nothing_of(evidence) if is_lost else evidence


def _nothing_of(whole: Evidence) -> Evidence:
    reason = f"nothing was executed of what {', '.join(whole.codes)} changed"
    rung: Rung | None = None if whole.rung is None else "conforms"
    told = replace(whole, facts=(*whole.facts, Fact("also", f"the runs: {whole.reason}")))
    return replace(told, verdict="inconclusive", rung=rung, reason=reason, max_difference=None, tolerance=None)


def _request(how: ProofOptions, case: Case, made: Plan, after_pins: tuple[str, ...]) -> Request:
    codes = changed_codes(made)
    asked = request(
        how,
        group="",
        codes=codes,
        changed=tuple(sorted(made.final())),
        target=case.options.target,
        below=case.below,
        before_pins=case.options.pins,
        after_pins=after_pins,
        written=written_on(case.project),
    )
    left = ((finding.path, finding.message) for finding in made.findings if not finding.applied)
    return replace(asked, by_hand=tuple(left))
