"""The way of one run: open, rewrite, prove, land. Each command is a function that returns a Result.

What only `run` needs is imported there: `check` and `diff` have to start fast.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.code.source import Source
from codemods.engine.plan import Plan, find, plan
from codemods.engine.scan import Options
from codemods.engine.triggers import triggered
from codemods.rule import others_rules
from fixer import __version__
from fixer.errors import UsageError, of_the_system
from fixer.project import Project, open_commit, open_tree
from fixer.remembered import remembering
from fixer.reports.diff import unified
from fixer.result import Command, FileDiff, Result, RunInterrupted, Skipped
from fixer.settings import SharedOptions, options_for, sources_of

if TYPE_CHECKING:
    from fixer.choosing.session import Talk
    from fixer.command_line_entry import EntryOptions
    from verify.evidence import Evidence, Rung

Progress = Callable[[str], None]


@dataclass(frozen=True)
class RunOptions:
    """What `run` takes besides the shared options."""

    base: str | None = None
    branch: str | None = None
    force: bool = False
    dry_run: bool = False
    verify: bool = True
    python: Path | None = None
    timeout: float | None = None
    require: Rung | None = None
    readable: tuple[Path, ...] = ()
    push: str | None = None
    pr: bool = False
    records: Path | None = None
    budget: float | None = None
    go_on: bool = False
    given: EntryOptions | None = None
    prove_unsafe: bool = False


@dataclass(frozen=True)
class CheckOptions:
    """What `check` takes besides the shared options: a file of known findings to leave out, and one to write, and
    whether to tell how long each rule took."""

    baseline: Path | None = None
    write_baseline: Path | None = None
    timings: bool = False


PLAIN = CheckOptions()
SHORTEST = 0.005
"""Of rules that took fewer seconds nothing is told."""


def check(asked: SharedOptions, progress: Progress, how: CheckOptions = PLAIN) -> Result:
    """What the rules find in the files as they lie on disk. Nothing is rewritten or run."""
    result = _look("check", asked, progress, find, _timings if how.timings else None)
    if not (how.baseline or how.write_baseline):
        return result
    from fixer.baseline import without_known, write

    if how.baseline:
        result = without_known(result, how.baseline)
    if how.write_baseline:
        result = replace(result, messages=(*result.messages, write(result, how.write_baseline)))
    return result


def _timings(made: Plan) -> tuple[str, ...]:
    """How long each rule took, the longest first."""
    spent = sorted(made.spent.items(), key=lambda item: (-item[1], item[0]))
    lines = tuple(f"{code} took {seconds:.2f} s" for code, seconds in spent if seconds >= SHORTEST)
    return (f"the rules took {sum(made.spent.values()):.2f} s of processor time together", *lines)


def diff(asked: SharedOptions, progress: Progress) -> Result:
    """What `fix` would change, as unified diffs."""
    return _look("diff", asked, progress, plan)


def fix(asked: SharedOptions, progress: Progress, talk: Talk | None = None) -> Result:
    """Rewrites the files in place, or of all changes those that are chosen by `talk`; a file that cannot be written is
    left and named, and is an error. What is overwritten is kept for `undo`.

    Raises UsageError, before anything is written, where a file changed meanwhile, or a new one would take the place of
    one that git ignores.
    """
    from fixer.in_place import write

    started = time.monotonic()
    project, options, sources = _open("fix", asked, progress)
    said: tuple[str, ...] = ()
    with remembering(project.root, options, sources) as memory:
        if talk:
            from fixer.choosing.taken import taken

            made, said = taken(project, sources, options, memory, talk, _counted(progress))
        else:
            made = plan(sources, options, _counted(progress), memory)
    written = write(project.root, made.final(), {source.path: source.data for source in sources})
    result = _without(_result("fix", project, options, sources, made), written.refused)
    if result.files and (written.no_undo or talk or project.base is None):
        said = (*said, written.no_undo or "`fixer undo` puts the files back as they were")
    return replace(result, messages=(*result.messages, *said), duration_s=time.monotonic() - started)


def run(asked: SharedOptions, how: RunOptions, progress: Progress) -> Result:
    """The whole way from the base commit to a proven branch.

    Raises UsageError where the repository, the branch or an option cannot be worked with; a proof that
    could not be made is not an error but an `inconclusive` verdict.
    """
    from fixer.branch import check_branch, check_content, check_free
    from fixer.command_line_entry import laid_over
    from fixer.delivery import prepare
    from fixer.groups import steps_of
    from fixer.proof import proof_options, prove_plan
    from fixer.proof_state import NOTHING, open_state
    from fixer.reports.rule_text import rule_texts
    from fixer.stops import look_again, readiness
    from fixer.tokens import take
    from fixer.unsafe_proof import prove_unsafe
    from verify.budget import Interrupted

    started, tokens = time.monotonic(), take()
    progress("reading the repository")
    project = open_commit(asked.path, how.base)
    for message in project.about_settings:
        progress(message)
    project = laid_over(project, how.given) if how.given else project
    options = options_for(asked, project)
    verified = how.verify and project.config.verify.enabled
    if how.require and not verified:
        switch = "set verify.enabled in pyproject.toml" if how.verify else "leave out --no-verify"
        raise UsageError(f"--require {how.require} needs the proof, which is switched off; {switch}")
    if how.go_on and not verified:
        raise UsageError("--continue goes on with a proof, which is switched off; leave out one of the two")
    if how.prove_unsafe and (not verified or options.unsafe):
        why = "it makes all of them" if verified else "the proof is switched off"
        other = "--unsafe-fixes" if verified else "--no-verify"
        raise UsageError(
            f"--prove-unsafe keeps the unsafe changes that the proof shows; with {other} {why}: leave out one"
        )
    branch = how.branch or f"fixer/lightning-{options.target}"
    delivery = prepare(project, asked, branch, how.base, how.push, tokens, pr=how.pr, again=how.force)
    if not how.dry_run:
        check_branch(project, branch)
    sources = sources_of(project)
    whole, options = options, delivery.options(options) if delivery else options
    off = sorted({rule.code for rule in whole.rules} - {rule.code for rule in options.rules})
    with remembering(project.root, options, sources) as memory:
        made = plan(sources, options, _counted(progress), memory)
    unwanted: str | None = None
    if delivery:
        options, unwanted = delivery.unwanted(options, made.changes)
        made = plan(sources, options, _counted(progress), memory.again()) if unwanted else made
    if how.prove_unsafe:
        made = plan(sources, replace(options, unsafe=True), _counted(progress), memory.again())
    evidence: tuple[Evidence, ...] = ()
    force = how.force or (delivery is not None and delivery.may_move())
    notes: tuple[str, ...] = ()
    nothing = not made.changes
    if made.changes and not how.dry_run:
        check_free(project, branch)
    if made.changes and verified:
        if not force and not how.prove_unsafe:
            check_content(project, branch, steps_of(made, options), __version__)
        proof = proof_options(project, how.python, how.timeout, how.readable, how.records, how.budget, how.require)
        state = open_state(project, made.final(), (options.target, how.python), go_on=how.go_on)
        notes = (NOTHING,) if how.go_on and not state.is_there else ()
        proof = replace(proof, finished=state.folder)
        if proof.clock:
            proof.clock.begin(started)
            proof.clock.goes_on = state.is_there
        try:
            if how.prove_unsafe:
                options, made, evidence = prove_unsafe(project, sources, options, proof, progress)
            else:
                made, evidence = prove_plan(project, sources, options, made, proof, progress)
        except Interrupted as stop:
            result = replace(_result("run", project, options, sources, made), evidence=stop.evidence)
            messages = (*result.messages, "no branch was made; `fixer run --continue` goes on with the proof")
            result = replace(result, error="interrupted", messages=messages, duration_s=time.monotonic() - started)
            raise RunInterrupted(result) from None
        state.close(is_through=proof.clock is None or not proof.clock.cut)
    result = replace(_result("run", project, options, sources, made), evidence=evidence)
    result = replace(result, arguments=_arguments(asked, project, off, how))
    result = replace(result, messages=(*result.messages, *notes, *filter(None, [unwanted])))
    result = _resolved(result, asked, sources, made, progress)
    progress("checking what is left")
    every = options_for(replace(asked, select=()), project)
    again = look_again(sources, made, every, memory)
    result = replace(result, readiness=readiness(sources, made, again, evidence, options.target, verified=verified))
    if made.changes:
        sign = delivery is not None
        result = _or_error(_land, result, project, options, made, branch, how, force=force, sign=sign)
        if delivery and not how.dry_run and not result.error:
            progress(f"pushing to {delivery.remote.name}")
            result = _or_error(delivery.deliver, result, made, rule_texts())
    elif nothing and delivery and not how.dry_run:
        left = plan(sources, whole, _counted(progress)).changes if off else ()
        result = _or_error(delivery.conclude, result, off=any(change.code in off for change in left))
    return replace(result, duration_s=time.monotonic() - started)


def _arguments(asked: SharedOptions, project: Project, off: Sequence[str], how: RunOptions) -> tuple[str, ...]:
    """The path and the options that lead to the same branch, without what is switched off in its pull request."""
    ignored = project.config.ignore if asked.ignore is None else asked.ignore
    given = replace(asked, ignore=(*ignored, *off)) if off else asked
    more = [f"--branch={how.branch}"] if how.branch else []
    return (*given.arguments(project.scope), *more, *(["--prove-unsafe"] if how.prove_unsafe else []))


def _or_error(go_on: Callable[..., Result], result: Result, *arguments: object, **options: object) -> Result:
    """What became of the result in the repository or at the remote. Where that cannot be written or reached, the work
    that was done is kept."""
    try:
        return go_on(result, *arguments, **options)
    except UsageError as error:
        return replace(result, error=str(error))
    except OSError as error:
        return replace(result, error=of_the_system(error))


def exit_code(result: Result, *, require: Rung | None = None, findings_count: bool = False) -> int:
    """0, or 1 as docs/exit-codes.md says."""
    left = [finding for finding in result.findings if not finding.applied]
    if result.error:
        return 2
    if result.command in ("check", "diff"):
        return 1 if result.findings else 0
    if result.command == "verify" or result.command in ("run", "demo"):
        if any(item.verdict == "regressed" for item in result.evidence):
            return 1
        if require and not all(_reaches(item, require) for item in result.evidence):
            return 1
    return 1 if findings_count and left else 0


def _reaches(item: Evidence, required: Rung) -> bool:
    """Whether every change of a group reaches a rung: a file that no run executed has got no further than the first."""
    from verify.evidence import RUNGS

    rung: Rung | None = "conforms" if item.rung and any(file.is_left_by_runs for file in item.touched) else item.rung
    return rung is not None and RUNGS.index(rung) >= RUNGS.index(required)


def _look(
    command: Command,
    asked: SharedOptions,
    progress: Progress,
    look: Callable[..., Plan],
    tell: Callable[[Plan], tuple[str, ...]] | None = None,
) -> Result:
    started = time.monotonic()
    project, options, sources = _open(command, asked, progress)
    with remembering(project.root, options, sources) as memory:
        made = look(sources, options, _counted(progress), memory)
    result = _resolved(_result(command, project, options, sources, made), asked, sources, made, progress)
    messages = (*result.messages, *(tell(made) if tell else ()))
    arguments = asked.arguments(str(asked.path))
    return replace(result, messages=messages, arguments=arguments, duration_s=time.monotonic() - started)


def _resolved(
    result: Result, asked: SharedOptions, sources: Sequence[Source], made: Plan, progress: Progress
) -> Result:
    """The result with what `--check-pins` found."""
    if not asked.check_pins:
        return result
    from fixer.pins import check_pins

    return replace(result, messages=(*result.messages, *check_pins(sources, made.final(), progress)))


def _open(command: Command, asked: SharedOptions, progress: Progress) -> tuple[Project, Options, tuple[Source, ...]]:
    from verify.follow import PassingLine

    progress(PassingLine(f"looking for files in {asked.path}"))
    project = open_tree(asked.path)
    options = options_for(asked, project)
    return project, options, sources_of(project)


def _counted(progress: Progress) -> Callable[[int, int], None]:
    from verify.follow import PassingLine

    return lambda done, total: progress(PassingLine(f"reading files: {done} of {total}"))


def _result(command: Command, project: Project, options: Options, sources: Sequence[Source], made: Plan) -> Result:
    by_path = {source.path: source for source in sources}
    final = made.final()
    skipped = [*project.skipped, *(Skipped(path, reason) for path, reason in made.skipped)]
    unread = [item for item in skipped if project.in_scope(item.path) and not project.config.excludes(item.path)]
    messages = [
        *project.messages,
        *others_rules().left_out,
        *(f"bug in a rule, whose rewrite was discarded: {bug}" for bug in made.bugs),
    ]
    if not made.findings and not any(triggered(source, options.rules) for source in sources):
        file = "file that could be read" if unread else "file"
        messages.append(f"no {file} has anything that a rule checks: nothing to do")
    return Result(
        command=command,
        base=project.base,
        target=options.target,
        project=project.root.resolve().name,
        findings=made.findings,
        files=tuple(
            FileDiff(path, unified(path, _text(by_path[path].data) if path in by_path else None, _text(final[path])))
            for path in sorted(final)
        ),
        skipped=tuple(sorted(unread, key=lambda item: item.path)),
        messages=tuple(messages),
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogateescape")


def _land(
    result: Result,
    project: Project,
    options: Options,
    made: Plan,
    branch: str,
    how: RunOptions,
    *,
    force: bool,
    sign: bool,
) -> Result:
    from fixer.branch import land
    from fixer.groups import steps_of

    steps = steps_of(made, options)
    landing = land(project, branch, steps, __version__, force=force, dry_run=how.dry_run, sign=sign)
    messages = (*result.messages, *([landing.message] if landing.message else []))
    kept = None if how.dry_run or landing.head == project.base else landing.branch
    result = replace(result, branch=kept, commits=landing.commits, messages=messages)
    return result if how.dry_run else _or_error(_annotated, result, project)


def _annotated(result: Result, project: Project) -> Result:
    from fixer.branch import annotate
    from fixer.reports.notes import notes

    annotate(project, result.commits, notes(result))
    return result


def _without(result: Result, refused: Sequence[Skipped]) -> Result:
    """The result less the files that could not be written."""
    if not refused:
        return result
    paths = {item.path for item in refused}
    return replace(
        result,
        files=tuple(file for file in result.files if file.path not in paths),
        findings=tuple(replace(item, applied=item.applied and item.path not in paths) for item in result.findings),
        skipped=tuple(sorted((*result.skipped, *refused), key=lambda item: item.path)),
        error="; ".join(f"{item.path}: {item.reason}" for item in refused) + "; make it writable, and run fixer again",
    )
