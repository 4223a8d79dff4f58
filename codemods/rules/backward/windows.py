"""Accumulation of gradients by hand: a backward pass each batch, a step every Nth."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from codemods.code.nodes import every_node, walk
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, is_name, self_name
from codemods.rules.backward.names import MethodNames

LAST = re.compile(r"\bnum_training_batches\b|\blen\(\S*(loader|dataloader)\b")


@dataclass(frozen=True)
class BatchWindow:
    """A test of a batch's number for every `size`th batch; `holds` where it is true on those. `test` is the
    comparison, `counter` what is counted, `tailed` holds where the last batch of an epoch is asked for beside it."""

    test: ast.Compare
    counter: ast.expr
    size: ast.expr
    holds: bool
    tailed: bool = False


@dataclass(frozen=True)
class Accumulation:
    """What a method accumulates: the windows under which it steps, the backward calls that run each batch, and
    the zero_grad calls that run each batch before one of them."""

    windows: tuple[BatchWindow, ...]
    backwards: tuple[ast.Call, ...]
    wiping: tuple[ast.Call, ...]

    @property
    def window(self) -> BatchWindow:
        return self.windows[0]


def read_window(node: ast.expr) -> BatchWindow | None:
    """`(index + 1) % n == 0`, `index % n == n - 1`, `index % n == 0`, or `!=` of them."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return None
    left, right = node.left, node.comparators[0]
    if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod):
        return None
    counter, size = left.left, left.right
    ahead = isinstance(counter, ast.BinOp) and isinstance(counter.op, ast.Add) and _is(counter.right, 1)
    if isinstance(counter, ast.BinOp):
        if not ahead:
            return None
        counter = counter.left
    last = isinstance(right, ast.BinOp) and isinstance(right.op, ast.Sub) and _is(right.right, 1)
    same = last and not ahead and isinstance(right, ast.BinOp) and ast.dump(right.left) == ast.dump(size)
    if not (same or _is(right, 0)):
        return None
    if not isinstance(size, ast.Name | ast.Attribute | ast.Constant) or _is(size, 1):
        return None
    return BatchWindow(node, counter, size, isinstance(node.ops[0], ast.Eq))


def _is(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == value


def read_accumulation(method: Function, unzeroed: bool = False) -> Accumulation | None:
    """The accumulation in a method; None where its steps do not all stand under one kind of window, or a
    backward pass stands there too: then the window chooses what is trained. One that never calls zero_grad accumulates
    where `unzeroed` says that nobody does."""
    names = MethodNames(method)
    parents = {child: node for node in every_node(method) for child in ast.iter_child_nodes(node)}
    calls = [node for node in every_node(method) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    steps = [call for call in calls if _attr(call) == "step" and names.is_optimizer(_receiver(call))]
    backwards = [call for call in calls if is_backward(call)]
    if not steps or not backwards:
        return None
    windows = [_window_of(step, method, names, parents) for step in steps]
    first = windows[0]
    if first is None or any(item is None or ast.dump(item.test) != ast.dump(first.test) for item in windows):
        return None
    if any(_around(call, method, names, parents) for call in backwards):
        return None
    begin = min(step.lineno for step in steps)
    if any(call.lineno > begin for call in backwards) or not _unconditional(backwards[0], method, parents):
        return None
    zeros = [
        call
        for call in calls
        if _attr(call) == "zero_grad"
        and (names.is_optimizer(_receiver(call)) or is_name(_receiver(call), self_name(method)))
    ]
    if not zeros and not unzeroed:
        return None
    last = max(call.lineno for call in backwards)
    wiping = [
        call
        for call in zeros
        if call.lineno < last and _unconditional(call, method, parents) and not _around(call, method, names, parents)
    ]
    found = {id(item.test): item for item in windows if item}
    return Accumulation(tuple(found.values()), tuple(backwards), tuple(wiping))


def is_backward(call: ast.Call) -> bool:
    """Whether a call is `self.manual_backward(...)`, `self.backward(...)` or `loss.backward(...)`."""
    return _attr(call) in ("manual_backward", "backward")


def _attr(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _receiver(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def _window_of(
    node: ast.AST, method: Function, names: MethodNames, parents: dict[ast.AST, ast.AST]
) -> BatchWindow | None:
    """The only window that a node runs in: a branch around it, or a way out before it."""
    found = [*_around(node, method, names, parents), *_before(node, method, names)]
    return found[0] if len(found) == 1 else None


def _around(node: ast.AST, method: Function, names: MethodNames, parents: dict[ast.AST, ast.AST]) -> list[BatchWindow]:
    found = []
    child, parent = node, parents.get(node)
    while parent is not None and parent is not method:
        if isinstance(parent, ast.If) and child is not parent.test:
            window = _tested(parent.test, names)
            inside = any(child is item for item in parent.body)
            if window and window.holds == inside:
                found.append(window)
            elif (
                any(isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mod) for inner in walk(parent.test))
                or window
            ):
                found.append(BatchWindow(ast.Compare(parent.test, [], []), parent.test, parent.test, inside))
        child, parent = parent, parents.get(parent)
    return found


def _before(node: ast.AST, method: Function, names: MethodNames) -> list[BatchWindow]:
    """Windows out of which the method returns before it gets to a node."""
    line = getattr(node, "lineno", 0)
    found = []
    for statement in method.body:
        if statement.lineno >= line or not isinstance(statement, ast.If) or statement.orelse:
            continue
        window = _tested(statement.test, names)
        if window and not window.holds and isinstance(statement.body[-1], ast.Return):
            found.append(window)
    return found


def _tested(test: ast.expr, names: MethodNames) -> BatchWindow | None:
    if isinstance(test, ast.Name):
        bound = names.bound.get(test.id, [])
        if len(bound) == 1 and bound[0].whole and isinstance(bound[0].node, ast.Assign):
            return _read(bound[0].value)
        return None
    return _read(test)


def _read(test: ast.expr) -> BatchWindow | None:
    """A window by itself, or with the last batch of an epoch, as `with_tail` of BWD003 and others write it."""
    if not isinstance(test, ast.BoolOp):
        return read_window(test)
    for value, last in (test.values, test.values[::-1]) if len(test.values) == 2 else ():
        found = read_window(value)
        if found and isinstance(test.op, ast.Or if found.holds else ast.And) and _is_last(last, found.holds):
            return replace(found, tailed=True)
    return None


def _is_last(node: ast.expr, holds: bool) -> bool:
    """Whether a test is true on the last batch of an epoch alone, or, where it does not hold, on every other one."""
    if isinstance(node, ast.Compare):
        asks = isinstance(node.ops[0], ast.Eq | ast.GtE if holds else ast.NotEq | ast.Lt)
        return len(node.ops) == 1 and asks and LAST.search(ast.unparse(node)) is not None
    if not holds:
        node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else ast.Constant(None)
    return isinstance(node, ast.Attribute) and node.attr == "is_last_batch"


def _unconditional(node: ast.AST, method: Function, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a node runs each time the method does, `with` and loops apart."""
    parent = parents.get(node)
    while parent is not None and parent is not method:
        if isinstance(parent, ast.If | ast.IfExp | ast.Try | ast.FunctionDef | ast.Lambda | ast.Match):
            return False
        parent = parents.get(parent)
    return True


def loss_of(call: ast.Call, method: Function) -> ast.expr | None:
    """What a backward call goes back from."""
    assert isinstance(call.func, ast.Attribute)
    if _attr(call) == "manual_backward" or is_name(call.func.value, self_name(method)):
        return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None
    return call.func.value


def is_divided(loss: ast.expr, size: ast.expr, item: ClassNode, names: MethodNames) -> bool:
    """Whether a loss may already be an average over the window: something is divided on its way, or the class
    divides by the window's size."""
    text = ast.dump(size)
    if any(_divides(node) and text in ast.dump(node) for node in every_node(item.node)):
        return True
    return any(_divides(node) for node in _sources(loss, names))


def _divides(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return isinstance(node.op, ast.Div)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("div", "div_", "true_divide")
    )


def _sources(node: ast.expr, names: MethodNames) -> Iterator[ast.AST]:
    """The nodes that an expression is computed by, through local names."""
    pending, followed = [node], set[str]()
    while pending:
        for inner in every_node(pending.pop()):
            yield inner
            if isinstance(inner, ast.Name) and inner.id not in followed:
                followed.add(inner.id)
                for bound in names.bound.get(inner.id, []):
                    yield bound.node
                    pending.append(bound.value)
