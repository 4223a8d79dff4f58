"""The backward passes of a method: their losses, what they keep, and what stands between them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codemods.code.calls import value_of
from codemods.code.nodes import every_node
from codemods.code.outline import Within
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, self_name
from codemods.lightning.facts import Facts
from codemods.lightning.values import constants_of
from codemods.rules.backward.windows import loss_of

Truth = Callable[[ast.expr], bool | None]
"""Whether an argument is True, as far as that is seen."""
UNSEEN = "Not rewritten: fixer cannot tell whether `retain_graph` is True."
BLOCKS = ("body", "orelse", "finalbody")
PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)


@dataclass(frozen=True)
class Pass:
    """A statement that is one backward call. `retains` is its `retain_graph` (False where it is not given, None where
    it may be either), `more` whether it has other arguments, `raw` whether it is no
    manual_backward."""

    statement: ast.Expr
    call: ast.Call
    loss: ast.expr
    retains: bool | None
    more: bool
    raw: bool


def written(node: ast.expr) -> bool | None:
    """Whether an argument that is written out is True; None where it is none."""
    return bool(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, bool | None) else None


def told(facts: Facts, file: PythonFile, within: Within) -> Truth:
    """The same for arguments that stand within some nodes, and can be nothing else than one constant."""

    def truth(node: ast.expr) -> bool | None:
        if (known := written(node)) is not None or isinstance(node, ast.Call):
            return known
        found = constants_of(facts, file, within, node)
        values = {written(item.node) for item in found.found}
        return values.pop() if len(values) == 1 and not (found.unknown or found.called) else None

    return truth


def read_pass(node: ast.AST, method: Function, truth: Truth = written) -> Pass | None:
    """The backward pass that a statement is."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return None
    call = node.value
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("manual_backward", "backward"):
        return None
    raw = call.func.attr == "backward"
    if raw and isinstance(call.func.value, ast.Name) and call.func.value.id == self_name(method):
        return None
    if not raw and not (isinstance(call.func.value, ast.Name) and call.func.value.id == self_name(method)):
        return None
    loss = loss_of(call, method)
    if loss is None:
        return None
    given = value_of(call, "retain_graph")
    retains = False if given is None else truth(given)
    more = len(call.args) != (0 if raw else 1) or any(item.arg != "retain_graph" for item in call.keywords)
    return Pass(node, call, loss, retains, more, raw)


def blocks(method: Function) -> Iterator[list[ast.stmt]]:
    """Every list of statements of a method, functions inside it included."""
    for node in (method, *every_node(method)):
        for name in BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def runs(method: Function, truth: Truth = written) -> Iterator[list[Pass]]:
    """Backward passes that follow one another with nothing in between, two or more of them, where each but the
    last keeps the graph for the next, or may."""
    seen: set[int] = set()
    for block in blocks(method):
        if id(block) in seen:
            continue
        seen.add(id(block))
        run: list[Pass] = []
        for statement in [*block, None]:
            found = read_pass(statement, method, truth) if statement else None
            fits = found is not None and not found.more and is_plain(found.loss)
            if fits and found and (not run or (run[-1].retains is not False and run[-1].raw == found.raw)):
                run.append(found)
                continue
            if len(run) > 1:
                yield run
            run = [found] if fits and found else []


def is_plain(loss: ast.expr) -> bool:
    """Whether an expression runs nothing of the module and reads no gradient: names, items and arithmetic."""
    nodes = [node for node in every_node(loss) if not isinstance(node, ast.expr_context)]
    return all(isinstance(node, PLAIN) and getattr(node, "attr", "") != "grad" for node in nodes)


def is_looped(node: ast.For, method: Function, truth: Truth = written) -> Pass | None:
    """The only statement of a loop over losses, where it goes backward from each and keeps the graph."""
    if node.orelse or len(node.body) != 1 or not isinstance(node.target, ast.Name):
        return None
    found = read_pass(node.body[0], method, truth)
    if found is None or found.more or found.retains is False:
        return None
    return found if isinstance(found.loss, ast.Name) and found.loss.id == node.target.id else None


def later_backward(method: Function, line: int, reached: frozenset[str]) -> bool:
    """Whether a method goes backward behind a line, itself or in a method of its own that may."""
    own = self_name(method)
    for node in every_node(method):
        if isinstance(node, ast.Call) and node.lineno > line and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("backward", "manual_backward", "grad"):
                return True
            if isinstance(node.func.value, ast.Name) and node.func.value.id == own and node.func.attr in reached:
                return True
    return False
