"""Trains LightningModules by themselves, on batches that are made up.

Runs in the target's interpreter, beside the harness. `search` finds, for each module, arguments to build it with and
batches that its training step takes; `replay` trains what was found, so that two trees can be compared on the same.
"""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from . import alone_batches as batches
from . import alone_sizes as sizes
from . import alone_values
from .alone_arguments import ArgumentHints
from .alone_climb import Climb
from .alone_data import Offers
from .alone_memory import settle
from .alone_tries import (
    BATCHES,
    EVALUATIONS,
    TryBench,
    TryState,
    attempt,
    constructed,
    fit,
    generator,
    is_lightning,
    said,
)
from .alone_weights import blank

_NO_TIME = "there was no time to try it"


# -- finding modules


def load(bench: TryBench, file: Mapping[str, Any]) -> ModuleType:
    """Import a file of the project by the first of its names that works, standing in for packages that are missing: by
    one that is not another file's, which a file of the same name in another folder may have been imported by."""
    told: Exception | None = None
    others: list[ModuleType] = []
    for name in file["names"]:
        try:
            module = bench.imported(name)
        except Exception as error:
            told = error if told is None or "relative import" in str(told) else told
            continue
        if _is_of(module, Path(bench.root, file["path"])):
            return module
        others.append(module)
    if others:
        return others[0]
    raise told or ImportError(f"{file['names'][0]} cannot be imported")


def _is_of(module: ModuleType, path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.samefile(getattr(module, "__file__", None) or "")
    return False


def modules_of(module: ModuleType) -> Iterator[type]:
    """The LightningModules that a file defines and that can train."""
    for value in list(vars(module).values()):
        if (
            isinstance(value, type)
            and value.__module__ == module.__name__
            and any(is_lightning(base) for base in value.__mro__)
            and not inspect.isabstract(value)
            and not is_lightning(_owner(value, "training_step"))
        ):
            yield value


def _owner(cls: type, name: str) -> type | None:
    return next((base for base in cls.__mro__ if name in base.__dict__), None)


# -- searching


def search(bench: TryBench, spec: dict[str, Any], record: Callable[..., None]) -> None:
    """Find a recipe for each class of each file, and record it, or why there is none."""
    end = time.monotonic() + spec["budget"]
    bench.memory = spec["memory"]
    for number, file in enumerate(spec["modules"]):
        if time.monotonic() > end:
            if file["steps"]:
                record("unfound", path=file["path"], cls=None, why=_NO_TIME, late=True)
            continue
        try:
            module = load(bench, file)
        except BaseException as error:
            record("unfound", path=file["path"], cls=None, why=f"it cannot be imported: {said(error, bench.root)}")
            continue
        settle()
        found = list(modules_of(module))
        order = {name: place for place, name in enumerate(file["classes"])}
        offers = Offers(bench, load, file["data"], file["shapes"])
        found.sort(key=lambda cls: order.get(cls.__name__, len(order)))
        for place, cls in enumerate(found):
            if time.monotonic() > end:
                record("unfound", path=file["path"], cls=cls.__name__, tries=0, why=_NO_TIME, late=True)
                continue
            others = sum(other["steps"] for other in spec["modules"][number + 1 :])
            seconds = max(5.0, (end - time.monotonic()) / (others + len(found) - place))
            values = file["hints"]
            calls = tuple(values["calls"].get(cls.__name__, ()))
            hints = ArgumentHints(values["values"], calls, tuple(values.get("groups", ()))).of_batches().filled()
            _search_one(bench, file, cls, hints, spec["trainer"], seconds, record, offers)


def _search_one(
    bench: TryBench,
    file: dict[str, Any],
    cls: type,
    hints: ArgumentHints,
    trainer: dict[str, Any],
    seconds: float,
    record: Callable[..., None],
    offers: Offers,
) -> None:
    bench.absent.clear()
    offers.begin(seconds)
    end = time.monotonic() + seconds
    state, tries, furthest = Climb(bench, cls, hints, trainer, seconds, offers).run()
    about = {"path": file["path"], "cls": cls.__name__, "tries": tries}
    if state is None:
        why = f"no arguments and batches were found in {tries} tries; the furthest: {furthest or _NO_TIME}"
        record("unfound", **about, why=why, late=time.monotonic() >= end)
        return
    recipe = {
        **about,
        **state.described,
        "names": file["names"],
        "absent": list(bench.absent) if state.weights else [],
        "trainer": trainer,
        "stubs": list(bench.stubs.names),
        "told": {
            "arguments": alone_values.told(state.arguments),
            "attributes": alone_values.told(state.attributes),
            "batch": batches.told(state.batch or {"items": []}) + offers.told(state.shaped, state.batch),
            "smaller": ", ".join(sizes.reduced(state.full or {}, state.arguments)),
        },
    }
    state, left = _evaluated(bench, cls, state, trainer)
    record("recipe", **{**recipe, **state.described}, left=left)


def _evaluated(bench: TryBench, cls: type, state: TryState, trainer: dict[str, Any]) -> tuple[TryState, dict[str, str]]:
    """A state that trains, with the evaluation that its class defines and that works too, and why another does not."""
    left = {}
    for name, step in EVALUATIONS.items():
        if getattr(state, name) or is_lightning(_owner(cls, step)):
            continue
        more = TryState.of({**state.described, name: True})
        error = attempt(bench, cls, more, None, trainer).error
        if error is None:
            state = more
        else:
            left[name] = said(error, bench.root)
    return state, left


def replay(bench: TryBench, recipe: dict[str, Any]) -> None:
    """Build a module as a recipe says and train it on its batches; errors are the caller's to record."""
    module = getattr(load(bench, recipe), recipe["cls"])
    state, trainer = TryState.of(recipe), {**recipe["trainer"], **_called(recipe.get("call"))}
    for name in recipe["left"]:
        _try_evaluation(bench, module, state, name, trainer)
    with blank(bench.absent if state.weights else None):
        built = constructed(bench, module, state.arguments)
        made = [batches.make(recipe["batch"], generator(bench.seed + number)) for number in range(BATCHES)]
        fit(bench, built, made, state, trainer)


def _called(call: dict[str, Any] | None) -> dict[str, Any]:
    """The arguments of a Trainer of the project, made by themselves."""
    if call is None:
        return {}
    space: dict[str, Any] = {}
    for line in call["imports"]:
        exec(line, space)
    return {name: eval(text, space) for name, text in call["given"].items()}


def _try_evaluation(bench: TryBench, cls: type, state: TryState, name: str, trainer: dict[str, Any]) -> None:
    """Record whether an evaluation that fails in the other tree works here: nothing else of it counts."""
    record = bench.watch.record
    error = attempt(bench, cls, TryState.of({**state.described, name: True}), None, trainer).error
    bench.watch.begin(record)
    if error is None:
        record("evaluated", name=name)


__all__ = ["TryBench", "replay", "search"]
