"""The hooks around an optimizer's step that a class overrides, which a manual loop calls itself where Lightning does
not: what it has to give them, and what becomes different for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import ClassNode
from codemods.code.syntax import (
    Function,
    is_plain,
    is_self_attribute,
    is_super_call,
    own_nodes,
    parameters,
    self_name,
    uses,
)
from codemods.rewrite.manual.closure import ignores_closure
from codemods.rewrite.manual.module import BEFORE_STEP, judge_before_step
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.signature import HOOKS, index_parameter, old_parameters, read_by_default, read_elsewhere

STEPPING, ZEROING, CLIPPING = "optimizer_step", "optimizer_zero_grad", "configure_gradient_clipping"
GIVEN = (STEPPING, ZEROING)
"""Hooks that the loop gives the index."""
FINDING = (BEFORE_STEP, CLIPPING)
"""Hooks that find the index by the optimizer."""
CARRIED = (*GIVEN, "on_before_zero_grad", CLIPPING, "backward")
COUNT = "global_step"
SILENT = frozenset({
    "all_gather", "log", "log_dict", "lr_schedulers", "named_parameters", "optimizers", "parameters", "print", STEPPING,
})  # fmt: skip
"""Methods of every LightningModule that do not look at global_step."""


@dataclass(frozen=True)
class Hooks:
    """The overridden hooks of a class.

    `names` are those that a loop has to do with, `reads` those that read the index of the optimizer; `repeats` holds
    where optimizer_step may make other than one step, `counts` is what it calls behind its step that may look at
    global_step, empty for nothing; `logs` holds where it logs.
    """

    names: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    repeats: bool = False
    counts: str = ""
    logs: bool = False


@dataclass(frozen=True)
class HookParameters:
    """What the hooks of a class lose and get: by hook, the parameters that go, and those that are still read; what the
    index is called in hooks that have to find it, and whether optimizer_step reads global_step behind its step."""

    dead: tuple[tuple[str, tuple[str, ...]], ...] = ()
    kept: tuple[tuple[str, tuple[str, ...]], ...] = ()
    found: tuple[tuple[str, str], ...] = ()
    counted: bool = False


def read_hooks(item: ClassNode) -> Hooks:
    """What the class overrides."""
    stepping = [item.methods[STEPPING]] if STEPPING in item.methods else []
    return Hooks(
        frozenset(item.methods) & {*CARRIED, BEFORE_STEP, "on_train_epoch_end"},
        frozenset(
            name for name in (*GIVEN, *FINDING) if name in item.methods and _reads_index(item.methods[name], name)
        ),
        _repeats(item),
        _counts_elsewhere(item),
        any(
            is_self_attribute(node, name, self_name(method))
            for method in stepping
            for node in own_nodes(method)
            for name in ("log", "log_dict")
        ),
    )


def judge_hooks(item: ClassNode) -> None:
    """Raises NotPlain where a loop cannot call the hooks of a class, or would call them with less than they read."""
    for name, hook in HOOKS.items():
        method = item.methods.get(name)
        if method is None:
            continue
        try:
            dead = old_parameters(method, hook)
            index = index_parameter(method, hook)
            left = read_by_default(method, hook)
        except NotPlain as error:
            raise NotPlain(f"`{name}` is overridden, and {error}") from None
        found = name in GIVEN or (name in FINDING and is_plain(method))
        read = [item for item in read_elsewhere(method, name, dead) if not found or item != index]
        if method.args.vararg and name != BEFORE_STEP and len(parameters(method)) < hook.arguments:
            read += read_elsewhere(method, name, (method.args.vararg.arg,))
        if read or left:
            raise NotPlain(f"`{name}` reads `{left or read[0]}`, which 2.x does not give it")
    stepping = item.methods.get(STEPPING)
    if stepping and ignores_closure(stepping):
        raise NotPlain("`optimizer_step` does not run the closure that it is given, where backward is since 1.1")
    if stepping and _counted(stepping) and uses(stepping, COUNT):
        raise NotPlain("`optimizer_step` reads global_step after its step, and has a variable of that name")
    judge_before_step(item)


def doubts_about(hooks: Hooks) -> Iterator[str]:
    """What the hooks may do otherwise than before."""
    if hooks.repeats:
        yield (
            "its optimizer_step may make more or fewer than one step at a time: each counts in global_step now, where "
            "1.x counted one"
        )
    if hooks.counts:
        yield (
            f"its optimizer_step uses {hooks.counts} after the step, which counts in global_step at once now, where "
            "1.x counted it when optimizer_step was over"
        )


def shed_of(item: ClassNode) -> HookParameters:
    """What the class's hooks lose and get."""
    dead, kept, found = [], [], []
    for name, hook in HOOKS.items():
        method = item.methods.get(name)
        if method is None:
            continue
        old = old_parameters(method, hook)
        read = read_elsewhere(method, name, old)
        index = index_parameter(method, hook)
        if index in read and name in FINDING:
            found.append((name, index))
            read.remove(index)
        dead.append((name, tuple(each for each in old if each not in read)))
        kept.append((name, tuple(each for each in old if each in read and each == index)))
    stepping = item.methods.get(STEPPING)
    return HookParameters(tuple(dead), tuple(kept), tuple(found), stepping is not None and _counted(stepping))


def _reads_index(method: Function, name: str) -> bool:
    try:
        index = index_parameter(method, HOOKS[name])
    except NotPlain:
        return False
    return index is not None and bool(read_elsewhere(method, name, (index,)))


def _repeats(item: ClassNode) -> bool:
    """Whether an overridden optimizer_step may make no step, or several, which 1.x counted as one."""
    method = item.methods.get(STEPPING)
    if method is None:
        return False
    plain = [statement for statement in method.body if isinstance(statement, ast.Expr | ast.Assign | ast.Return)]
    sure = [node for statement in plain for node in walk(statement) if _is_step(node, parameters(method))]
    every = [node for node in own_nodes(method) if _is_step(node, None)]
    other = any(isinstance(use.ctx, ast.Store) for name in parameters(method)[2:3] for use in uses(method, name))
    return len(sure) != 1 or len(every) != 1 or other


def _is_step(node: ast.AST, names: list[str] | None) -> bool:
    if is_super_call(node, STEPPING):
        return True
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "step"
        and (names is None or (isinstance(node.func.value, ast.Name) and node.func.value.id in names))
    )


def _behind(method: Function) -> Iterator[ast.AST]:
    """What stands behind the first step of an optimizer_step: 1.x counts that one when the method is over (run on
    1.9.5), manual optimization when it is made."""
    first = min((_end(node) for node in own_nodes(method) if _is_step(node, parameters(method)[2:3])), default=None)
    for node in own_nodes(method) if first else ():
        if first and isinstance(node, ast.expr) and (node.lineno, node.col_offset) >= first:
            yield node


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _counted(method: Function) -> bool:
    """Whether an optimizer_step reads global_step behind its step."""
    own = _own_counts(method)
    return any(isinstance(node, ast.Attribute) and ast.unparse(node) in own for node in _behind(method))


def _own_counts(method: Function) -> tuple[str, str]:
    this = self_name(method)
    return f"{this}.trainer.{COUNT}", f"{this}.{COUNT}"


def _counts_elsewhere(item: ClassNode) -> str:
    """What an optimizer_step uses behind its step that may look at global_step; empty for nothing."""
    method = item.methods.get(STEPPING)
    if method is None:
        return ""
    this, held = self_name(method), set[int]()
    for node in _behind(method):
        if isinstance(node, ast.Attribute):
            held.add(id(node.value))
            text = ast.unparse(node)
            if node.attr == COUNT and text not in _own_counts(method):
                return f"`{text}`"
    called = {id(node.func) for node in _behind(method) if isinstance(node, ast.Call)}
    for node in _behind(method):
        text = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        if text in (this, f"{this}.trainer") and id(node) not in held:
            return f"`{text}`"
        if not isinstance(node, ast.Attribute) or text != f"{this}.{node.attr}" or node.attr in SILENT:
            continue
        if _looks(item, node.attr, set()) or (id(node) in called and node.attr not in item.methods):
            return f"`{text}`"
    return ""


def _looks(item: ClassNode, name: str, seen: set[str]) -> bool:
    """Whether a method of the class, or one of the class that it uses, speaks of global_step."""
    method = item.methods.get(name)
    if method is None or name in seen:
        return False
    seen.add(name)
    attributes = [node.attr for node in walk(method) if isinstance(node, ast.Attribute)]
    return COUNT in attributes or any(_looks(item, attribute, seen) for attribute in attributes)
