"""Whether a callback's hook does in the one that takes its place what it did in its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from codemods.code.nodes import walk
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, is_super_call, parameters
from codemods.lightning.facts import Facts

SETTLED = frozenset({
    "global_rank", "local_rank", "node_rank", "world_size", "is_global_zero", "num_nodes", "num_devices",
    "default_root_dir", "log_dir", "logger", "loggers", "max_epochs", "max_steps", "fast_dev_run",
})  # fmt: skip
"""What a Trainer says that the training state of a checkpoint does not change."""
CALLED_SO = frozenset({"trainer", "pl_trainer", "pl_module", "lightning_module", "module", "model", "net", "system"})
"""Names of arguments by which a callback is built with a Trainer or a module."""


def after_others(facts: Facts, hook: str) -> str:
    """What may have run before a hook that now runs among those of the name `hook`, as a sentence; empty where nothing
    of the project does."""
    asked = f"hooks.same_point.{hook}"
    if asked not in facts.of_sources:
        facts.of_sources[asked] = _after_others(facts, hook)
    found: str = facts.of_sources[asked]
    return found


def _after_others(facts: Facts, hook: str) -> str:
    word = re.compile(rf"def\s+{hook}\b|\b{hook}\s*=".encode())
    return next(
        (
            f"{path} has {hook} too, which ran at another time than this hook"
            for path, source in sorted(facts.sources.items())
            if word.search(source.unescaped)
        ),
        "",
    )


def keeps_given(item: ClassNode, but: Collection[str] = ()) -> str:
    """The hook of a callback, others than some, that keeps the Trainer or the module that it gets, so that another can
    read them."""
    for name, method in item.methods.items():
        if name in but:
            continue
        given = CALLED_SO & {*parameters(method)} if name == "__init__" else {*parameters(method)[:2]}
        nodes = [*walk(method)]
        asked = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if is_super_call(node, name) and isinstance(node, ast.Call):
                asked |= set(map(id, node.args))
        if any(isinstance(node, ast.Name) and node.id in given and id(node) not in asked for node in nodes):
            return name
    return ""


def reads_state(method: Function) -> str:
    """What a callback's hook takes of the Trainer or the module that the state of a checkpoint may change, as a
    sentence; empty where it takes nothing of the kind."""
    trainer = parameters(method)[:1]
    settled = {
        node.value
        for node in walk(method)
        if isinstance(node, ast.Attribute) and node.attr in SETTLED and isinstance(node.ctx, ast.Load)
        if isinstance(node.value, ast.Name) and node.value.id in trainer
    }
    taken = next((node for node in _given(method) if node not in settled), None)
    return f"It takes `{taken.id}`." if taken else ""


def _given(method: Function) -> list[ast.Name]:
    """Where the hook speaks of the Trainer and the module that it gets."""
    given = parameters(method)[:2]
    return [node for node in walk(method) if isinstance(node, ast.Name) and node.id in given]
