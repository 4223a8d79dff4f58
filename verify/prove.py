"""Proving a group of codemods: the tree before in an old environment against the tree after in a new one."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from verify import module_training
from verify.again import First, is_unsettled, settled
from verify.budget import ALONE, SCRIPTS, Budget, Clock, Interrupted, spelled
from verify.environments import as_asked, versions
from verify.environments import remembered_names as names
from verify.environments.environment_pair import environments_for, tools_of, wanted_by
from verify.environments.interpreters import Unavailable
from verify.environments.versions import ReadyEnvironment
from verify.evidence import Evidence, Fact
from verify.follow import ProgressLine
from verify.judging.advice import advice, last_resort
from verify.judging.by_hand import stopped_at
from verify.judging.executed_parts import further, installed_from, parts
from verify.judging.proof_list import NAME_A_SCRIPT, given, no_script, replace_by_hand, restated, stopped_after
from verify.judging.record import RunRecord, events
from verify.judging.recorded import keep
from verify.judging.requirements import misfit
from verify.judging.unnoticed import unnoticed
from verify.judging.verdict import Judgement, judge, unsure
from verify.reading import conform, modules
from verify.reading.entry import Entry, entries
from verify.reading.idle import executed
from verify.reading.modules import NAMED, touches
from verify.reading.sources import NAMESPACES, Sources
from verify.reading.uses import asked, by_attributes, of_file
from verify.request import Bench, Pair, Request
from verify.running import (
    accelerators,
    last_line,
    run_both,
    run_harness,
    run_spec,
    side,
    together,
    version_of,
)
from verify.sandbox.containment import contain
from verify.sandbox.process import Outcome, scratch
from verify.so_far import how_far, so_far, with_cut


@as_asked.bounded
def prove(before: Path, after: Path, request: Request, progress: Callable[[str], None]) -> Evidence:
    """Run both trees and say what it means. Neither folder is written to.

    Whatever the project does ends in a verdict, in the time that the request's clock gives. An interruption is passed
    on as Interrupted, with what was known by then, after ending all children.
    `progress` gets a line for each stage, and may be called from another thread.
    """
    stop, clock = threading.Event(), request.clock or Clock(Budget())
    old, new = Sources(before), Sources(after)
    if told := unnoticed(old, new, request):
        return _evidence(request, told)
    with scratch() as folder:
        contained = contain(folder / "tried", request.readable)
        bench = Bench(folder, request, contained, stop, progress, clock=clock)
        try:
            return _prove(old, new, bench)
        except KeyboardInterrupt:
            nothing = _evidence(request, Judgement("inconclusive", None, ""))
            known = so_far(request, bench.known, nothing, _with_alone, "interrupted")
            raise Interrupted((as_asked.bound(known),)) from None
        except Unavailable as error:
            return with_cut(_evidence(request, Judgement("inconclusive", None, str(error))), bench, is_whole=False)
        except (OSError, ValueError) as error:
            return _evidence(request, Judgement("inconclusive", None, f"the trees cannot be run here: {error}"))
        finally:
            stop.set()
            if request.records:
                keep(request.records, request.codes, bench.started)


def _evidence(request: Request, judgement: Judgement) -> Evidence:
    return Evidence(
        group=request.group,
        codes=request.codes,
        rung=judgement.rung,
        verdict=judgement.verdict,
        reason=judgement.reason,
        max_difference=judgement.max_difference,
        tolerance=judgement.tolerance,
        furthest=judgement.furthest,
        facts=judgement.facts,
    )


def _prove(before: Sources, after: Sources, bench: Bench) -> Evidence:
    bench = replace(bench, before=before)
    request = bench.request
    if request.conforms_only:
        return _conforming(after, bench)
    found, known, clock = entries(after, request.changed, request.start), bench.known, bench.clock
    files = [file.path for file in modules.chosen(before, after, request.changed)]
    if shares := clock.divide([*([SCRIPTS] if found else []), *([ALONE] if files or not found else [])]):
        bench.progress(shares)
    pair = environments_for(before, after, [entry.script for entry in found[:1]] or files, bench)
    bench.progress("checking what the files use of Lightning")
    known.doing = "looking up names"
    try:
        known.problems, known.left = problems, left = _conform(after, pair.after, bench)
    except Unavailable as error:
        return replace(_evidence(request, Judgement("inconclusive", None, str(error))), environments=pair.environments)
    known.looked, tried = True, known.scripts
    for number, entry in enumerate(found):
        clock.enter(SCRIPTS, 0.5 if found[number + 1 :] else 1.0)
        if clock.is_over():
            clock.ended(entry.script)
            break
        if number:
            pair = environments_for(before, after, [entry.script], bench)
        known.doing = f"running {entry.script}"
        bench.progress(_said_before(entry, bench))
        if not (before.root / entry.script).is_file():
            pair = replace(pair, before=None, missing=f"{entry.script} is not in the tree before")
        old, new = run_both(before, after, entry, pair, bench, f"{number}")
        bench.built.extend((*new.built, *(old.built if old else ())))
        per_batch = pair.before is not None and version_of(pair.before) < Version("1.6")
        judgement = judge(old, new, problems, per_batch=per_batch, missing=pair.missing)
        judgement = _as_installed(_asked_otherwise(_unprovided(judgement, before, new), old, new), old, new)
        places = sorted(request.by_hand, key=lambda one: one[0] not in new.held)
        by_hand = stopped_at(new.recording.failure, (*problems, *left), places, after, new.held)
        if judgement.verdict == "regressed" and not new.recording.fitted and by_hand:
            judgement = replace(judgement, verdict="inconclusive")
        if judgement.verdict == "regressed" and by_hand:
            up_to = replace(new, recording=replace(new.recording, failure=None))
            judgement = stopped_after(judge(old, up_to, problems, per_batch=per_batch), judgement)
        if judgement.verdict == "inconclusive" and by_hand:
            judgement = judgement.with_facts(replace_by_hand(by_hand))
        ran = executed(before, after, request.changed, [new])
        touched = touches(after.root, request.changed, ran.held if new.held else [entry.script])
        is_cut = entry.script in clock.cut
        if old and is_unsettled(judgement, touched):
            known.doing = f"running {entry.script} again"
            known.once = _with_runs(_evidence(request, unsure(judgement, "it was not made")), pair, old, new)
            clock.enter()
            runs = First(before, after, entry, pair, old, new, problems, per_batch)
            judgement, known.once = settled(judgement, runs, bench, number), None
        judgement = _with_requirements(judgement, after, request)
        if not touched:
            judgement = _untouched(judgement, entry, problems)
        judgement = judgement.with_facts(*given(old, new))
        left_out = modules.unexecuted(after.root, request.changed, ran.held)
        found_of = parts(before, after, request.changed, [new], pair.after.environment.manifests)
        told = replace(_evidence(request, judgement), unexecuted=left_out, touched=found_of)
        tried.append(_with_runs(told, pair, old, new))
        is_told = new.recording.fitted or (old is not None and old.recording.fitted and not by_hand)
        is_told = is_told and not (is_cut and judgement.verdict == "inconclusive")
        if judgement.verdict == "regressed" or (touched and is_told):
            result = replace(tried[-1], problems=problems, left=left)
            return with_cut(result, bench, is_whole=result.verdict != "inconclusive")
    clock.enter(ALONE)
    known.doing = "training modules alone"
    known.alone = alone = _apart(before, after, problems, bench)
    unrun = Judgement("inconclusive", None if problems else "conforms", "no script was run")
    nothing = replace(_evidence(request, unrun if found else _nothing(problems)), environments=pair.environments)
    first = min(tried, key=how_far, default=nothing)
    result = _with_alone(alone, first) if alone else first
    result = with_cut(result, bench, is_whole=False)
    if result.verdict == "inconclusive":
        result = _led_on(result, first, after, pair.after)
    return replace(result, problems=problems, left=left)


def _led_on(result: Evidence, first: Evidence, after: Sources, there: ReadyEnvironment) -> Evidence:
    """What could not be told, with the one thing to do about it."""
    if any(fact.kind == "next" and fact != NAME_A_SCRIPT for fact in result.facts):
        return replace(result, facts=tuple(fact for fact in result.facts if fact != NAME_A_SCRIPT))
    advised = advice([result, first], after, there.left, there.interpreter.packages)
    if advised:
        return replace(result, facts=(*(fact for fact in result.facts if fact != NAME_A_SCRIPT), *advised))
    if NAME_A_SCRIPT in result.facts:
        return result
    return replace(result, facts=(*result.facts, *last_resort([result, first])))


LENT = ("made", "programs")
"""What was lent to scripts that modules alone are lent too, as a harness is told."""
_LACKING = re.compile(r"No module named '(\w+)'")


def _unprovided(judgement: Judgement, before: Sources, new: RunRecord) -> Judgement:
    """A package that the tree before imports too and that is not there is lacking in the environment, not in the
    patched tree."""
    failure = new.recording.failure
    found = _LACKING.fullmatch(failure.message) if failure and failure.type == "ModuleNotFoundError" else None
    if judgement.verdict != "regressed" or not found or found[1] in NAMESPACES:
        return judgement
    if not any(found[1] in before.packages(path) for path in before.paths()):
        return judgement
    reason = f"{found[1]}, which the tree before imports too, is missing in the target"
    return restated(replace(judgement, verdict="inconclusive"), reason)


def _as_installed(judgement: Judgement, old: RunRecord | None, new: RunRecord) -> Judgement:
    """Where a package is not installed that is imported, no more is claimed than that it trains."""
    lent = new.absent or (old and old.absent)
    return replace(judgement, rung="trains") if lent and judgement.rung == "same" else judgement


def _asked_otherwise(judgement: Judgement, old: RunRecord | None, new: RunRecord) -> Judgement:
    """What a person is asked is answered by what each tree does with it: that a tree trains which asks something else
    than the one before shows nothing."""
    if old is None or not old.recording.fitted or judgement.verdict in ("regressed", "changed"):
        return judgement
    more = [text for text in new.asked if text not in old.asked]
    if not more:
        return judgement
    reason = f"the patched tree was given answers that the tree before does not ask for: {', '.join(more)}"
    return restated(replace(judgement, verdict="inconclusive"), reason)


def _untouched(judgement: Judgement, entry: Entry, problems: tuple[str, ...]) -> Judgement:
    """What a script says that executed nothing of what was changed: that it trains as before proves nothing, that it
    does not train any more is a regression all the same."""
    if judgement.verdict == "regressed":
        return judgement
    found = replace(judgement, verdict="inconclusive", rung=None if problems else "conforms")
    return restated(found, f"{entry.script} executed nothing of what was changed")


def _said_before(entry: Entry, bench: Bench) -> str:
    """What will be run, and how."""
    lines = [*(shlex.join(["python", *words]) for words in entry.setup), entry.told]
    told = ", then ".join(f"`{line}`" for line in lines)
    told += f" on {bench.request.devices} devices" if bench.request.devices > 1 else ""
    return f"running {told}, each tree for at most {_longest(bench)}; it is {bench.contained.said}"


def _longest(bench: Bench) -> str:
    return spelled(min(bench.request.timeout, bench.clock.allowed()))


# -- modules alone


def _apart(before: Sources, after: Sources, problems: tuple[str, ...], bench: Bench) -> Evidence | None:
    """What training modules alone comes to; None where there is none to train."""
    request = bench.request
    first, then = modules.chosen(before, after, request.changed), modules.reached(after, request.changed)
    if not first and not then:
        return None
    if bench.clock.is_over():
        bench.clock.ended("modules alone")
        return None
    beside = () if first else [path for path in request.changed if path.endswith(".py")]
    pair = environments_for(before, after, [*(file.path for file in (*first, *then)), *beside], bench)
    files = ", ".join(file.path for file in (first or then)[:NAMED])
    limit = f"each tree for at most {_longest(bench)} at a time"
    bench.progress(f"training modules alone: {files}, {limit}; they are {bench.contained.said}")

    lent = {
        name: dict.fromkeys(each for told in bench.watching.values() for each in told.get(name, ())) for name in LENT
    }

    def start(role: str, ready: ReadyEnvironment) -> module_training.Start:
        def started(name: str, sources: Sources, spec: Mapping[str, object]) -> tuple[Outcome, Path]:
            full = {**spec, "accelerators": may, **{name: tuple(found) for name, found in lent.items() if found}}
            return run_spec(sources, full, ready, bench, name, board.side(side(role, ready)))

        return started

    may = accelerators(request, pair)
    board = ProgressLine(bench.progress, "modules alone")
    old, new = start("before", pair.before) if pair.before else None, start("after", pair.after)
    sides = module_training.Sides(
        before, after, old, new, lambda jobs: together(jobs, bench.stop), bench.folder, request.timeout
    )
    sides = replace(sides, left=bench.clock.allowed, by_hand=request.by_hand, built=bench.built)
    per_batch = pair.before is not None and version_of(pair.before) < Version("1.6")
    found = module_training.train(sides, request.changed, problems, missing=pair.missing, per_batch=per_batch)
    if found is None:
        return None
    judgement = _with_requirements(found.judgement, after, request)
    if request.devices > 1 and found.alone:
        judgement = judgement.with_facts(Fact("also", "on one device: modules by themselves are always trained on one"))
    evidence = replace(_evidence(request, judgement), environments=pair.environments, alone=found.alone)
    touched = installed_from(found.touched, pair.after.environment.manifests)
    evidence = replace(evidence, unexecuted=found.unexecuted, touched=touched)
    return replace(evidence, before=found.alone[0].before, after=found.alone[0].after) if found.alone else evidence


def _with_alone(alone: Evidence, script: Evidence) -> Evidence:
    """The evidence of modules alone, with why no script served; that of the script where no module trained, where the
    script did and modules alone say no more, and where they would repair what the script of the tree before does."""
    fitted = script.after is not None and script.after.fitted
    is_lost = script.before is not None and script.before.fitted and not fitted
    if not alone.alone or (fitted and alone.verdict == "inconclusive") or (is_lost and alone.verdict == "repaired"):
        facts = (*script.facts, Fact("also", alone.reason), *alone.facts)
        touched = further(script.touched, alone.touched)
        return replace(script, rung=alone.rung, facts=facts, unexecuted=alone.unexecuted, touched=touched)
    more = (fact for fact in script.facts if fact.kind in ("also", "next"))
    return replace(alone, facts=(*alone.facts, no_script(script), *more))


def _with_requirements(judgement: Judgement, after: Sources, request: Request) -> Judgement:
    """A tree that trains here and does not fit its own rewritten requirements is worse than before."""
    imported = {name for path in after.paths() for name in after.packages(path)}
    told = misfit(request.before_pins, request.after_pins, request.target, imported)
    if not told or judgement.verdict in ("inconclusive", "regressed"):
        return judgement
    return restated(replace(judgement, verdict="regressed", rung=None), told)


def _with_runs(evidence: Evidence, pair: Pair, old: RunRecord | None, new: RunRecord) -> Evidence:
    before = old.recording if old else None
    return replace(evidence, environments=pair.environments, before=before, after=new.recording)


def _nothing(problems: tuple[str, ...]) -> Judgement:
    reason = "no script was found that builds a Trainer and calls `fit`"
    return Judgement("inconclusive", None if problems else "conforms", reason, facts=(NAME_A_SCRIPT,))


# -- conforms


def _conforming(after: Sources, bench: Bench) -> Evidence:
    """The first rung alone: nothing of the project is run, and its packages are not installed."""
    request = bench.request
    tools, python = tools_of(bench), bench.named(request.python)
    wanted = wanted_by(after, (), request.after_pins, request, tools)
    if any("lightning" in after.packages(path) for path in after.paths()):
        wanted = replace(wanted, lightning="lightning")
    with bench.clock.paused():
        ready = versions.target(wanted, request.target, python, tools, bench.cache, bench.progress)
    problems, left = _conform(after, ready, bench)
    reason = f"nothing was run; {request.target} {'lacks what is listed' if problems else 'has all that is used of it'}"
    judged = _evidence(request, Judgement("inconclusive", None if problems else "conforms", reason))
    return replace(judged, environments=(ready.environment,), problems=problems, left=left)


def _conform(after: Sources, ready: ReadyEnvironment, bench: Bench) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the target does not have: in changed files, and in the others."""
    found = by_attributes([use for path in after.paths() for use in of_file(after, path)])
    if not found:
        return (), ()
    facts = conform.facts(_told(asked(found), ready, bench))
    changed = frozenset(bench.request.changed)
    return (
        conform.problems((use for use in found if use.path in changed), facts),
        conform.problems((use for use in found if use.path not in changed), facts),
    )


def _told(uses: Mapping[str, list[Any]], ready: ReadyEnvironment, bench: Bench) -> tuple[Mapping[str, Any], ...]:
    """What the target says of names and methods; what it was asked before is remembered."""
    before = names.remembered(bench.cache, ready.interpreter)
    left = names.unanswered(uses, before)
    if not any(left.values()):
        return before
    spec = {"mode": "facts", "uses": left, "seconds": bench.request.timeout}
    outcome, record = run_harness("facts", spec, ready, bench.folder, bench)
    said = list(events(record))
    if reason := names.unloadable(said):
        raise Unavailable(f"the target's Lightning could not be loaded: {reason}")
    told = names.answers(said)
    if outcome.status != 0 or any(names.unanswered(left, told).values()):
        raise Unavailable(f"the target environment cannot be asked for its names: {last_line(outcome)}")
    names.remember(bench.cache, ready.interpreter, told)
    return (*before, *told)
