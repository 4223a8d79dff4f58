"""What a metric is given: the kind of predictions, and the loss that the same ones go into."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from codemods.code.calls import value_of
from codemods.code.nodes import walk
from codemods.code.syntax import own_nodes, parameters, results
from codemods.rules.metrics.collected_predictions import collected
from codemods.rules.metrics.prediction_steps import (
    CASTS,
    NEUTRAL,
    Method,
    flattened,
    maker,
    resolved,
    stays,
    step,
)

LOSSES = {
    "cross_entropy": "classes",
    "nll_loss": "classes",
    "CrossEntropyLoss": "classes",
    "NLLLoss": "classes",
    "binary_cross_entropy_with_logits": "logits",
    "BCEWithLogitsLoss": "logits",
    "binary_cross_entropy": "ones",
    "BCELoss": "ones",
}
DEEPEST = 9
CALLED_BY_OTHERS = re.compile(r"__\w+__|forward|on_\w+|configure_\w+|\w+_(step|step_end|epoch_end|dataloader)")
"""The methods that Lightning calls, with what the class does not see."""


@dataclass(frozen=True)
class ValueOrigin:
    """Where a value comes from: the last step before the metric (`kind`), and what it was made from: an expression
    (`base`) of a `method`, the element `index` of it where it is a tuple. `dim` is the dimension of that step."""

    kind: str
    base: ast.expr
    method: Method
    index: int | None = None
    dim: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two places that see the same value."""
        if isinstance(self.base, ast.Name):
            return id(self.method.node), self.base.id
        return id(self.method.node), id(self.base), self.index


def origin(
    expr: ast.expr, method: Method, kind: str = "raw", dim: int | None = None, depth: int = 0
) -> ValueOrigin | None:
    """Where an expression of a method comes from; None where a name is bound in more than one way."""
    if depth > DEEPEST:
        return None
    if isinstance(expr, ast.Call):
        if joined := collected(expr, method):
            return origin(*joined, kind, dim, depth + 1)
        taken = step(expr, method)
        if taken and taken[0] != "max":
            return _before_step(expr, taken, method, kind, dim, depth)
        if flat := flattened(expr, method):
            found = origin(flat, method, kind, dim, depth + 1)
            return found if found and found.kind == "argmax" else ValueOrigin(kind, expr, method, None, dim)
    if isinstance(expr, ast.Subscript) and _is_mask(expr.slice, expr.value):
        return origin(expr.value, method, kind, dim, depth + 1)
    if isinstance(expr, ast.Subscript) and isinstance(expr.value, ast.Call):
        taken = step(expr.value, method)
        if taken and taken[0] == "max" and isinstance(expr.slice, ast.Constant) and expr.slice.value == 1:
            return origin(taken[1], method, "argmax", taken[2], depth + 1)
    if isinstance(expr, ast.Attribute) and expr.attr == "indices" and isinstance(expr.value, ast.Call):
        taken = step(expr.value, method)
        if taken and taken[0] == "max":
            return origin(taken[1], method, "argmax", taken[2], depth + 1)
    if isinstance(expr, ast.Name):
        return _of_name(expr, method, kind, dim, depth)
    return ValueOrigin(kind, expr, method, None, dim)


def _before_step(
    expr: ast.Call, taken: tuple[str, ast.expr, int | None], method: Method, kind: str, dim: int | None, depth: int
) -> ValueOrigin | None:
    """Where what a step is taken with comes from."""
    name, inner, along = taken
    if name == "cast":
        found = origin(inner, method, kind, dim, depth + 1)
        return found if found and (kind == "argmax" or stays(expr, found.kind)) else None
    if name == "":
        return origin(inner, method, kind, dim, depth + 1)
    if kind == "exp":
        return origin(inner, method, "softmax", along, depth + 1) if name == "softmax" else None
    return origin(inner, method, name if kind == "raw" else kind, along if kind == "raw" else dim, depth + 1)


def _of_name(expr: ast.Name, method: Method, kind: str, dim: int | None, depth: int) -> ValueOrigin | None:
    if not stored(expr.id, method) or _is_given(expr, method):
        return ValueOrigin(kind, expr, method, None, dim)
    bound = latest(expr.id, expr.lineno, method)
    if bound is None:
        return ValueOrigin(kind, expr, method, None, dim) if kind in ("argmax", "softmax") else None
    value, index = bound
    if index is None:
        followed = isinstance(value, ast.Name | ast.Subscript | ast.Attribute)
        made = isinstance(value, ast.Call) and (
            step(value, method) or flattened(value, method) or collected(value, method)
        )
        if followed or made:
            return origin(value, method, kind, dim, depth + 1)
        return ValueOrigin(kind, value, method, None, dim)
    taken = step(value, method) if isinstance(value, ast.Call) else None
    if taken and taken[0] == "max":
        return origin(taken[1], method, "argmax", taken[2], depth + 1) if index == 1 and kind == "raw" else None
    return ValueOrigin(kind, value, method, index, dim)


def _is_mask(index: ast.expr, value: ast.expr) -> bool:
    """Whether an index picks rows by a comparison of something else: by one of the values themselves it picks single
    numbers."""
    return isinstance(index, ast.Compare) and ast.unparse(value) not in ast.unparse(index)


def _is_given(expr: ast.Name, method: Method) -> bool:
    """Whether a name is what a parameter was given still, since it is assigned later alone, and in plain lines."""
    lines = stored(expr.id, method)
    straight = {node.lineno for node in method.node.body if isinstance(node, ast.Assign | ast.AnnAssign)}
    later = min(lines) >= expr.lineno and straight.issuperset(lines)
    return expr.id in parameters(method.node) and later and _is_here(expr, method)


def _is_here(expr: ast.expr, method: Method) -> bool:
    """Whether an expression stands in a method itself, and not in a function or lambda inside it, which runs later and
    has names of its own."""
    return any(node is expr for node in own_nodes(method.node))


def latest(name: str, line: int, method: Method) -> tuple[ast.expr, int | None] | None:
    """What a name was given last before a line, and the element of it; None where that depends on a branch."""
    lines = stored(name, method)
    bound = [(target, value, found) for target, value in method.bindings if (found := _part(target, name))]
    straight = {node.lineno for node in method.node.body if isinstance(node, ast.Assign | ast.AnnAssign)}
    before = [item for item in bound if item[0].lineno < line]
    if not before or len(lines) != len(bound) or (len(lines) > 1 and not straight.issuperset(lines)):
        return None
    _, value, (_, index) = max(before, key=lambda item: item[0].lineno)
    return value, index


def stored(name: str, method: Method) -> list[int]:
    """The lines in which a function, or one inside it, binds a name."""
    known: dict[ast.AST, dict[str, list[int]]] = method.file.memo.setdefault("stored names", {})
    if method.node not in known:
        lines = known[method.node] = defaultdict(list)
        for node in walk(method.node):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                lines[node.id].append(node.lineno)
    return known[method.node].get(name, [])


def stores(node: ast.AST, name: str) -> bool:
    """Whether a node binds a name."""
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


def _part(target: ast.expr, name: str) -> tuple[str, int | None] | None:
    if isinstance(target, ast.Name) and target.id == name:
        return name, None
    if isinstance(target, ast.Tuple):
        for index, item in enumerate(target.elts):
            if isinstance(item, ast.Name) and item.id == name:
                return name, index
    return None


@dataclass(frozen=True)
class Loss:
    """A loss of a method: what kind it is, and what it is given."""

    kind: str
    given: ValueOrigin
    target: str


def losses(method: Method) -> Iterator[Loss]:
    """The losses on classes and on logits that a method computes itself."""
    for node in own_nodes(method.node):
        if isinstance(node, ast.Call) and len(node.args) >= 2 and (kind := _loss_kind(node.func, method)):
            given = origin(node.args[0], method)
            if given:
                yield Loss(kind, given, target_text(node.args[1]))


def criteria(method: Method) -> Iterator[tuple[ast.Call, ValueOrigin]]:
    """The losses on classes that a method computes itself: the call that makes one, or computes it, and what it is
    given."""
    for node in own_nodes(method.node):
        if isinstance(node, ast.Call) and len(node.args) >= 2 and _loss_kind(node.func, method) == "classes":
            given, made = origin(node.args[0], method), _criterion(node, method)
            if given and made:
                yield made, given


def _criterion(call: ast.Call, method: Method) -> ast.Call | None:
    """What makes the loss that a call computes; the call itself, where it is a function of torch."""
    if _named_loss(resolved(call.func, method)):
        return call
    made = maker(call.func, method)
    return made[0] if made else None


def target_text(node: ast.expr) -> str:
    """The text of a target without what only changes its type."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in (*CASTS, *NEUTRAL):
        node = node.func.value
    return ast.unparse(node)


def _loss_kind(func: ast.expr, method: Method) -> str | None:
    made = maker(func, method)
    return _named_loss(resolved(func, method)) or (_named_loss(resolved(made[0].func, made[1])) if made else None)


def _named_loss(dotted: str | None) -> str | None:
    if dotted and dotted.startswith("torch.nn."):
        return LOSSES.get(dotted.rpartition(".")[2])
    return None


@dataclass(frozen=True)
class MetricInput:
    """What a metric is given: `binary` stands for the multilabel one too. `reason` says why it cannot be told,
    `helpers` are the methods that hand it on, as the calls in the file have it, `step` is the one whose results a hook
    joins."""

    task: str = ""
    given: ValueOrigin | None = None
    logits: bool = False
    reason: str = ""
    helpers: tuple[str, ...] = ()
    step: str = ""


def fed(preds: ast.expr, target: ast.expr, method: Method, depth: int = 0) -> MetricInput:
    """What kind of predictions an expression of a method is."""
    found = origin(preds, method)
    if not found:
        return MetricInput(reason=f"`{ast.unparse(preds)}` is assigned in more than one way")
    if found.method.node is method.node:
        return _judged(found, target_text(target), method, depth)
    known = _judged(found, _joined_target(target, method, found.method), found.method, depth)
    return replace(known, step=found.method.node.name)


def _joined_target(target: ast.expr, method: Method, step: Method) -> str:
    """The text of what a step gives for the targets that a hook joins; empty where that is not seen."""
    bound = latest(target.id, target.lineno, method) if isinstance(target, ast.Name) else (target, None)
    value = bound[0] if bound and bound[1] is None else None
    joined = collected(value, method) if isinstance(value, ast.Call) else None
    return target_text(joined[0]) if joined and joined[1].node is step.node else ""


def _judged(found: ValueOrigin, target: str, method: Method, depth: int) -> MetricInput:
    if found.kind in ("argmax", "softmax"):
        return MetricInput("multiclass", found)
    for loss in losses(method):
        if loss.given.key != found.key:
            continue
        if loss.kind == "classes" and found.kind in ("raw", "exp"):
            return MetricInput("multiclass", found)
        if loss.target == target and (loss.kind, found.kind) in (("logits", "sigmoid"), ("ones", "sigmoid")):
            return MetricInput("binary", found)
        if loss.target == target and loss.kind == "logits" and found.kind == "raw":
            return MetricInput("binary", found, logits=True)
    called = method.called_method(found.base) if depth < DEEPEST else None
    if called and found.kind == "raw":
        return _returned(found, called, target, depth)
    name = found.base.id if isinstance(found.base, ast.Name) and _is_here(found.base, method) else ""
    handed = _handed_over(name, target, method, depth) if name else None
    if handed and found.kind == "raw":
        return handed
    return MetricInput(reason=f"fixer cannot tell what `{ast.unparse(found.base)}` gives it")


def _returned(found: ValueOrigin, called: Method, target: str, depth: int) -> MetricInput:
    """What a method of the class hands back."""
    given = results(called.node)
    told = []
    for value in given:
        if found.index is not None:
            if not isinstance(value, ast.Tuple) or len(value.elts) <= found.index:
                return MetricInput(reason="fixer cannot tell what its step passes on")
            value = value.elts[found.index]
        inner = origin(value, called)
        told.append(_judged(inner, target, called, depth + 1) if inner else MetricInput())
    if told and len({item.task for item in told}) == 1 and told[0].task:
        return told[0]
    return MetricInput(reason=f"fixer cannot tell what `{called.node.name}` gives it")


def _handed_over(name: str, target: str, method: Method, depth: int) -> MetricInput | None:
    """What the class gives a method of its own for a parameter; None where it is none, or where others may call it."""
    own, names = method.node.name, parameters(method.node)
    if depth >= DEEPEST or name not in names or CALLED_BY_OTHERS.fullmatch(own) or method.node.decorator_list:
        return None
    told = []
    for function in method.item.methods.values() if method.item else ():
        caller = replace(method, node=function)
        for node in own_nodes(function):
            called = caller.called_method(node) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and called and called.node is method.node:
                preds, labels = (_argument(node, names, each) for each in (name, target))
                told.append(fed(preds, labels or ast.Constant(None), caller, depth + 1) if preds else MetricInput())
    kinds = {(item.task, item.logits) for item in told}
    if len(kinds) != 1 or not told[0].task or len(told) != len(method.file.attributes(own)):
        return None
    return replace(told[0], helpers=(own, *(name for item in told for name in item.helpers)))


def _argument(call: ast.Call, names: list[str], name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where that is not written there."""
    if any(isinstance(item, ast.Starred) for item in call.args) or name not in names:
        return None
    placed = dict(zip(names, call.args, strict=False))
    return placed.get(name) or value_of(call, name)
