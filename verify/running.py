"""Running trees: the harness, in copies of them, in their environments."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from packaging.version import Version

from verify import finished
from verify.budget import spelled
from verify.checkout import SPARED, check_out
from verify.environments.manifests import own_distribution
from verify.environments.versions import ReadyEnvironment
from verify.evidence import Failure
from verify.follow import ProgressLine, Tell, following
from verify.given_data import copy_of
from verify.harness import HARNESS
from verify.harness.pace import SHORTER
from verify.harness.standins import STAND_INS
from verify.judging.record import CRASHED, RunRecord, read
from verify.judging.recorded import Started
from verify.made_up import with_data
from verify.reading import sizes
from verify.reading.entry import Entry
from verify.reading.idle import watched
from verify.reading.sources import NAMESPACES, Sources
from verify.reading.targets import READ_BY, targets
from verify.reading.variables import lent as variables_for
from verify.request import Bench, Pair, Request
from verify.retried import Watching, from_its_folder, otherwise, settled, without_package
from verify.sandbox.jail import OUTSIDE
from verify.sandbox.process import Limits, Outcome, memory, run, scrubbed

T = TypeVar("T")
SEED = 42
TRAIN_BATCHES = 8
VAL_BATCHES = 2
EPOCHS = 2
RECORD = "record.jsonl"
_MPS = Version("1.7")
_DOES_NOTHING = "#!/bin/sh\nexit 0\n"
OUTPUT = 8 * 1024
"""How many of the last characters that a program writes are kept."""


def version_of(ready: ReadyEnvironment) -> Version:
    held = ready.interpreter.packages
    return Version(held.get("pytorch-lightning") or held.get("lightning") or "0")


def accelerators(request: Request, pair: Pair) -> tuple[str, ...]:
    """The kinds of devices besides the CPU that both trees may train on, the best first. MPS is one device, which
    Lightning knows since 1.7."""
    if request.accelerator == "cpu":
        return ()
    known = all(version_of(ready) >= _MPS for ready in (pair.before, pair.after) if ready)
    return ("cuda", "mps") if known and request.devices == 1 else ("cuda",)


def run_both(
    before: Sources, after: Sources, entry: Entry, pair: Pair, bench: Bench, name: str
) -> tuple[RunRecord | None, RunRecord]:
    """Run a script in both trees; again, and otherwise watched, where what we put there fails and can be spared."""
    old, new = _both(before, after, entry, pair, bench, name)
    for number in range(len(STAND_INS)):
        less = sizes.smaller(entry.script, after, before, changed=bench.request.changed)
        watching = bench.watching.get(entry.script, {})
        again = from_its_folder(old, new, watching, entry, after.root) or otherwise(old, new, watching, less)
        again = again or without_package(old, new, watching, before)
        again = again or _with_data(before, after, entry, pair, bench, f"{name}-data{number}", (old, new))
        if again is None:
            break
        bench.watching[entry.script], told = again
        bench.progress(f"running {entry.script} of both trees again, {told}")
        old, new = _both(before, after, entry, pair, bench, f"{name}-otherwise{number}")
    return old, settled(old, new)


def _with_data(
    before: Sources,
    after: Sources,
    entry: Entry,
    pair: Pair,
    bench: Bench,
    name: str,
    raws: tuple[RunRecord | None, RunRecord],
) -> tuple[Watching, str] | None:
    def start(tree: Sources, ready: ReadyEnvironment, more: Mapping[str, object]) -> tuple[Outcome, Path]:
        spec = {**_spec_of(tree, entry, ready, accelerators(bench.request, pair), bench), **more}
        own = f"{name}-{'after' if tree is after else 'before'}"
        return run_spec(tree, spec, ready, bench, own, lambda _: None)

    return with_data((before, after), entry, pair, bench, raws, start)


def _both(
    before: Sources, after: Sources, entry: Entry, pair: Pair, bench: Bench, name: str
) -> tuple[RunRecord | None, RunRecord]:
    board = board_of(bench, entry)
    new = board.side(side("after", pair.after))
    may, functions = accelerators(bench.request, pair), watched(before, after, bench.request.changed)
    jobs: list[Callable[[], RunRecord]] = [
        lambda: run_script(after, entry, pair.after, may, bench, f"after{name}", new, functions)
    ]
    if (base := pair.before) is not None:
        old = board.side(side("before", base))
        jobs.append(lambda: run_script(before, entry, base, may, bench, f"before{name}", old))
    results = together(jobs, bench.stop)
    return (results[1] if len(results) > 1 else None), results[0]


def board_of(bench: Bench, entry: Entry) -> ProgressLine:
    return ProgressLine(bench.progress, entry.script)


def side(role: str, ready: ReadyEnvironment) -> str:
    """How a tree is called while it runs."""
    return f"{role}, on Lightning {version_of(ready)}"


def run_script(
    sources: Sources,
    entry: Entry,
    ready: ReadyEnvironment,
    may: Sequence[str],
    bench: Bench,
    name: str,
    tell: Tell,
    functions: Sequence[str] = (),
    *,
    nudged: bool = False,
) -> RunRecord:
    """Run one script in a copy of its tree; `may` are the accelerators that it may train on, `functions` those of which
    it is recorded whether they are called. `nudged` has it begin with weights that are a rounding away."""
    spec = {
        **_spec_of(sources, entry, ready, may, bench),
        "mode": "train",
        "functions": functions,
        "nudged": nudged,
    }
    outcome, record = run_spec(sources, spec, ready, bench, name, tell)
    return _closed(read(record, entry.script), outcome)


def _spec_of(
    sources: Sources, entry: Entry, ready: ReadyEnvironment, may: Sequence[str], bench: Bench
) -> dict[str, object]:
    """What the harness is told of a script."""
    return {
        "script": entry.script,
        "args": list(entry.args),
        "module": entry.module,
        "variables": dict(entry.variables),
        "setup": entry.setup,
        "accelerators": may,
        "devices": bench.request.devices,
        "namespaces": namespaces(sources, entry.script, ready.interpreter.packages),
        **bench.watching.get(entry.script, {}),
    }


def run_spec(
    sources: Sources, spec: Mapping[str, object], ready: ReadyEnvironment, bench: Bench, name: str, tell: Tell
) -> tuple[Outcome, Path]:
    """Start the harness in a copy of a tree, for a short training; or take what it recorded, where this very run came
    to its end before."""
    home, record = bench.folder / name, bench.folder / name / RECORD
    tree = home / "tree" / bench.request.called
    short = {
        "seed": SEED,
        "seconds": bench.request.timeout,
        "limit_train_batches": TRAIN_BATCHES,
        "limit_val_batches": VAL_BATCHES,
        "max_epochs": EPOCHS,
        "own": own_distribution(sources.root),
        "offline": bench.contained.level in ("full", "network"),
        "outside": OUTSIDE if bench.contained.level == "full" else (),
        "beside": True,
    }
    before = ready.environment.role == "baseline"
    bench.started.append(Started("before" if before else "after", spec, record))
    full, folder = {**short, **(SHORTER if spec.get("shorter") else {}), **spec}, bench.request.finished
    recipes: Any = spec.get("recipes", ())
    places, budget = [record, *(Path(recipe["record"]) for recipe in recipes)], cast("float | None", spec.get("budget"))
    key = ""
    if folder:
        held: list[object] = [bench.contained.said, bench.request.accelerator, bench.request.devices]
        held += [_digest(bench.request.data, bench)] if bench.request.data else []
        held += [sorted(variables_for(bench.before or sources, home, tree)), bench.request.called]
        key = finished.key_of(name, _digest(sources.root, bench), full, ready.interpreter, _files(), *held)
        if outcome := finished.take(folder, key, places, budget):
            return outcome, record
    check_out(sources.root, tree, sources.paths())
    with following(spec, record, tell):
        lent = _lent(bench.before or sources, spec, home, tree, bench.request.data)
        outcome, record = run_harness(name, {**full, **lent}, ready, tree, bench)
    if folder:
        finished.keep(folder, key, outcome, places, budget)
    return outcome, record


def _lent(sources: Sources, spec: Mapping[str, object], home: Path, tree: Path, data: Path | None) -> dict[str, object]:
    """What a run has besides its `tree`, in its `home`: variables that the code of these sources reads and nothing
    sets, programs that are missing, and the `data` that the user named."""
    folder = home / "home" / "lent"
    variables = variables_for(sources, folder, tree)
    for place in map(Path, variables.values()):
        if folder in place.parents:
            (place.parent if place.suffix else place).mkdir(parents=True, exist_ok=True)
    programs = home / "programs"
    for name in cast("Sequence[str]", spec.get("programs", ())):
        programs.mkdir(exist_ok=True)
        (programs / name).write_text(_DOES_NOTHING, encoding="utf-8")
        (programs / name).chmod(0o755)
    given = {"given": copy_of(data, home)} if data else {}
    return {"lent": variables, "path": str(programs), **given}


def _digest(root: Path, bench: Bench) -> str:
    if root not in bench.digests:
        bench.digests[root] = finished.digest(root, SPARED)
    return bench.digests[root]


def _files() -> list[Path]:
    """The files that the harness is made of."""
    return sorted(HARNESS.parent.glob("*.py"))


def namespaces(sources: Sources, script: str, installed: Container[str]) -> list[str]:
    """The Lightning packages that a script and what it loads import, and those that configurations name which are read
    then; of a script that says nothing of what it loads, those of the whole tree."""
    files, outside = sources.reach(script)
    found = {name for path in files for name in sources.packages(path)}
    found |= targets(sources, [script])[1] if outside & READ_BY else set()
    if not found & set(NAMESPACES):
        found = {name for path in sources.paths() for name in sources.packages(path)}
    named = [name for name in NAMESPACES if name in found]
    there = [name for name in named if name.replace("_", "-") in installed]
    return sorted("lightning.pytorch" if name == "lightning" else name for name in there or named)


def _closed(raw: RunRecord, outcome: Outcome) -> RunRecord:
    """A run together with how its process ended."""
    recording = replace(raw.recording, seconds=round(outcome.seconds, 3), output=outcome.output[-OUTPUT:])
    failure = recording.failure
    if failure is None and outcome.ended is None and outcome.status != 0:
        how = f"signal {-outcome.status}" if outcome.status < 0 else f"exit status {outcome.status}"
        failure = Failure(CRASHED, f"the process ended with {how}: {last_line(outcome)}", None)
    elif failure is not None and failure.type == "SystemExit" and failure.message.isdigit():
        failure = replace(failure, message=f"exit status {failure.message}: {last_line(outcome)}")
    return replace(raw, recording=replace(recording, failure=failure), ended=outcome.ended or raw.ended)


def last_line(outcome: Outcome) -> str:
    lines = [line.strip() for line in outcome.output.splitlines() if line.strip()]
    return outcome.ended or (lines[-1][:300] if lines else "it said nothing")


def run_harness(
    name: str, spec: Mapping[str, object], ready: ReadyEnvironment, folder: Path, bench: Bench
) -> tuple[Outcome, Path]:
    """Start the harness in an environment, with a home of its own, for as long as `spec` says and the clock allows."""
    home, record = bench.folder / name, bench.folder / name / RECORD
    asked, allowed = float(cast("float", spec["seconds"])), bench.clock.allowed()
    what = str(spec.get("script") or ("the names of the target" if spec["mode"] == "facts" else "modules alone"))
    if bench.clock.is_over():
        return Outcome(-1, "", bench.clock.ended(what), 0.0), record
    seconds = min(asked, allowed)
    (home / "harness").mkdir(parents=True, exist_ok=True)
    (home / "scratch").mkdir(exist_ok=True)
    script = home / "harness" / HARNESS.name
    for part in _files():
        shutil.copyfile(part, script.with_name(part.name))
    full = {**spec, "seconds": seconds, "record": str(record), "scratch": str(home / "scratch")}
    (home / "spec.json").write_text(json.dumps(full), encoding="utf-8")
    environment = scrubbed(home, max(1, (os.cpu_count() or 2) // 2 // bench.request.devices))
    environment |= {"CUDA_VISIBLE_DEVICES": ""} if bench.request.accelerator == "cpu" else {}
    limits = Limits(seconds, int(memory() * 0.4))
    command = [str(ready.interpreter.path), str(script), str(home / "spec.json")]
    shut_in = bench.contained.command(command, home, ready.interpreter.folders, limits)
    outcome = run(shut_in, folder, environment, limits, bench.stop, home)
    if outcome.ended and outcome.seconds >= seconds and seconds < asked:
        outcome = replace(outcome, ended=f"{bench.clock.ended(what)}, after {spelled(seconds)} of it")
    return outcome, record


def together(jobs: Iterable[Callable[[], T]], stop: threading.Event) -> list[T]:
    """Do jobs side by side; an interruption, or a job that fails, ends all of them."""
    with ThreadPoolExecutor() as pool:
        futures: list[Future[T]] = [pool.submit(job) for job in jobs]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            raise
