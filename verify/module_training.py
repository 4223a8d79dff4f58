"""Training modules alone where no script gets to `fit`: found on one tree, then run and judged on both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from verify.evidence import Alone, Failure, FileCoverage
from verify.harness.alone_errors import is_about_inputs
from verify.harness.alone_tries import EVALUATIONS
from verify.judging.apart_judged import judged, label_of, overall, part_of
from verify.judging.executed_parts import argued
from verify.judging.executed_parts import parts as parts_of
from verify.judging.record import CRASHED, RunRecord, events, read
from verify.judging.verdict import BY_ONE_RUN, Judgement, confirmed
from verify.reading import modules
from verify.reading.idle import Executed, executed, watched
from verify.reading.modules import ModuleFile
from verify.reading.sources import NAMESPACES, Sources
from verify.reading.trainer_calls import ChangedCall, changed_calls
from verify.running import OUTPUT
from verify.sandbox.process import Outcome, memory

SHARE = 0.6
"""How much of a tree's time is spent on looking for arguments and batches."""
LONGEST_S = 240.0
STARTS_S, EACH_S = 20.0, 10.0
"""With less time than this for starting and for each module, trainings are of a few batches, as where all are slow."""
CALLS = 4
"""How many calls of the project's Trainers are tried."""
GRACE, GRACE_S = 1.25, 20.0
"""How far beyond its time a search may go: what computes without a stop hears no alarm."""
MEMORY = 0.3
"""How much of the machine's memory a try may hold: the process that looks has its limit above that."""

_TRAINED = ("preserved", "repaired", "changed")
_OF_OUR_SIGNAL = "SIGTERMException"
"""What Lightning raises in a training that is asked to end."""
Start = Callable[[str, Sources, Mapping[str, object]], tuple[Outcome, Path]]
"""Runs the harness with a specification on a copy of a tree, in that tree's environment, under a name."""
Together = Callable[[Sequence[Callable[[], tuple[Outcome, Path]]]], list[tuple[Outcome, Path]]]
Recipe = dict[str, Any]
_TEXTS, _LISTS = ("path", "cls"), ("stubs", "absent", "skipped")
_NEEDED = frozenset({*_TEXTS, *_LISTS, "tries", "arguments", "batch", "attributes", "datamodule", "left"})


@dataclass(frozen=True)
class Sides:
    """The two trees and how the harness is started on them; `old` is None where the baseline cannot be had. Of the
    `functions` of the tree after, it is recorded whether they are called; `nudged` trainings begin with weights that
    are a rounding away. `left` says how many seconds the clock allows, `by_hand` which uses are left to do by hand, as
    a request has them, `built` what scripts built modules with, `shorter` whether trainings are of a few batches, as
    little time is left."""

    before: Sources
    after: Sources
    old: Start | None
    new: Start
    together: Together
    folder: Path
    seconds: float
    functions: Sequence[str] = ()
    nudged: bool = False
    left: Callable[[], float] = lambda: math.inf
    by_hand: Sequence[tuple[str, str]] = ()
    built: Sequence[Mapping[str, Any]] = ()
    shorter: bool = False


@dataclass(frozen=True)
class ModuleTraining:
    """What training alone came to: a judgement over all modules, each module, what could not be trained and why, and
    the changed files that none of the modules which the judgement rests on executed; `touched` is what they executed
    of each."""

    judgement: Judgement
    alone: tuple[Alone, ...]
    failed: tuple[str, ...]
    unexecuted: tuple[str, ...] = ()
    touched: tuple[FileCoverage, ...] = ()


def train(
    sides: Sides, changed: Sequence[str], problems: Sequence[str], *, missing: str, per_batch: bool
) -> ModuleTraining | None:
    """Train the changed modules alone; None where there is none that could be."""
    sides = replace(sides, functions=watched(sides.before, sides.after, changed))
    looked_at = [modules.chosen(sides.before, sides.after, changed), modules.reached(sides.after, changed)]
    files: tuple[ModuleFile, ...] = ()
    recipes: list[Recipe] = []
    failed: tuple[str, ...] = ()
    seen = False
    for number, files in enumerate(filter(None, looked_at)):
        recipes, failed, seen = _search(sides, sides.after, sides.new, files, f"search{number or ''}")
        if seen:
            break
    if not files:
        return None
    if more := modules.heirs(sides.after, files, {label_of(recipe) for recipe in recipes}):
        of_heirs, unfound, _ = _search(sides, sides.after, sides.new, more, "search-heirs")
        files, recipes, failed = (*files, *more), [*recipes, *of_heirs], (*failed, *unfound)
    all_slow = bool(recipes) and all(recipe.get("slow") is True for recipe in recipes)
    sides = replace(sides, shorter=all_slow or sides.left() < STARTS_S + EACH_S * len(recipes))
    pairs = _replay(sides, recipes, "alone")
    known = {label_of(recipe) for recipe in recipes}
    again = [
        file
        for file in files
        if (sides.before.root / file.path).is_file()
        and not any(problem.startswith(f"{file.path}:") for problem in problems)
        and (any(_needs_own(raw) for recipe, raw, _ in pairs if recipe["path"] == file.path) or not _knows(file, known))
    ]
    if again and sides.old is not None and (seen or recipes):
        own, _, _ = _search(sides, sides.before, sides.old, again, "search-before")
        own = [recipe for recipe in own if not any(_is_same(recipe, known_recipe) for known_recipe in recipes)]
        better = [one for one in _replay(sides, own, "alone-before") if one[1] and one[1].recording.fitted]
        labels = {label_of(recipe) for recipe, _, _ in better}
        pairs = [one for one in pairs if label_of(one[0]) not in labels] + better
        failed = tuple(text for text in failed if not any(text.startswith(f"{label}:") for label in labels))
    pairs = _with_evaluation(sides, pairs)
    hand = (sides.by_hand, sides.after)
    parts = tuple(part_of(*pair, problems, missing, per_batch, None, *hand) for pair in pairs)
    if any(part.verdict == "changed" for part in parts):
        again_before = _before_again(
            sides, [pair for pair, part in zip(pairs, parts, strict=True) if part.verdict == "changed"]
        )
        parts = tuple(
            part_of(*pair, problems, missing, per_batch, again_before.get(label_of(pair[0])), *hand) for pair in pairs
        )
    parts = _confirmed(sides, pairs, parts)
    root = sides.after.root
    trained = [one[0] for one, part in zip(pairs, parts, strict=True) if part.verdict in _TRAINED]
    calls = changed_calls(sides.before, sides.after, changed) if trained else ()
    of_calls = _with_calls(sides, calls, trained)
    by_calls = _confirmed(
        sides, of_calls, tuple(part_of(*pair, problems, missing, per_batch, None, *hand) for pair in of_calls)
    )
    by_their_calls = _argued(calls, by_calls)
    runs = list(zip(parts, [new for _, _, new in pairs], strict=True))

    def ran(*news: RunRecord) -> Executed:
        return executed(sides.before, sides.after, changed, news)

    counted = [part for part, new in runs if modules.touches(root, changed, ran(new).held)]
    judgement = overall((*parts, *by_calls), (*counted, *by_calls), failed, problems, sides.by_hand)
    rested = {id(part) for part in judged(counted)}
    rests = [new for part, new in runs if id(part) in rested]
    unexecuted = tuple(
        path for path in modules.unexecuted(root, changed, ran(*rests).held) if path not in by_their_calls
    )
    news = rests or [new for _, new in runs]
    touched = argued(parts_of(sides.before, sides.after, changed, news, alone=True), by_their_calls)
    return ModuleTraining(judgement, (*parts, *by_calls), failed, unexecuted, touched)


def _with_evaluation(
    sides: Sides, pairs: Sequence[tuple[Recipe, RunRecord | None, RunRecord]]
) -> list[tuple[Recipe, RunRecord | None, RunRecord]]:
    """The trainings, those again with an evaluation that works in the tree before alone: unless made-up batches are
    what the tree after does not take."""
    more = []
    for recipe, old, _ in pairs:
        works = [name for name in (old.evaluated if old else ()) if not is_about_inputs(recipe["left"].get(name, ""))]
        if works:
            left = {name: why for name, why in recipe["left"].items() if name not in works}
            more.append({**recipe, **dict.fromkeys(works, True), "left": left})
    again = _replay(sides, more, "evaluated")
    found = {
        label_of(one[0]): one
        for one in again
        if one[1] and one[1].recording.fitted and not one[1].recording.failure and not (one[1].ended or one[2].ended)
    }
    return [found.get(label_of(pair[0]), pair) for pair in pairs]


def _before_again(sides: Sides, pairs: Sequence[tuple[Recipe, RunRecord | None, RunRecord]]) -> dict[str, RunRecord]:
    """Second trainings of the tree before, by module: they say how far it is from itself."""
    own = replace(sides, new=sides.old or sides.new, after=sides.before, old=None, nudged=True)
    again = _replay(own, [one[0] for one in pairs], "again")
    return {label_of(recipe): second for recipe, _, second in again}


def _confirmed(
    sides: Sides, pairs: Sequence[tuple[Recipe, RunRecord | None, RunRecord]], parts: Sequence[Alone]
) -> tuple[Alone, ...]:
    """The modules, those whose verdict rests on how a training ended after a second one of each tree."""
    unsure = [pair for pair, part in zip(pairs, parts, strict=True) if part.verdict in BY_ONE_RUN]
    found = {label_of(one[0]): one for one in (_replay(sides, [pair[0] for pair in unsure], "twice") if unsure else [])}
    told = []
    for (recipe, old, new), part in zip(pairs, parts, strict=True):
        _, second, third = found.get(label_of(recipe), (recipe, old, new))
        now = Judgement(part.verdict, part.rung, part.reason, facts=part.facts)
        if old is not None and second is not None:
            now = confirmed(now, (old, second), (new, third))
        told.append(replace(part, verdict=now.verdict, reason=now.reason, facts=now.facts))
    return tuple(told)


def _knows(file: ModuleFile, known: set[str]) -> bool:
    return any(label.startswith(f"{file.path}:") for label in known)


def _needs_own(old: RunRecord | None) -> bool:
    """Whether the tree before failed on batches that were made for the tree after."""
    return old is not None and not old.recording.fitted


def _is_same(one: Recipe, other: Recipe) -> bool:
    return all(one[key] == other[key] for key in ("path", "cls", "arguments", "batch"))


def _namespaces(sources: Sources, files: Iterable[str]) -> list[str]:
    found: set[str] = set()
    for path in files:
        for reached in sources.reach(path)[0]:
            found |= sources.packages(reached) & set(NAMESPACES)
    return sorted("lightning.pytorch" if name == "lightning" else name for name in found)


def _search(
    sides: Sides, tree: Sources, start: Start, files: Sequence[ModuleFile], name: str
) -> tuple[list[Recipe], tuple[str, ...], bool]:
    """The recipes found, slow ones last, what was not found and why, and whether anything of the project could be
    looked at."""
    budget = min(min(sides.seconds, sides.left()) * SHARE, LONGEST_S)
    spec = {
        "mode": "search",
        "paths": list(dict.fromkeys(path for file in files for path in file.paths)),
        "namespaces": _namespaces(tree, [file.path for file in files]),
        "modules": [modules.described(tree, file, sides.built) for file in files],
        "trainer": modules.carried(tree),
        "memory": memory() * MEMORY,
        "budget": budget,
        "seconds": min(sides.seconds, budget * GRACE + GRACE_S),
    }
    outcome, record = start(name, tree, spec)
    recipes, failed = [], []
    ended = False
    for event in events(record):
        if event.get("event") == "recipe" and _is_recipe(event):
            recipes.append({**event, "paths": spec["paths"]})
        elif event.get("event") == "unfound":
            label = ":".join(str(event[name]) for name in ("path", "cls") if event.get(name))
            failed.append(f"{label}: {event.get('why')}")
        elif event.get("event") == "unusable":
            failed.append(f"Lightning could not be loaded: {event.get('type')}: {event.get('message')}")
        ended = ended or event.get("event") == "end"
    if not ended:
        failed.append(f"the search was ended: {outcome.ended or f'exit status {outcome.status}'}")
    recipes.sort(key=lambda recipe: recipe.get("slow") is True)
    return recipes, tuple(failed), bool(recipes or failed)


def _is_recipe(event: Mapping[str, Any]) -> bool:
    """Whether an event is a recipe as the harness writes it: the project's code can write to that file too."""
    told, lists = event.get("told"), [event.get(name) for name in _LISTS]
    return (
        event.keys() >= _NEEDED
        and all(isinstance(event[name], str) for name in _TEXTS)
        and isinstance(told, dict)
        and all(isinstance(told.get(name), str) for name in ("arguments", "attributes", "batch", "smaller"))
        and all(isinstance(each, list) and all(isinstance(one, str) for one in each) for each in lists)
        and isinstance(left := event["left"], dict)
        and all(name in EVALUATIONS and isinstance(why, str) for name, why in left.items())
    )


def _replay(sides: Sides, recipes: Sequence[Recipe], name: str) -> list[tuple[Recipe, RunRecord | None, RunRecord]]:
    """Each recipe with what its training recorded before and after."""
    if not recipes:
        return []
    jobs = [lambda: _start_replay(sides, sides.after, sides.new, recipes, f"{name}-after")]
    if (old := sides.old) is not None:
        jobs.append(lambda: _start_replay(sides, sides.before, old, recipes, f"{name}-before"))
    outcomes = sides.together(jobs)
    trees = (("after", sides.after), ("before", sides.before))
    both = zip(trees, outcomes, strict=False)
    told = [_told(tree, recipes, sides.folder / f"{name}-{side}", outcome) for (side, tree), (outcome, _) in both]
    return [(recipe, told[1][at] if told[1:] else None, told[0][at]) for at, recipe in enumerate(recipes)]


def _told(tree: Sources, recipes: Sequence[Recipe], folder: Path, outcome: Outcome) -> list[RunRecord]:
    """What each training recorded. One process does them all, and a file is executed but once: of what trainings before
    it had loaded, a module has executed what its file reaches."""
    found: list[RunRecord] = []
    earlier: set[str] = set()
    for number, recipe in enumerate(recipes):
        label = f"{recipe['path']}: {recipe['cls']}, trained by itself"
        raw = _read(folder / f"{number}.jsonl", label, outcome, recipe)
        known = earlier.difference(tree.reach(recipe["path"])[0])
        loaded = tuple(path for path in raw.loaded if path not in known)
        opened, lent, moved = (
            tuple(text for text in texts if not _of_others(text, known, loaded))
            for texts in (raw.opened, raw.lent, raw.moved)
        )
        found.append(replace(raw, loaded=loaded, opened=opened, lent=lent, moved=moved))
        earlier |= set(raw.loaded)
    return found


def _of_others(text: str, known: Iterable[str], loaded: Iterable[str]) -> bool:
    """Whether what a module asked for, `numpy.float to util`, belongs to files of other trainings alone."""
    parts = text.rpartition(" to ")[2].split(".")
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        if any(_is_called(path, name) for path in loaded):
            return False
        if any(_is_called(path, name) for path in known):
            return True
    return False


def _is_called(path: str, name: str) -> bool:
    dotted = ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__init__")
    return dotted == name or dotted.endswith(f".{name}")


def _start_replay(
    sides: Sides, tree: Sources, start: Start, recipes: Sequence[Recipe], name: str
) -> tuple[Outcome, Path]:
    (sides.folder / name).mkdir(exist_ok=True)
    trainer = modules.carried(tree)
    spec = {
        "mode": "calls" if "call" in recipes[0] else "replay",
        "paths": recipes[0]["paths"],
        "functions": sides.functions if tree is sides.after else (),
        "nudged": sides.nudged,
        **({"shorter": ("batches",)} if sides.shorter else {}),
        "namespaces": _namespaces(tree, [recipe["path"] for recipe in recipes]),
        "recipes": [
            {
                **recipe,
                **_called(recipe, tree is sides.before),
                "left": list(recipe["left"]) if tree is sides.before else [],
                "trainer": trainer,
                "record": str(sides.folder / name / f"{number}.jsonl"),
            }
            for number, recipe in enumerate(recipes)
        ],
    }
    return start(name, tree, spec)


def _called(recipe: Recipe, is_before: bool) -> Mapping[str, object]:
    """The Trainer of the project that a recipe is trained by, as a harness makes its arguments."""
    call = recipe.get("call")
    written = (call.old if is_before else call.new) if call else None
    return {"call": {"imports": written.imports, "given": dict(written.given)}} if written else {}


def _with_calls(
    sides: Sides, calls: Sequence[ChangedCall], trained: Sequence[Recipe]
) -> list[tuple[Recipe, RunRecord | None, RunRecord]]:
    """Trainings of modules that trained, by what was changed for a Trainer of a file that loads them."""
    recipes = []
    for call in calls[:CALLS]:
        reached = sides.after.reach(call.path)[0]
        if recipe := next((one for one in trained if one["path"] in reached), None):
            recipes.append({**recipe, "call": call, "left": {}, "tests": False})
    return _replay(sides, recipes, "calls") if recipes else []


def _argued(calls: Sequence[ChangedCall], parts: Sequence[Alone]) -> dict[str, list[str]]:
    """The functions, by their files, of which all that was changed is what their Trainers are given, and trained a
    module."""
    trained = {part.trainer for part in parts if part.after.fitted}
    left = {(call.path, call.function) for call in calls if call.place not in trained}
    found: dict[str, list[str]] = {}
    for path, name in dict.fromkeys((call.path, call.function) for call in calls):
        if (path, name) not in left:
            found.setdefault(path, []).append(name)
    return found


def _read(path: Path, label: str, outcome: Outcome, recipe: Recipe) -> RunRecord:
    raw = read(path, label)
    recording = replace(raw.recording, output=outcome.output[-OUTPUT:])
    if not recording.fitted and recording.failure is None:
        how, ended = outcome.ended or f"the process ended with status {outcome.status}", outcome.ended
        if not path.is_file():
            how = ended = f"not begun, as {how} before"
        recording = replace(recording, failure=Failure(CRASHED, how, None))
        raw = replace(raw, ended=ended)
    elif outcome.ended and (
        (recording.failure is not None and recording.failure.type == _OF_OUR_SIGNAL)
        or not any(event.get("event") == "end" for event in events(path))
    ):
        raw = replace(raw, ended=outcome.ended)
    return replace(raw, recording=recording)
