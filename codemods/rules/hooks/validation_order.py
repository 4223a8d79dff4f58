"""Training epochs of Lightning 1.1 to 1.3, which ended before validation ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.code.nodes import walk
from codemods.code.source import ClassNode
from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_from, is_open
from codemods.rules.hooks.callbacks import NEUTRAL, attributes_of
from codemods.rules.hooks.epoch_end import Stage
from codemods.rules.hooks.given_parts import METRICS

FIRST, BEHIND = "1.1.3", "1.4"
"""The releases that validated behind the end of a training epoch, by `trainer/training_loop.py`: 1.1.8,
1.2.10 and 1.3.8, not 1.1.2 and 1.4.9."""
CHANGING = frozenset({
    "add", "append", "appendleft", "clear", "extend", "insert", "pop", "popleft", "remove", "reset", "setdefault",
    "update",
})  # fmt: skip
"""Methods that change what they are called of."""


def ended_before_validation(facts: Facts, item: ClassNode, stages: Sequence[Stage]) -> str | None:
    """What is said of the end of a training epoch that shares with validation what one of them changes, where the
    project's Lightning ran the one before the other and 2.x does not."""
    stage = next((each for each in stages if each.train and each.old in item.methods), None)
    if stage is None or is_open(facts, LIGHTNING):
        return None
    if admits_from(facts, LIGHTNING, BEHIND, "2.0") or not admits_from(facts, LIGHTNING, FIRST, BEHIND):
        return None
    validating = sorted(name for name in item.methods if name.startswith(("validation_", "on_validation_")))
    ending = attributes_of(item, stage.old)
    seen = set[str]().union(*(attributes_of(item, name) for name in validating))
    changed = {name for method in (stage.old, *validating) for name in _changed(item, method)}
    shared = sorted((ending & seen & changed) - NEUTRAL) or (sorted(ending & METRICS) if validating else [])
    if not shared:
        return None
    named = f"`{shared[0]}`"
    return (
        f" Lightning 1.1 to 1.3 called {stage.old} before the epoch's validation, 2.x behind it, and both use {named}."
    )


def _changed(item: ClassNode, method: str) -> Iterator[str]:
    """The attributes that a method, and those of the class that it calls, store or change in place."""
    for name in {method, *(attributes_of(item, method) & item.methods.keys())}:
        for node in walk(item.methods[name]):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                yield node.attr
            elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                yield from (each.attr for each in walk(node.value) if isinstance(each, ast.Attribute))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
                yield from (each.attr for each in walk(node.func.value) if isinstance(each, ast.Attribute))
