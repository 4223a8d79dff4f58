"""Names that may stand for Lightning's Trainer, or another class that is looked for: by a default, a choice, a partial,
a loop, an attribute of a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.expressions import PARTIAL
from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, takes, targets_of
from codemods.lightning.facts import Facts
from codemods.lightning.iterated_values import parametrized
from codemods.lightning.parameters import with_defaults
from codemods.lightning.wanted import TRAINER_ALONE, WantedClasses

_SEVERAL = ast.Tuple | ast.List | ast.Set | ast.Dict
_Held = tuple[str, str, ast.AST | None]
"""How something is held (`name`, `item` of a name, `attribute`), under what name, and in which function."""


def may_build(file: PythonFile, facts: Facts, call: CallNode, wanted: WantedClasses = TRAINER_ALONE) -> str | None:
    """How what a call may build a Trainer of is written, where that is seen and not proved."""
    function = call.node.func
    if dotted := call.scope.resolve(function):
        return file.source_of(function) if _is_held_by(file, facts, dotted, wanted) else None
    kind, owner = "name", function
    if isinstance(function, ast.IfExp | ast.BoolOp):
        return file.source_of(function) if _is_one(function, call.scope, wanted) else None
    if isinstance(function, ast.Attribute):
        return function.attr if ("attribute", function.attr, None) in _holders(file, wanted) else None
    if isinstance(function, ast.Subscript):
        kind, owner = "item", function.value
    elif isinstance(function, ast.Call) and isinstance(function.func, ast.Attribute) and function.func.attr == "get":
        kind, owner = "item", function.func.value
    if isinstance(owner, _SEVERAL):
        return file.source_of(function) if kind == "item" and _holds_one(owner, call.scope, wanted) else None
    found = isinstance(owner, ast.Name) and _is_held(file, call, kind, owner.id, wanted)
    return file.source_of(function) if found else None


def _is_held(file: PythonFile, call: CallNode, kind: str, name: str, wanted: WantedClasses) -> bool:
    """Whether the nearest function around a call that has a name, or the module, may hold a Trainer by it."""
    functions = [item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in reversed(functions):
        around = call.within[: call.within.index(function)]
        if (kind, name, function) in _holders(file, wanted):
            return True
        if kind == "name" and takes(function, name):
            scope = file.scope_within(around)
            return any(_is_one(value, scope, wanted) for value in parametrized(function, file.tree, name))
        if name in file.scope_within((*around, function)).bindings and not _is_shared(function, name):
            return False
    return (kind, name, None) in _holders(file, wanted)


def _is_held_by(file: PythonFile, facts: Facts, dotted: str, wanted: WantedClasses) -> bool:
    """Whether another module of the project may hold a Trainer by a dotted name."""
    module, _, name = dotted.rpartition(".")
    path = facts.path_of(module, file.path) if module and module != file.module else None
    home = facts.open(path) if path else None
    return home is not None and ("name", name, None) in _holders(home, wanted)


def _is_shared(function: ast.AST, name: str) -> bool:
    """Whether a function says that a name is the module's."""
    return any(isinstance(node, ast.Global) and name in node.names for node in walk(function))


def _holders(file: PythonFile, wanted: WantedClasses) -> frozenset[_Held]:
    """What may hold a Trainer that is not built yet."""
    asked = f"held.{wanted.key}"
    if asked not in file.memo:
        file.memo[asked] = frozenset(_found(file, wanted))
    held: frozenset[_Held] = file.memo[asked]
    return held


def _found(file: PythonFile, wanted: WantedClasses) -> Iterator[_Held]:
    words = {word for name in wanted.names for word in file.spellings(name)}
    for node, within in file.nodes_near(words):
        functions = [item for item in within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
        function: Function | None = functions[-1] if functions else None
        for kind, target in _kept(
            node, file.scope_within(within[:-1] if isinstance(node, ast.arguments) else within), wanted
        ):
            in_class = bool(within) and isinstance(within[-1], ast.ClassDef)
            if isinstance(target, ast.Attribute) and kind == "name":
                yield "attribute", target.attr, None
            elif isinstance(target, ast.Name | ast.arg):
                name = target.id if isinstance(target, ast.Name) else target.arg
                own = None if function is None or _is_shared(function, name) else function
                yield ("attribute", name, None) if in_class and kind == "name" else (kind, name, own)


def _kept(node: ast.AST, scope: Scope, wanted: WantedClasses) -> Iterator[tuple[str, ast.AST]]:
    """The targets to which a node may give a Trainer, or several things with one among them."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        for target in targets_of(node):
            yield from _given(target, node.value, scope, wanted)
    elif isinstance(node, ast.NamedExpr):
        yield from _given(node.target, node.value, scope, wanted)
    elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, _SEVERAL):
        for value in node.iter.elts if not isinstance(node.iter, ast.Dict) else node.iter.keys:
            yield from _given(node.target, value, scope, wanted) if value else ()
    elif isinstance(node, ast.arguments):
        for argument, value in with_defaults(node):
            if _is_one(value, scope, wanted):
                yield "name", argument


def _given(target: ast.expr, value: ast.expr, scope: Scope, wanted: WantedClasses) -> Iterator[tuple[str, ast.AST]]:
    """What of a target a value may make a Trainer, or several things with one among them."""
    if isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        for inner, part in zip(target.elts, parts, strict=False):
            yield from _given(inner, part, scope, wanted)
    elif _is_one(value, scope, wanted):
        yield "name", target
    elif isinstance(value, _SEVERAL) and _holds_one(value, scope, wanted):
        yield "item", target


def _holds_one(node: _SEVERAL, scope: Scope, wanted: WantedClasses) -> bool:
    values = node.values if isinstance(node, ast.Dict) else node.elts
    return any(_is_one(value, scope, wanted) for value in values)


def _is_one(node: ast.expr, scope: Scope, wanted: WantedClasses) -> bool:
    """Whether an expression is, or may be, the class itself, or a partial of it."""
    if isinstance(node, ast.IfExp):
        return _is_one(node.body, scope, wanted) or _is_one(node.orelse, scope, wanted)
    if isinstance(node, ast.BoolOp):
        return any(_is_one(value, scope, wanted) for value in node.values)
    if isinstance(node, ast.Call):
        return scope.resolve(node.func) == PARTIAL and bool(node.args) and _is_one(node.args[0], scope, wanted)
    return isinstance(node, ast.Name | ast.Attribute) and wanted.is_one(scope.resolve(node) or "")
