"""TBP002: a `hiddens` parameter that nothing fills and nothing reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, uses
from codemods.lightning.class_family import family
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.tbptt.step import STATE, is_dead, is_optional

if TYPE_CHECKING:
    import libcst as cst

CODE = "TBP002"
FLAG = "truncated_bptt_steps"
CALL = b".training_step"
MESSAGE = "training_step has a parameter `hiddens`, which Lightning 2 never gives"


def dead_steps(file: PythonFile) -> list[tuple[ClassNode, Function]]:
    """The training steps whose `hiddens` is None unless somebody gives it, and is never read."""
    if STATE not in file.text:
        return []
    return [
        (item, step)
        for item in file.classes
        if (step := item.methods.get("training_step")) and is_optional(step) and is_dead(step)
    ]


def _collect(file: PythonFile) -> tuple[str, ...] | None:
    return tuple(item.qualname for item, _ in dead_steps(file)) or None


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    return (FLAG.encode(), CALL) if collected else ()


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if facts.mentions.get(FLAG.encode()):
        return
    for item, step in dead_steps(file):
        fact = facts.of_class(file, item)
        if fact is None or facts.kind(fact) != MODULE:
            continue
        callers = facts.mentions.get(CALL, frozenset())
        others = [other for other in family(facts, fact) if "training_step" in other.methods]
        if callers:
            reason = f"Not rewritten: training_step is called by name in {min(callers)}, perhaps with a state."
            yield Match(file.head(step), MESSAGE, "manual", reason, "M260")
        elif others:
            reason = (
                f"Not rewritten: {others[0].name} ({others[0].path}), a base "
                "class or subclass, defines training_step too."
            )
            yield Match(file.head(step), MESSAGE, "manual", reason, "M260")
        else:
            reason = f"Nothing in the project sets `{FLAG}`, so it was None on 1.x too, and it is never read."
            unit = f"{file.path}:{item.qualname}"
            yield Match(file.head(step), MESSAGE, "safe", reason, "M260", edits=_edits(step), unit=unit)


def _edits(step: Function) -> tuple[NodeEdit, ...]:
    deleted = any(isinstance(use.ctx, ast.Del) for use in uses(step, STATE))
    return (NodeEdit(step, partial(_without_state, deleted=deleted)),)


def _without_state(node: cst.FunctionDef, deleted: bool) -> cst.FunctionDef:
    import libcst as cst

    from codemods.rewrite.edits import without_parameter

    node = without_parameter(node, STATE)
    return cst.ensure_type(node.visit(_deleter()), cst.FunctionDef) if deleted else node


def _deleter() -> cst.CSTTransformer:
    import libcst as cst

    class Deleter(cst.CSTTransformer):
        """Takes `hiddens` out of `del` statements."""

        def leave_Del(self, original_node: cst.Del, updated_node: cst.Del) -> cst.Del | cst.RemovalSentinel:
            target = updated_node.target
            if isinstance(target, cst.Name):
                return cst.RemoveFromParent() if target.value == STATE else updated_node
            if not isinstance(target, cst.Tuple):
                return updated_node
            kept = [item for item in target.elements if not item.value.deep_equals(cst.Name(STATE))]
            if not kept:
                return cst.RemoveFromParent()
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            if len(kept) == 1:
                return updated_node.with_changes(target=kept[0].value)
            return updated_node.with_changes(target=target.with_changes(elements=kept))

    return Deleter()


BEFORE = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx, hiddens=None):
        del batch_idx, hiddens
        return self(batch)
"""
AFTER = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        del batch_idx
        return self(batch)
"""
READ = BEFORE.replace("        del batch_idx, hiddens\n", "").replace("self(batch)", "self(batch, hiddens)")

RULE = Rule(
    code=CODE,
    name="dead-hiddens",
    summary="A `hiddens=None` that `training_step` never reads is dropped",
    why=(
        "Lightning 1.x gave `training_step` the state of truncated back-propagation as `hiddens`, where "
        "`truncated_bptt_steps` was set; 2.0 removed both (guide row M260, pull request 16172). A parameter copied "
        "from the documentation, defaulted and never read, says that the module does what it does not."
    ),
    fix="safe",
    versions="every Lightning",
    triggers=(STATE.encode(),),
    check=_check,
    rows=partial(best_levels, (("M261", "safe"),)),
    examples=(Example(BEFORE, AFTER), Example(READ, READ)),
    collect=_collect,
    context=_context,
    present=lambda file: bool(dead_steps(file)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16172",),
    warns=True,
)
