"""The words about modules that were trained by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.evidence import Alone, Fact
from verify.harness.alone_tries import EVALUATIONS
from verify.judging.record import RunRecord, besides
from verify.reading.modules import NAMED


def notes_of(recipe: Mapping[str, Any], old: RunRecord | None, new: RunRecord) -> tuple[str, ...]:
    """What stood in for something of the project in a training, and what was left out of it."""
    told = recipe["told"]
    notes = [f"arguments and batches were found in {recipe['tries']} tries"]
    if recipe["stubs"]:
        notes.append(f"imported, but not installed and not used: {', '.join(recipe['stubs'])}")
    if recipe["absent"]:
        notes.append(f"random weights in place of those in {', '.join(recipe['absent'])}, which are not here")
    if recipe["skipped"]:
        notes.append(f"left out, since they need the project's data: {', '.join(recipe['skipped'])}")
    if recipe["attributes"]:
        notes.append(f"provided by fixer: attributes that a script would set: {told['attributes']}")
    if recipe["datamodule"]:
        notes.append("provided by fixer: a data module that hands the same batches out")
    if told["smaller"]:
        notes.append(f"a smaller model, since it is too large or too slow here: {told['smaller']}")
    notes += [f"provided by fixer: {text}" for text in besides(old, new)]
    if call := recipe.get("call"):
        notes.append(f"Trainer was given, as they are written there, before ({call.old.told}), after ({call.new.told})")
        if call.left:
            notes.append(f"not given to it: {', '.join(call.left)}")
    for name, why in recipe["left"].items():
        notes.append(f"{EVALUATIONS[name]} fails on these batches ({why}), so it was left out")
    return tuple(notes)


def told_of(part: Alone, count: int) -> str:
    more = f" ({count} modules were)" if count > 1 else ""
    by = f" by the changed arguments of the Trainer at {part.trainer}" if part.trainer else ""
    return f"{part.module.rpartition(':')[2]}, trained by itself on generated batches{by}{more}"


def facts_of_parts(parts: Sequence[Alone]) -> tuple[Fact, ...]:
    """What is known of modules besides the reason of the first of them."""
    others = [Fact("also", f"{part.module}: {part.verdict}: {part.reason}") for part in parts[1:]]
    return tuple(dict.fromkeys([*(fact for part in parts for fact in part.facts), *others]))


def untrained(failed: Sequence[str]) -> tuple[Fact, ...]:
    """The modules that could not be trained, and why."""
    more = [f"{len(failed) - NAMED} more modules were not trained"] if failed[NAMED:] else []
    return tuple(Fact("also", text) for text in [*(f"not trained: {text}" for text in failed[:NAMED]), *more])
