"""What methods call their own instance, and the class above theirs: `self`, and `super()`."""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import Any

from codemods.code.conditions import ALWAYS
from codemods.code.imports import ModuleNames
from codemods.code.inlining import has_instance
from codemods.code.names import Function
from codemods.code.nodes import every_node
from codemods.code.spreads import nodes_run_here
from codemods.code.syntax import is_none
from codemods.code.tree_copies import changed, made_from, replaced_at

SELF = "self"
OTHERS = frozenset({SELF, "cls", "klass", "mcs", "mcls", "metacls", "_", "__"})
"""What the first parameter of a method may be called that is no instance, or is never spoken of."""
MARKS = frozenset({"staticmethod", "classmethod"})
MAKING = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def plain_instances(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module whose methods call their instance `self`, and ask for what the class above has by `super()`."""
    classes = [node for node in known.nodes[ast.ClassDef] if not node.keywords]
    renamed = {id(item): item for each in classes for method in each.body for item in _called_otherwise(method)}
    if renamed:
        tree = replaced_at(tree, [*renamed.values()], lambda node: _as_self(node, renamed))
        known = known.of(tree)
        classes = [node for node in known.nodes[ast.ClassDef] if not node.keywords]
    if not any(map(_may_ask_above, known.nodes[ast.Call])):
        return tree
    own = {id(call): call for node in classes for call in _asking_own(node, known)}
    if own:
        tree = replaced_at(tree, [*own.values()], lambda node: _by_self(node, own))
        known = known.of(tree)
        classes = [node for node in known.nodes[ast.ClassDef] if not node.keywords]
    if "super" in known.taken:
        return tree
    shared = {getattr(base, "id", "") for node in classes if len(node.bases) > 1 for base in node.bases}
    asked = {id(call): call for node in classes if node.name not in shared for call in _asking_above(node)}
    return replaced_at(tree, [*asked.values()], lambda node: _by_super(node, asked)) if asked else tree


def _has_instance(method: ast.stmt) -> bool:
    """Whether a statement of a class defines a method that is given the instance by its place."""
    if not isinstance(method, Function) or not method.args.args or method.args.posonlyargs:
        return False
    marks = {getattr(item, "id", getattr(item, "attr", "")) for item in method.decorator_list}
    return method.name not in MAKING and marks.isdisjoint(MARKS)


def _called_otherwise(method: ast.stmt) -> list[ast.AST]:
    """The names by which a method calls its instance, where that is not `self`, and it has nothing else of either
    name."""
    if not isinstance(method, Function) or not _has_instance(method):
        return []
    this = method.args.args[0]
    if this.arg in OTHERS or this.arg.startswith("__"):
        return []
    every = list(every_node(method))
    names = [item for item in every if isinstance(item, ast.Name) and item.id == this.arg]
    bound = [item for item in every if isinstance(item, ast.arg) and item.arg in (this.arg, SELF)]
    said = any(getattr(item, "id", "") == SELF for item in every) or any(
        isinstance(item, ast.Global | ast.Nonlocal | ast.ClassDef) or getattr(item, "name", "") in (this.arg, SELF)
        for item in every
    )
    if said or bound != [this] or not all(isinstance(item.ctx, ast.Load) for item in names):
        return []
    return [this, *names]


def _as_self(node: ast.AST, renamed: Container[int]) -> ast.AST | None:
    if id(node) not in renamed:
        return None
    return changed(node, **{"arg" if isinstance(node, ast.arg) else "id": SELF})


def _may_ask_above(call: ast.Call) -> bool:
    function = call.func
    given = getattr(call.args[0], "id", "") if call.args else ""
    above = function.value if isinstance(function, ast.Attribute) else None
    return given == SELF and isinstance(above, ast.Name | ast.Attribute)


def _asking_above(node: ast.ClassDef) -> list[ast.Call]:
    """The calls in methods of a class of the method of the same name that its one base has, by the name of that:
    another may be given no instance, as a static method or a class."""
    if len(node.bases) != 1 or not isinstance(node.bases[0], ast.Name | ast.Attribute):
        return []
    base, found = ast.dump(node.bases[0]), []
    for method in node.body:
        if not _has_instance(method) or method.args.args[0].arg != SELF:  # type: ignore[attr-defined]
            continue
        here: list[Any] = list(nodes_run_here(method))
        if any(isinstance(item, ast.Name) and item.id == SELF and not isinstance(item.ctx, ast.Load) for item in here):
            continue
        calls = (item for item in here if isinstance(item, ast.Call) and _may_ask_above(item))
        above = (item for item in calls if item.func.attr == method.name)  # type: ignore[attr-defined]
        found += [item for item in above if ast.dump(item.func.value) == base]  # type: ignore[attr-defined]
    return found


def _asking_own(node: ast.ClassDef, known: ModuleNames) -> list[ast.Call]:
    """The calls in methods of a class of what it has, by its own name, where no other class of the file has that."""
    if not known.is_fixed(node):
        return []
    others = {item.name for each in known.nodes[ast.ClassDef] if each is not node for item in _named(each)}
    mine = (
        ({item.name for item in _named(node)} | ALWAYS) - others - known.decorated - known.set_attributes - known.said
    )
    methods = [item for item in node.body if _has_instance(item) and item.args.args[0].arg == SELF]  # type: ignore[attr-defined]
    calls = (item for method in methods for item in nodes_run_here(method) if isinstance(item, ast.Call))
    asking = (item for item in calls if _may_ask_above(item) and item.func.attr in mine)  # type: ignore[attr-defined]
    return [item for item in asking if getattr(item.func.value, "id", "") == node.name]  # type: ignore[attr-defined]


def _named(node: ast.ClassDef) -> list[Function]:
    return [item for item in node.body if isinstance(item, Function)]


def _by_self(node: ast.AST, asked: Container[int]) -> ast.AST | None:
    if id(node) not in asked or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return changed(node, func=changed(node.func, value=node.args[0]), args=node.args[1:])


def _by_super(node: ast.AST, asked: Container[int]) -> ast.AST | None:
    if id(node) not in asked or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    above = made_from(node.func.value, ast.Call(func=ast.Name("super", ast.Load()), args=[], keywords=[]))
    ast.copy_location(above.func, node.func.value)
    return changed(node, func=changed(node.func, value=above), args=node.args[1:])


def asks_for_instance(test: ast.Compare, method: ast.FunctionDef) -> bool | None:
    """Whether a test on None of the object whose method it is in holds; None where it asks something else."""
    this = method.args.args[0].arg if method.args.args else ""
    if getattr(test.left, "id", None) != this or len(test.ops) != 1 or not is_none(test.comparators[0]):
        return None
    ways = {ast.Is: False, ast.IsNot: True}
    return ways.get(type(test.ops[0])) if has_instance(method) else None
