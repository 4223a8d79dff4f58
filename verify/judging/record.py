"""What the harness wrote about one run, read back."""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verify.evidence import Failure, Gradient, LostGradient, Recording, Scheduler
from verify.harness.pace import SLOW
from verify.harness.standins import STAND_INS

LIMIT = 2**28
NAMED = 5
HANDED = "logger: "
"""What stands before the name of a metric that the project handed straight to a logger."""
_GIVEN = {
    "lent": "old names and defaults that installed packages or Python no longer have",
    "compiled": "a build of Cython modules, without the settings of setup.py",
    "installed": "a version of the project's own distribution, which is not installed",
    "variables": "environment variables that the code reads and nothing sets",
    "programs": "programs that do nothing, in place of those that are not installed",
    "given": "files of the folder that `data` names",
    "home": "a start in the script's own folder, which it reads files from",
    "asked": "answers to what the code asks at a terminal",
    "made": "made-up files in place of data that is not here",
    "blank": "random weights in place of those that are not here",
    "hub": "small untrained models and tokenizers in place of those of the Hugging Face hub",
    "earlier": "what Lightning took before 1.4, to 1.4.9, as nothing older installs",
    "unfetched": "nothing in place of what the code fetches from",
    "moved": "another device in place of CUDA, which is not here, to",
    "shorter": "a shorter training than the others, since a step is too slow for the time there is",
    "smaller": "arguments that make what is trained smaller, since it is too large or too slow here",
    "chosen": "options of its configuration, which names none that is there",
    "samples": "batches of fewer samples, since a step is too slow here, of at most",
    "scattered": "torch_scatter in torch's own operations, since no build of it is installed, for",
    "absent": "what is not installed, and what ran imports and does not use",
    "shared": "ranks that share a GPU and meet by Gloo, which NCCL refuses",
}
"""What a run may be given besides the project's files and packages, by its name in the record."""


@dataclass(frozen=True)
class Weight:
    """One parameter at the end: its L2 norm and some of its values, evenly spaced."""

    name: str
    norm: float
    values: tuple[float, ...]


CRASHED = "ProcessEnded"
"""How the failure of a process is called that ended without an exception of Python; verify.harness.ranks, which can
import nothing of this package, spells it too."""


@dataclass(frozen=True)
class RunRecord:
    """One run: what is reported, and the values that are only compared.

    `passes` is, for each loss, how many optimizer steps had been made when it went backward. `unusable` says why
    Lightning itself could not be loaded; `ended` why we ended the run; `loaded` which files of the project were
    executed; `opened` which of its configurations were read, and for which module; `lent` what of an older numpy or
    Python was lent, and to whom; `compiled` which of its Cython files were, or failed to be;
    `installed` which distribution of its own it asked for, `variables` which of those it read that were lent,
    `programs` which stood in for some that are not installed, `moved` which modules asked for CUDA where there is none,
    `shared` how many ranks were on how many GPUs, where they had to share, `shorter` what was
    trained of a training that is too slow, `smaller` with which arguments it was of something smaller,
    `chosen` with which options of its configuration, `samples` how many there were in a batch at most, `scattered` who
    asked for torch_scatter where there is none, `absent` which packages were imported that are not installed.
    `calls` are the functions of the project that were called, as `path:line`, None where that is not known; `times`
    says how often, None where it was not counted;
    `evaluated` is what of an evaluation works that fails in the other tree; `stands_for` names, as
    verify.harness.standins does, what of ours the failure that ended it is about. `given` are the files that the user
    gave, `home` is the folder that it was started in, where that is the script's own, `asked` the questions that were
    answered. `made` are the files that were made up, `unfetched` the addresses
    from which nothing came, `earlier` what 1.4 was given that it no longer takes, `blank` the weights that were not
    here, `hub` what was made in place of what a hub has; it `lacks` "data", "weights" or "hub" where it failed for
    that. `built` says of modules of the project what the script built them with, each a `path`, a `cls` and
    `arguments` as verify.harness.alone_values describes them.
    """

    recording: Recording
    weights: tuple[Weight, ...] = ()
    passes: tuple[int, ...] = ()
    unusable: str | None = None
    ended: str | None = None
    loaded: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    lent: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    shorter: tuple[str, ...] = ()
    smaller: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    scattered: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    calls: tuple[str, ...] | None = None
    times: Mapping[str, int] | None = None
    evaluated: tuple[str, ...] = ()
    stands_for: str | None = None
    given: tuple[str, ...] = ()
    home: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    hub: tuple[str, ...] = ()
    unfetched: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    lacks: str | None = None
    built: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_crashed(self) -> bool:
        """Whether its process ended by itself with neither a result nor an exception of Python, as when a library
        aborts it: that says nothing of the project."""
        return self.recording.failure is not None and self.recording.failure.type == CRASHED

    @property
    def is_silent(self) -> bool:
        """Whether it ended before it could tell what it had loaded."""
        return not self.loaded and (self.is_crashed or self.ended is not None)

    @property
    def held(self) -> tuple[str, ...]:
        """The files of the project that were executed or read."""
        return (*self.loaded, *(text.rpartition(" to ")[0] for text in self.opened))


def read(path: Path, script: str) -> RunRecord:
    """The events of a file as one value; a last line that was cut off is left out.

    The project's code can write to that file too: one that is not as the harness writes it is told as such.
    """
    try:
        return _read(path, script)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        return RunRecord(_empty(script), ended=f"what was recorded cannot be read ({type(error).__name__}: {error})")


def _read(path: Path, script: str) -> RunRecord:
    losses: list[dict[str, Any]] = []
    passes: list[int] = []
    steps: list[dict[str, Any]] = []
    logged: dict[str, list[float]] = {}
    fits: list[dict[str, Any]] = []
    flow: dict[str, Any] = {}
    warned: tuple[str, ...] = ()
    raw = RunRecord(_empty(script))
    failure: Failure | None = None
    for event in events(path):
        kind = event.get("event")
        if kind == "loss":
            losses.append(event)
            passes.append(len(steps))
        elif kind == "step":
            steps.append(event)
        elif kind == "logged":
            logged.setdefault(str(event["name"]), []).append(float(event["value"]))
        elif kind == "handed":
            logged.setdefault(f"{HANDED}{event['name']}", []).append(float(event["value"]))
        elif kind == "fitted":
            fits.append(event)
        elif kind == "built" and isinstance(event["arguments"], dict):
            raw = replace(raw, built=(*raw.built, {name: event[name] for name in ("path", "cls", "arguments")}))
        elif kind == "evaluated":
            raw = replace(raw, evaluated=(*raw.evaluated, str(event["name"])))
        elif kind == "gradients":
            flow = event
        elif kind == "failure" and raw.ended is None:
            failure = Failure(event["type"], event["message"], event["place"])
            # what follows is the project's answer to it
            raw = replace(raw, ended=failure.message if failure.type in SLOW else None)
            raw = replace(raw, stands_for=stand_in if (stand_in := event.get("stands_for")) in STAND_INS else None)
            raw = replace(raw, lacks=lacks if (lacks := event.get("lacks")) in ("data", "weights", "hub") else None)
        elif kind == "unusable":
            raw = replace(raw, unusable=f"{event['type']}: {event['message']}")
        elif kind == "loaded":
            provided: dict[str, Any] = {name: tuple(map(str, event.get(name, ()))) for name in _GIVEN}
            opened = tuple(map(str, event.get("opened", ())))
            warned = tuple(map(str, event.get("warnings", ())))
            raw = replace(raw, loaded=tuple(event["files"]), opened=opened)
            raw = replace(raw, **provided)
            if (calls := event.get("calls")) is not None:
                raw = replace(raw, calls=tuple(map(str, calls)))
            if (times := event.get("times")) is not None:
                raw = replace(raw, times={str(name): int(number) for name, number in times.items()})
    last = fits[-1] if fits else {}
    weights = tuple(Weight(name, norm, tuple(values)) for name, norm, values in _of_each(fits, "weights"))
    schedulers = [scheduler for fit in fits for scheduler in fit.get("schedulers", ())]
    recording = replace(
        raw.recording,
        fitted=bool(last),
        failure=failure,
        losses=tuple(float(loss["value"]) for loss in losses),
        metrics=tuple(sorted(_of_each([{"metrics": fit["metrics"].items()} for fit in fits], "metrics"))),
        learning_rates=tuple(tuple(step["rates"]) for step in steps),
        optimizer_steps=len(steps),
        global_step=last.get("global_step"),
        epochs=last.get("epochs"),
        unreached=tuple(last.get("unreached", ())),
        weights=tuple((weight.name, weight.norm) for weight in weights),
        device=last.get("device"),
        devices=last.get("devices"),
        precision=last.get("precision"),
        gradients=tuple(Gradient(**{**row, "losses": tuple(row["losses"])}) for row in flow.get("parameters", ())),
        lost=tuple(LostGradient(loss, cut) for loss, cut in flow.get("lost", ())),
        logged=tuple((name, tuple(values)) for name, values in sorted(logged.items())),
        gradient_norms=tuple(float(step["norm"]) for step in steps if "norm" in step),
        graphs=tuple((int(loss["nodes"]), int(loss["casts"])) for loss in losses if "nodes" in loss),
        autocast=next((loss["autocast"] for loss in losses if loss.get("autocast")), None),
        schedulers=tuple(Scheduler(name, steps, tuple(rates), *more) for name, steps, rates, *more in schedulers),
        planned=tuple(sorted(last.get("planned", {}).items())),
        unheld=tuple(flow.get("unheld", ())),
        digest=last.get("digest"),
        peak_memory=last.get("peak_memory"),
        step_seconds=_median([float(step["at"]) for step in steps if "at" in step]),
        warnings=warned,
    )
    return replace(raw, recording=recording, weights=weights, passes=tuple(passes))


def _of_each(fits: list[dict[str, Any]], what: str) -> Iterator[tuple[Any, ...]]:
    """What each call of `fit` ended with; those before the last carry its number in front of their names."""
    for number, fit in enumerate(fits, 1):
        for name, *values in fit[what]:
            yield (name if number == len(fits) else f"fit {number}: {name}", *values)


def _median(times: list[float]) -> float | None:
    """The usual time from one moment to the next."""
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    return round(statistics.median(gaps), 4) if gaps else None


def _empty(script: str) -> Recording:
    return Recording(script, False, None, (), (), (), 0, None, None, (), (), None, None, 0.0)


def besides(*raws: RunRecord | None) -> tuple[str, ...]:
    """What these runs were given besides the project's files and packages, a phrase each."""
    held = [raw for raw in raws if raw]
    names = {kind: list(dict.fromkeys(name for raw in held for name in getattr(raw, kind))) for kind in _GIVEN}
    return tuple(f"{_GIVEN[kind]}: {_listed(found)}" for kind, found in names.items() if found)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if names[NAMED:] else ""
    return f"{', '.join(names[:NAMED])}{more}"


def events(path: Path) -> Iterable[dict[str, Any]]:
    """The JSON objects of a file, one a line."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LIMIT:
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event
