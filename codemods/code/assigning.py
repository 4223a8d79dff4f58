"""Assignments in their plain form: of one value to one target."""

from __future__ import annotations

import ast
from keyword import iskeyword
from typing import TypeGuard

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.rows import row
from codemods.code.tree_copies import DEFINING, at, changed

Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Functions = ast.FunctionDef | ast.AsyncFunctionDef


def single(node: ast.Assign, owner: Owner, known: ModuleNames, caught: bool) -> list[ast.stmt]:
    """The assignments of one value to one target that one is; `caught` says that something around in the same function
    may answer an exception."""
    target, value = node.targets[0], node.value
    if len(node.targets) > 1:
        return [node] if caught and any(isinstance(each, ast.Attribute) for each in node.targets) else _chained(node)
    if _is_onto_itself(target, value):
        return [] if isinstance(owner, Functions) else [node]
    if isinstance(value, ast.NamedExpr) and isinstance(target, ast.Attribute) and _target(target) and not caught:
        kept = _part(node, value.target, value.value)
        return [kept, _part(node, target, at(changed(value.target, ctx=ast.Load()), value.target))]
    pairs = _pairs(target, value, known)
    names = {name for one, _ in pairs if (name := _target(one))}
    constant = all(isinstance(item, ast.Constant) for _, item in pairs)
    if not pairs or not all(_target(one) for one, _ in pairs) or (len(names) < len(pairs) and not constant):
        return [node]
    if isinstance(owner, Functions):
        pairs = [(one, other) for one, other in pairs if not _is_onto_itself(one, other)]
    values = [item for _, item in pairs]
    bound = {one.id for one, _ in pairs if isinstance(one, ast.Name)}
    late = any(not known.is_quiet(item) for item in values[1:])
    if any(_reads_one_before(pairs, index) for index in range(1, len(pairs))) or (
        late and (caught or _is_seen_elsewhere(owner, bound))
    ):
        return [node]
    objects = {name.partition(".")[0] for name in names if "." in name}
    if objects and (caught or not all(_is_apart(item, objects | bound, known) for item in values[1:])):
        return [node]
    return [_part(node, one, other) for one, other in pairs]


def _is_onto_itself(target: ast.expr, value: ast.expr) -> bool:
    return isinstance(target, ast.Name) and isinstance(value, ast.Name) and target.id == value.id


def _reads_one_before(pairs: list[tuple[ast.expr, ast.expr]], index: int) -> bool:
    """Whether a value reads a name that is bound to one in front of it."""
    bound = {one.id for one, _ in pairs[:index] if isinstance(one, ast.Name)}
    return any(isinstance(item, ast.Name) and item.id in bound for item in every_node(pairs[index][1]))


def is_attribute(name: object) -> TypeGuard[str]:
    """Whether an attribute may be written by this name, and means it there."""
    plain = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
    return plain and isinstance(name, str) and (not name.startswith("__") or name.endswith("__"))


def _pairs(target: ast.expr, value: ast.expr, known: ModuleNames) -> list[tuple[ast.expr, ast.expr]]:
    """The targets of an unpacking with what each gets, where that is written in it."""
    found = []
    for one, other in _unpacked(target, value, known):
        inner = _pairs(one, other, known) if isinstance(one, ast.Tuple | ast.List) else [(one, other)]
        if not inner:
            return []
        found += inner
    return found


def _unpacked(target: ast.expr, value: ast.expr, known: ModuleNames) -> list[tuple[ast.expr, ast.expr]]:
    values = row(value, known) if isinstance(target, ast.Tuple | ast.List) else None
    if not isinstance(target, ast.Tuple | ast.List) or values is None:
        return []
    targets = target.elts
    stars = [index for index, item in enumerate(targets) if isinstance(item, ast.Starred)]
    if not stars:
        return [*zip(targets, values, strict=True)] if len(targets) == len(values) else []
    at_star, more = stars[0], len(values) - len(targets) + 1
    rest = targets[at_star]
    if more < 0 or not isinstance(rest, ast.Starred):
        return []
    taken = ast.List(elts=values[at_star : at_star + more], ctx=ast.Load())
    middle = (rest.value, ast.copy_location(taken, value))
    front = zip(targets[:at_star], values[:at_star], strict=True)
    return [*front, middle, *zip(targets[at_star + 1 :], values[at_star + more :], strict=True)]


def _target(node: ast.expr) -> str:
    """A name, or an attribute of one."""
    if isinstance(node, ast.Name):
        return node.id
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return f"{node.value.id}.{node.attr}" if own and isinstance(node, ast.Attribute) else ""  # type: ignore[attr-defined]


def _is_apart(node: ast.expr, names: set[str], known: ModuleNames) -> bool:
    """Whether a value is the same before and after attributes of some names are set: it does not speak of them, and
    what it calls is imported or a class of the module without a constructor."""
    classes = {
        item.name
        for item in known.nodes[ast.ClassDef]
        if not any(getattr(each, "name", "") in ("__init__", "__new__") for each in item.body)
    }
    for item in every_node(node):
        if isinstance(item, ast.Name) and item.id in names:
            return False
        if isinstance(item, ast.Attribute) and known.dotted(item) is None:
            return False
        if isinstance(item, ast.Call):
            own = isinstance(item.func, ast.Name) and item.func.id in classes
            if not own and known.dotted(item.func) is None and not known.is_quiet(item):
                return False
        if isinstance(item, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
    return True


def _is_seen_elsewhere(owner: Owner, names: set[str]) -> bool:
    """Whether something else than the statements of a function or module may read some names that these bind."""
    for item in every_node(owner):
        if isinstance(item, ast.Global | ast.Nonlocal) and not names.isdisjoint(item.names):
            return True
        inner = isinstance(item, (*DEFINING, ast.Lambda)) and item is not owner
        if inner and any(isinstance(each, ast.Name) and each.id in names for each in every_node(item)):
            return True
    return False


def _part(node: ast.Assign, target: ast.expr, value: ast.expr) -> ast.Assign:
    """An assignment that is one of several which a statement makes."""
    return at(changed(node, targets=[target], value=value), node)


def _chained(node: ast.Assign) -> list[ast.stmt]:
    """The assignments that one to several targets is: to the last name among them, and of this to the others."""
    names = [item for item in node.targets if isinstance(item, ast.Name)]
    if not names:
        return [node]
    first = names[-1]
    others = [item for item in node.targets if item is not first]
    if not all(name and name.partition(".")[0] != first.id for name in map(_target, others)):
        return [node]
    same = [_part(node, at(item, item), at(changed(first, ctx=ast.Load()), first)) for item in others]
    return [_part(node, first, node.value), *same]
