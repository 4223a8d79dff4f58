"""Which modules of a class a backward pass goes back to, as far as names tell."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from codemods.code.nodes import every_node
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, self_assignments, self_name
from codemods.rules.backward.names import Bound, MethodNames

PARTS = ("torch.nn.Linear", "torch.nn.Conv", "torch.nn.Embedding", "torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
GIVEN = frozenset({"global_rank", "local_rank", "device", "dtype", "current_epoch", "global_step", "hparams"})


@dataclass
class LossAttributes:
    """The attributes of the instance that a loss is computed with; `whole` where nothing else of the instance can
    have had a part in it."""

    modules: set[str] = field(default_factory=set)
    whole: bool = True


def reach_of(loss: ast.expr, item: ClassNode, method: Function) -> LossAttributes:
    """What a loss of a method is computed with."""
    found = LossAttributes()
    _follow(loss, item, method, MethodNames(method), found, set())
    return found


def left_out(first: LossAttributes, last: LossAttributes, item: ClassNode) -> list[str]:
    """The modules with weights that a pass goes back to and a later one certainly does not."""
    return sorted(name for name in first.modules - last.modules if last.whole and _has_weights(name, item))


def _follow(
    node: ast.expr, item: ClassNode, method: Function, names: MethodNames, found: LossAttributes, seen: set[int]
) -> None:
    own = self_name(method)
    for inner in every_node(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == own:
            found.modules.add(inner.attr)
            found.whole = found.whole and (inner.attr in GIVEN or _is_known(inner.attr, item))
        elif isinstance(inner, ast.Name) and inner.id == own:
            found.whole = found.whole and _is_attribute_of(inner, node)
        elif isinstance(inner, ast.Name) and inner.id not in names.parameters:
            for bound in _before(inner, names, method, found):
                if id(bound.node) not in seen:
                    seen.add(id(bound.node))
                    _follow(bound.value, item, method, names, found, seen)


def _is_attribute_of(name: ast.Name, node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.value is name for inner in every_node(node))


def _before(name: ast.Name, names: MethodNames, method: Function, found: LossAttributes) -> list[Bound]:
    """What a name stands for where it is read: the last plain assignment before it, and what was added since."""
    every = names.bound.get(name.id, [])
    earlier = sorted(
        (bound for bound in every if bound.value.lineno <= name.lineno and not _inside(name, bound.node)),
        key=lambda bound: bound.value.lineno,
    )
    straight = all(bound.node in method.body for bound in every)
    if len(every) > 1 and not straight:
        found.whole = False
        return earlier
    for index in range(len(earlier) - 1, -1, -1):
        if not isinstance(earlier[index].node, ast.AugAssign):
            return earlier[index:]
    return earlier


def _inside(name: ast.Name, node: ast.AST) -> bool:
    return any(inner is name for inner in every_node(node))


def _built(name: str, item: ClassNode) -> list[ast.expr]:
    return [
        node.value
        for method in item.methods.values()
        for node in self_assignments(method, name)
        if node.value is not None
    ]


def _is_known(name: str, item: ClassNode) -> bool:
    """Whether an attribute holds nothing of the instance but itself: a module of torch, or a number."""
    found = _built(name, item)
    return (
        name not in item.methods
        and len(found) == 1
        and (isinstance(found[0], ast.Constant) or _is_torch(found[0], item))
    )


def _is_torch(node: ast.expr, item: ClassNode) -> bool:
    calls = [inner for inner in every_node(node) if isinstance(inner, ast.Call)]
    names = [item.scope.resolve(call.func) or "" for call in calls]
    reads = any(
        isinstance(inner, ast.Attribute) and getattr(inner.value, "id", "") == "self" for inner in every_node(node)
    )
    return bool(calls) and not reads and all(name.startswith("torch.nn.") for name in names)


def _has_weights(name: str, item: ClassNode) -> bool:
    found = _built(name, item)
    if len(found) != 1 or not _is_torch(found[0], item):
        return False
    calls = [inner for inner in every_node(found[0]) if isinstance(inner, ast.Call)]
    return any((item.scope.resolve(call.func) or "").startswith(PARTS) for call in calls)
