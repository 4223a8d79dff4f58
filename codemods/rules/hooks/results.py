"""What a step returns: enough to keep its results as 1.x kept them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeGuard

from codemods.code.nodes import walk, walked
from codemods.code.scopes import Scope, bind
from codemods.code.source import ClassNode
from codemods.code.syntax import (
    Function,
    assigned_to,
    is_plain,
    is_self_attribute,
    may_return_none,
    parameters,
    returns,
    targets_of,
    uses,
)

TENSOR_METHODS = ("backward", "clone", "cpu", "detach", "item", "mean", "sum")


@dataclass(frozen=True)
class _Within:
    """A method of a class, and what names stand for in it."""

    item: ClassNode
    method: Function
    scope: Scope


def _within(item: ClassNode, method: Function) -> _Within:
    return _Within(item, method, bind(method, scope=item.scope))


def train_result(item: ClassNode, step: Function, value: ast.expr | None) -> str | None:
    """`dict` or `tensor`: what a training step returns at one place, None where it is not plain."""
    within = _within(item, step)
    if not isinstance(value, ast.Name):
        return _kind(value, within)
    bound = assigned_to(step, value.id)
    if _tested_for_none(step, value.id):
        return None
    kinds = {_kind(each, within) for each in bound}
    if len(kinds) == 1 and None not in kinds and _bound_only_so(step, value.id, bound):
        return kinds.pop()
    if "dict" in kinds or any(isinstance(each, ast.Constant) for each in bound):
        return None
    return "tensor" if used_as_tensor(step, value.id) else None


def _bound_only_so(step: Function, name: str, bound: list[ast.expr]) -> bool:
    """Whether nothing but the statements `name = value` binds a name: no loop, `with`, unpacking or walrus."""
    stored = [
        node
        for node in walk(step)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    ]
    added = [node for node in walk(step) if isinstance(node, ast.AugAssign) and _plain_name(node.target) == name]
    return len(stored) == len(bound) + len(added)


def _tested_for_none(step: Function, name: str) -> bool:
    """Whether a step asks if a name is None, or true at all: it may then be."""
    return any(
        (
            isinstance(node, ast.Compare)
            and _plain_name(node.left) == name
            and any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)
        )
        or (isinstance(node, ast.If | ast.IfExp) and _plain_name(node.test) == name)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and _plain_name(node.operand) == name)
        or (isinstance(node, ast.BoolOp) and name in map(_plain_name, node.values))
        for node in walk(step)
    )


def used_as_tensor(step: Function, name: str) -> bool:
    """Whether a step logs a name as a value, computes with it or calls a tensor's method on it."""
    for node in walk(step):
        if _computes(node) and name in (_plain_name(node.left), _plain_name(node.right)):
            return True
        if isinstance(node, ast.Attribute) and _plain_name(node.value) == name and node.attr in TENSOR_METHODS:
            return True
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self.log":
            given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "value")]
            if any(_plain_name(item) == name for item in given):
                return True
    return False


def _computes(node: ast.AST | None) -> TypeGuard[ast.BinOp]:
    """Whether a node is arithmetic: `|` also joins dicts, `%` also formats text."""
    return isinstance(node, ast.BinOp) and not isinstance(node.op, ast.BitOr | ast.Mod)


def _plain_name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _kind(value: ast.expr | None, within: _Within) -> str | None:
    if isinstance(value, ast.Dict):
        keys = {key.value for key in value.keys if isinstance(key, ast.Constant)}
        return "dict" if "loss" in keys else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        return "dict" if any(keyword.arg == "loss" for keyword in value.keywords) else None
    if isinstance(value, ast.Call) and within.scope.resolve(value.func) == "collections.OrderedDict":
        plain = len(value.args) == 1 and isinstance(value.args[0], ast.Dict)
        return "dict" if plain and _kind(value.args[0], within) else None
    if _computes(value):
        return "tensor"
    if isinstance(value, ast.Call) and _is_loss_call(value, within):
        return "tensor"
    return None


def _is_loss_call(value: ast.Call, within: _Within) -> bool:
    """A call that can only give a tensor: a function of torch, a loss of it, or a tensor's own reduction."""
    if (within.scope.resolve(value.func) or "").startswith("torch."):
        return True
    if isinstance(value.func, ast.Attribute) and value.func.attr in ("mean", "sum"):
        return True
    return _is_torch_loss(value.func, within)


def _is_torch_loss(called: ast.expr, within: _Within) -> bool:
    """Whether what is called is a name of the method that holds a loss of torch.nn, or an attribute of its own that
    nothing around its class makes another one of."""
    scope, made = within.scope, list[ast.expr]()
    if isinstance(called, ast.Name) and called.id not in parameters(within.method):
        made = assigned_to(within.method, called.id)
        made = made if _bound_only_so(within.method, called.id, made) else []
    elif isinstance(called, ast.Attribute) and is_self_attribute(called, called.attr):
        scope, made = within.item.scope, _set_to(within.item, called.attr)
    return bool(made) and all(_makes_torch_loss(each, scope) for each in made)


def _set_to(item: ClassNode, name: str) -> list[ast.expr]:
    """What a class sets an attribute to, nothing where not all that sets one of that name beside it is `self.name =
    value` in it."""
    own = [node for node in walked(item.node) if any(is_self_attribute(each, name) for each in targets_of(node))]
    made = [node.value for node in own if isinstance(node, ast.Assign | ast.AnnAssign) and node.value]
    every = (node for node in walked(item.scope.node) if isinstance(node, ast.Attribute) and node.attr == name)
    stored = [node for node in every if not isinstance(node.ctx, ast.Load)]
    return made if len(stored) == len(made) and name not in item.methods else []


def _makes_torch_loss(value: ast.expr, scope: Scope) -> bool:
    dotted = scope.resolve(value.func) or "" if isinstance(value, ast.Call) else ""
    return dotted.startswith("torch.nn.") and dotted.endswith("Loss") and not dotted.endswith(SEVERAL)


SEVERAL = "AdaptiveLogSoftmaxWithLoss"
"""The loss of torch that gives more than a tensor."""


_THINGS = (ast.Dict, ast.DictComp, ast.ListComp, ast.Tuple, ast.List, ast.Set, ast.JoinedStr)

_BUILDERS = ("OrderedDict", "defaultdict", "dict", "list", "set", "tuple")


def needs_guard(item: ClassNode, step: Function, value: ast.expr) -> bool:
    """Whether a returned expression may be None at run time, which 1.x left out of the outputs."""
    within = _within(item, step)
    if isinstance(value, ast.Name):
        return not (_is_filled(step, value) or _bound_to_something(step, value.id, within))
    given = isinstance(value, ast.Call) and _gives_something(value, within)
    return not (given or isinstance(value, ast.BinOp) or _is_thing(value))


def _is_filled(step: Function, value: ast.Name) -> bool:
    """Whether an item of what a name holds is set on the way to where it is read, which None has none of."""
    bound = max((use.lineno for use in uses(step, value.id) if isinstance(use.ctx, ast.Store)), default=0)
    return any(
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and target.value.id == value.id
        and bound < node.lineno < value.lineno
        for node in step.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _is_thing(value: ast.expr) -> bool:
    """Whether an expression is a display or builds a container."""
    built = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _BUILDERS
    return built or isinstance(value, _THINGS)


def _gives_something(value: ast.Call, within: _Within) -> bool:
    """Whether a call gives a tensor, or the number that one holds."""
    taken = isinstance(value.func, ast.Attribute) and value.func.attr == "item" and not (value.args or value.keywords)
    return taken or _is_loss_call(value, within)


def _bound_to_something(step: Function, name: str, within: _Within) -> bool:
    bound = assigned_to(step, name)
    if _tested_for_none(step, name):
        return False
    if used_as_tensor(step, name) and not any(isinstance(value, ast.Constant) for value in bound):
        return True
    return (
        bool(bound)
        and _bound_only_so(step, name, bound)
        and all(
            isinstance(value, ast.BinOp | ast.Compare)
            or _is_thing(value)
            or (isinstance(value, ast.Call) and _gives_something(value, within))
            for value in bound
        )
    )


def never_none(item: ClassNode, step: Function, value: ast.expr) -> bool:
    """Whether an expression that a step returns plainly is not None: by itself, or since the class's own method
    that it calls never returns None."""
    if not needs_guard(item, step, value) or _always_returns(item, value):
        return True
    if not isinstance(value, ast.Name) or _tested_for_none(step, value.id):
        return False
    bound = assigned_to(step, value.id)
    return (
        bool(bound)
        and _bound_only_so(step, value.id, bound)
        and all(_always_returns(item, each) or not needs_guard(item, step, each) for each in bound)
    )


def _always_returns(item: ClassNode, value: ast.expr) -> bool:
    """Whether an expression is a call of the class's own method that never returns None."""
    if not (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and isinstance(value.func.value, ast.Name)
        and value.func.value.id == "self"
    ):
        return False
    method = item.methods.get(value.func.attr)
    if method is None or not is_plain(method) or may_return_none(method):
        return False
    return all(node.value is not None and not needs_guard(item, method, node.value) for node in returns(method))
