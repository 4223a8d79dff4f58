"""Proving a group of codemods: the tree before in an old environment against the tree after in a new one."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from verify import apart, conform, environments, installer, known, modules
from verify.advice import advice
from verify.baseline import named, requirement
from verify.bench import Bench, Pair, Request
from verify.by_hand import stopped_at
from verify.containment import contain
from verify.entry import Entry, conftests, entries, is_test
from verify.environments import Ready, Wanted, given_baseline
from verify.eras import older_than
from verify.evidence import Evidence
from verify.extras import spared
from verify.follow import Board
from verify.idle import Executed, executed
from verify.installer import Installer
from verify.interpreters import Unavailable
from verify.manifests import addresses_in, pins_in
from verify.modules import NAMED, not_executed, touches
from verify.process import Outcome, scratch
from verify.record import Raw, besides, events
from verify.recorded import keep
from verify.requirements import misfit
from verify.running import (
    accelerators,
    board_of,
    last_line,
    run_both,
    run_harness,
    run_script,
    run_spec,
    side,
    together,
    version_of,
)
from verify.sources import NAMESPACES, Sources, words
from verify.targets import READ_BY, asked_for, targets
from verify.uses import asked, of_file
from verify.verdict import BY_ONE_RUN, Judgement, confirmed, judge, noise_of, steady


def prove(before: Path, after: Path, request: Request, progress: Callable[[str], None]) -> Evidence:
    """Run both trees and say what it means. Neither folder is written to.

    Whatever the project does ends in a verdict. An interruption is passed on, after ending all children.
    `progress` gets a line for each stage, and may be called from another thread.
    """
    stop = threading.Event()
    with scratch() as folder:
        bench = Bench(folder, request, contain(folder / "tried", request.readable), stop, progress)
        try:
            return _prove(Sources(before), Sources(after), bench)
        except Unavailable as error:
            return _evidence(request, Judgement("inconclusive", None, str(error)))
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
    )


def _prove(before: Sources, after: Sources, bench: Bench) -> Evidence:
    request = bench.request
    if request.conforms_only:
        return _conforming(after, bench)
    found = entries(after, request.changed)
    files = [file.path for file in modules.chosen(before, after, request.changed)]
    pair = _environments(before, after, [entry.script for entry in found[:1]] or files, bench)
    bench.progress("looking up what the files use of Lightning")
    problems, left = _conform(after, pair.after, bench)
    tried: list[Evidence] = []
    for number, entry in enumerate(found):
        if number:
            pair = _environments(before, after, [entry.script], bench)
        bench.progress(_said_before(entry, bench))
        if not (before.root / entry.script).is_file():
            pair = replace(pair, before=None, missing=f"{entry.script} is not in the tree before")
        old, new = run_both(before, after, entry, pair, bench, f"{number}")
        per_batch = pair.before is not None and version_of(pair.before) < Version("1.6")
        judgement = judge(old, new, problems, per_batch=per_batch, missing=pair.missing)
        judgement = _unprovided(judgement, before, new)
        by_hand = stopped_at(new.recording.failure, (*problems, *left), request.by_hand)
        if judgement.verdict == "regressed" and not new.recording.fitted and by_hand:
            reason = f"{judgement.reason}; left to do by hand: {by_hand}"
            judgement = replace(judgement, verdict="inconclusive", reason=reason)
        ran = executed(before, after, request.changed, [new])
        touched = touches(after.root, request.changed, ran.held if new.held else [entry.script])
        if judgement.verdict == "changed" and touched and old and pair.before:
            bench.progress(f"running {entry.script} of the tree before again, to see how much it differs from itself")
            tell = board_of(bench, entry).side(side("before", pair.before))
            may = accelerators(request, pair)
            second = run_script(before, entry, pair.before, may, bench, f"again{number}", tell, nudged=True)
            noise, (kept, aside) = noise_of(old, second), steady(old, second)
            judgement = judge(kept, new, problems, per_batch=per_batch, missing=pair.missing, noise=noise)
            judgement = replace(judgement, reason=judgement.reason + aside)
        elif judgement.verdict in BY_ONE_RUN and old:
            bench.progress(f"running {entry.script} of both trees again, to see whether they end alike")
            other, third = run_both(before, after, entry, pair, bench, f"{number}-again")
            judgement = confirmed(judgement, (old, other or old), (new, third))
        judgement = _with_requirements(judgement, after, request)
        if not touched:
            judgement = _untouched(judgement, entry, problems)
        judgement = replace(judgement, reason=judgement.reason + _aside(after, request, ran, old, new))
        left_out = modules.unexecuted(after.root, request.changed, ran.held)
        tried.append(replace(_with_runs(_evidence(request, judgement), pair, old, new), unexecuted=left_out))
        is_told = new.recording.fitted or (old is not None and old.recording.fitted and not by_hand)
        if judgement.verdict == "regressed" or (touched and is_told):
            return replace(tried[-1], problems=problems, left=left)
    alone = _apart(before, after, problems, bench)
    nothing = replace(_evidence(request, _nothing(problems)), environments=pair.environments)
    first = min(tried, key=_how_far, default=nothing)
    result = _with_alone(alone, first) if alone else first
    if result.verdict == "inconclusive":
        result = replace(result, reason=result.reason + advice(result.reason, after.root))
    return replace(result, problems=problems, left=left)


_LACKING = re.compile(r"No module named '(\w+)'")


def _unprovided(judgement: Judgement, before: Sources, new: Raw) -> Judgement:
    """A package that the tree before imports too and that is not there is lacking in the environment, not in the
    patched tree."""
    failure = new.recording.failure
    found = _LACKING.fullmatch(failure.message) if failure and failure.type == "ModuleNotFoundError" else None
    if judgement.verdict != "regressed" or not found or found[1] in NAMESPACES:
        return judgement
    if not any(found[1] in before.packages(path) for path in before.paths()):
        return judgement
    reason = f"{found[1]}, which the tree before imports too, is not there in the target: {judgement.reason}"
    return replace(judgement, verdict="inconclusive", reason=reason)


def _untouched(judgement: Judgement, entry: Entry, problems: tuple[str, ...]) -> Judgement:
    """What a script says that executed nothing of what was changed: that it trains as before proves nothing, that it
    does not train any more is a regression all the same."""
    if judgement.verdict == "regressed":
        return judgement
    reason = f"{entry.script} executed nothing of what was changed: {judgement.reason}"
    return replace(judgement, verdict="inconclusive", rung=None if problems else "conforms", reason=reason)


def _how_far(evidence: Evidence) -> int:
    """How little of a training a script got to: the end, some of it, or not past its arguments."""
    if evidence.after is None or evidence.after.fitted:
        return 0
    return 2 if evidence.after.failure and evidence.after.failure.type == "SystemExit" else 1


def _said_before(entry: Entry, bench: Bench) -> str:
    """What will be run, and how."""
    lines = [*(shlex.join(["python", *words]) for words in entry.setup), entry.told]
    told = ", then ".join(f"`{line}`" for line in lines)
    told += f" on {bench.request.devices} devices" if bench.request.devices > 1 else ""
    return f"running {told}, each tree for at most {bench.request.timeout:g} s; it is {bench.contained.said}"


# -- modules alone


def _apart(before: Sources, after: Sources, problems: tuple[str, ...], bench: Bench) -> Evidence | None:
    """What training modules alone comes to; None where there is none to train."""
    request = bench.request
    first, then = modules.chosen(before, after, request.changed), modules.reached(after, request.changed)
    if not first and not then:
        return None
    pair = _environments(before, after, [file.path for file in (*first, *then)], bench)
    files = ", ".join(file.path for file in (first or then)[:NAMED])
    limit = f"each tree for at most {request.timeout:g} s at a time"
    bench.progress(f"training modules alone: {files}, {limit}; they are {bench.contained.said}")

    def start(role: str, ready: Ready) -> apart.Start:
        def started(name: str, sources: Sources, spec: Mapping[str, object]) -> tuple[Outcome, Path]:
            return run_spec(sources, {**spec, "accelerators": may}, ready, bench, name, board.side(side(role, ready)))

        return started

    may = accelerators(request, pair)
    board = Board(bench.progress, "modules alone")
    old, new = start("before", pair.before) if pair.before else None, start("after", pair.after)
    sides = apart.Sides(before, after, old, new, lambda jobs: together(jobs, bench.stop), bench.folder, request.timeout)
    per_batch = pair.before is not None and version_of(pair.before) < Version("1.6")
    found = apart.train(sides, request.changed, problems, missing=pair.missing, per_batch=per_batch)
    if found is None:
        return None
    judgement = _with_requirements(found.judgement, after, request)
    if request.devices > 1 and found.alone:
        judgement = replace(judgement, reason=f"{judgement.reason}; on one device, as modules alone always are")
    evidence = replace(_evidence(request, judgement), environments=pair.environments, alone=found.alone)
    evidence = replace(evidence, unexecuted=found.unexecuted)
    return replace(evidence, before=found.alone[0].before, after=found.alone[0].after) if found.alone else evidence


def _with_alone(alone: Evidence, script: Evidence) -> Evidence:
    """The evidence of modules alone, with why no script served; that of the script where no module trained, where the
    script did and modules alone say no more, and where they would repair what the script of the tree before does."""
    fitted = script.after is not None and script.after.fitted
    is_lost = script.before is not None and script.before.fitted and not fitted
    if not alone.alone or (fitted and alone.verdict == "inconclusive") or (is_lost and alone.verdict == "repaired"):
        reason = f"{script.reason}; {alone.reason}"
        return replace(script, rung=alone.rung, reason=reason, unexecuted=alone.unexecuted)
    aside = "" if fitted else "no script got to `fit`: "
    return replace(alone, reason=f"{alone.reason}; {aside}{script.reason}")


def _with_requirements(judgement: Judgement, after: Sources, request: Request) -> Judgement:
    """A tree that trains here and does not fit its own rewritten requirements is worse than before."""
    imported = {name for path in after.paths() for name in after.packages(path)}
    told = misfit(request.before_pins, request.after_pins, request.target, imported)
    if not told or judgement.verdict in ("inconclusive", "regressed"):
        return judgement
    return replace(judgement, verdict="regressed", rung=None, reason=f"{told}; {judgement.reason}")


def _aside(after: Sources, request: Request, ran: Executed, old: Raw | None, new: Raw) -> str:
    """What the runs of a script say nothing about, and what they had besides."""
    count = new.recording.devices or 1
    more = "; ".join(filter(None, (f"trained on {count} devices" if count > 1 else "", besides(old, new))))
    left = not_executed(after.root, request.changed, ran.held, new.recording.script) + ran.told
    return left + (f"; {more}" if more else "")


def _with_runs(evidence: Evidence, pair: Pair, old: Raw | None, new: Raw) -> Evidence:
    before = old.recording if old else None
    return replace(evidence, environments=pair.environments, before=before, after=new.recording)


def _nothing(problems: tuple[str, ...]) -> Judgement:
    reason = (
        "no script was found that builds a Trainer and calls `fit`: name one with "
        '`script = "..."` and `args = [...]` under [tool.fixer.verify] in pyproject.toml'
    )
    return Judgement("inconclusive", None if problems else "conforms", reason)


# -- environments


def _environments(before: Sources, after: Sources, scripts: Sequence[str], bench: Bench) -> Pair:
    request = bench.request
    tools = installer.find(bench.stop, bench.contained)
    old, new = _wanted(before, scripts, request.before_pins), _wanted(after, scripts, request.after_pins)
    if any("lightning" in after.packages(path) for path in after.paths()):
        new = replace(new, lightning="lightning")
    both = old.packages | new.packages
    old, new = (replace(one, packages=both, written=request.written) for one in (old, new))

    for one, other, pair in bench.pairs:
        if (one.lightning, other.lightning) == (old.lightning, new.lightning) and both <= one.packages:
            return pair

    def build() -> Pair:
        given = bench.named(request.python)
        ready = environments.target(new, request.target, given, tools, bench.cache, bench.progress)
        try:
            base = _baseline(old, before, ready, tools, bench)
        except Unavailable as error:
            return Pair(None, ready, bench.contained.said, str(error))
        return Pair(base, ready, bench.contained.said)

    built = together([build], bench.stop)[0]
    bench.pairs.append((old, new, built))
    return built


def _baseline(wanted: Wanted, before: Sources, after: Ready, tools: Installer, bench: Bench) -> Ready:
    request = bench.request
    pins, below = request.before_pins, request.baseline_below
    if given := bench.named(request.baseline_python):
        return given_baseline(given, wanted, pins, after.interpreter.packages)
    below = older_than(before, below, pins, request.lasted) if below else None
    return environments.baseline(
        wanted, pins, below, after, request.target, tools, bench.cache, bench.progress, request.own_torch
    )


def _wanted(sources: Sources, scripts: Sequence[str], pins: tuple[str, ...]) -> Wanted:
    """What the files that the scripts may load need; without a script, only Lightning."""
    run = [*scripts, *conftests(sources, scripts)]
    reached = [sources.reach(script) for script in run if sources.tree(script)]
    loaded = {path for files, _ in reached for path in files}
    outside = {package for _, packages in reached for package in packages} - spared(sources, run, loaded)
    outside |= sources.compiled(loaded)
    held = pins_in(sources.root)
    if outside & READ_BY:
        files, packages = targets(sources, scripts)
        reached += [sources.reach(path) for path in files]
        outside |= asked_for(packages, held).union(*(found for _, found in reached))
    trees = [tree for files, _ in reached for path in files if (tree := sources.tree(path))]
    names = {name for tree in trees for name in words(tree)}
    lightning = "lightning" if "lightning" in outside else "pytorch-lightning"
    if not outside & set(NAMESPACES):
        lightning = "lightning" if named(pins, ["lightning"]) else "pytorch-lightning"
    others = tuple(str(pin) for pin in named(pins, ["torchmetrics"]))
    if any(map(is_test, scripts)):
        outside |= {"pytest"}
    if "hydra" in outside:
        outside |= {pin.name for line in held if (pin := requirement(line)) and pin.name.startswith("hydra-")}
    wanted = environments.needs(outside - set(NAMESPACES), names, held, addresses_in(sources.root))
    return Wanted(lightning, wanted, (*held, *others))


# -- conforms


def _conforming(after: Sources, bench: Bench) -> Evidence:
    """The first rung alone: nothing of the project is run, and its packages are not installed."""
    request = bench.request
    wanted = _wanted(after, (), request.after_pins)
    if any("lightning" in after.packages(path) for path in after.paths()):
        wanted = replace(wanted, lightning="lightning")
    tools = installer.find(bench.stop, bench.contained)
    ready = environments.target(wanted, request.target, bench.named(request.python), tools, bench.cache, bench.progress)
    problems, left = _conform(after, ready, bench)
    reason = f"nothing was run; {request.target} {'lacks what is listed' if problems else 'has all that is used of it'}"
    judged = _evidence(request, Judgement("inconclusive", None if problems else "conforms", reason))
    return replace(judged, environments=(ready.environment,), problems=problems, left=left)


def _conform(after: Sources, ready: Ready, bench: Bench) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the target does not have: in changed files, and in the others."""
    found = [use for path in after.paths() for use in of_file(after, path)]
    if not found:
        return (), ()
    facts = conform.facts(_told(asked(found), ready, bench))
    changed = frozenset(bench.request.changed)
    return (
        conform.problems((use for use in found if use.path in changed), facts),
        conform.problems((use for use in found if use.path not in changed), facts),
    )


def _told(uses: Mapping[str, list[Any]], ready: Ready, bench: Bench) -> tuple[Mapping[str, Any], ...]:
    """What the target says of names and methods; what it was asked before is remembered."""
    before = known.remembered(bench.cache, ready.interpreter)
    left = known.unanswered(uses, before)
    if not any(left.values()):
        return before
    spec = {"mode": "facts", "uses": left, "seconds": bench.request.timeout}
    outcome, record = run_harness("facts", spec, ready, bench.folder, bench)
    told = known.answers(events(record))
    if outcome.status != 0 or any(known.unanswered(left, told).values()):
        raise Unavailable(f"the target environment cannot be asked for its names: {last_line(outcome)}")
    known.remember(bench.cache, ready.interpreter, told)
    return (*before, *told)
