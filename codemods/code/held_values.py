"""What containers and objects of settings hold, where it is read: dictionaries, lists, namespaces, classes of constants
of which the file reads nothing but their parts."""

from __future__ import annotations

import ast
from typing import Any

from codemods.code.folding import NAMESPACES
from codemods.code.imports import ModuleNames
from codemods.code.names import Function
from codemods.code.nodes import every_node
from codemods.code.tree_copies import at, blocks, replaced_at

FIELDS = frozenset({"dataclasses.dataclass", "typing.NamedTuple"})
ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum"})
MIXED = frozenset({"str", "int"})
"""What the members of enumerations may be besides."""
DISPLAYS = (ast.Dict, ast.List, ast.Tuple)
Holder = ast.expr | ast.ClassDef


def plain_holders(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with what its settings hold where it is read."""
    holders = _holders(tree, known)
    if not holders:
        return tree
    read = _Read(holders, known)
    if not read.holders:
        return tree
    places = [node for kind in (ast.Subscript, ast.Attribute, ast.Call) for node in known.nodes[kind]]
    found = {id(node): value for node in places if (value := read.value(node)) is not None}
    inner = {id(item) for node in places if id(node) in found for item in every_node(node) if item is not node}
    found = {key: value for key, value in found.items() if key not in inner}
    if not found:
        return tree

    def swap(node: ast.AST) -> ast.AST | None:
        value = found.get(id(node))
        return None if value is None else at(value, node)

    return replaced_at(tree, [node for node in places if id(node) in found], swap)


def _holders(tree: ast.Module, known: ModuleNames) -> dict[int, Holder]:
    """The readings of names that stand for one container, object or class of settings alone, with that."""
    classes = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and _is_of_constants(node, known) and known.is_fixed(node)
    }

    def holds(node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and node.keywords:
            named = isinstance(node.func, ast.Name) and node.func.id in classes
            return named or known.dotted(node.func) in NAMESPACES
        return isinstance(node, DISPLAYS)

    bound = {name: node.value for node in known.nodes[ast.Assign] if holds(node.value) and (name := _target(node))}
    found: dict[int, Holder] = {}
    if not (bound or classes) or {"globals", "exec", "vars", "setattr"} & known.names.reads.keys():
        return found
    asked = _asked(known)
    bound = {name: value for name, value in bound.items() if name in asked or isinstance(value, ast.Call)}
    for name, node in classes.items():
        found.update((id(load), node) for load, _ in known.names.loads.get(name, ()))
    for statement in tree.body:
        name = _target(statement)
        if not isinstance(statement, ast.Assign) or name not in bound or not holds(statement.value):
            continue
        if known.names.stores[name] == 1 and name not in known.said and not known.is_before_star(statement):
            found.update((id(load), statement.value) for load, _ in known.names.loads.get(name, ()))
    for owner in (*known.nodes[ast.FunctionDef], *known.nodes[ast.AsyncFunctionDef]) if bound else ():
        for block in blocks(owner):
            for index, statement in enumerate(block):
                if _target(statement) in bound and isinstance(statement, ast.Assign) and holds(statement.value):
                    loads = known.names_of(owner).reaches(_target(statement), block, index)
                    found.update((id(load), statement.value) for load in loads or ())
    return found


def _asked(known: ModuleNames) -> set[str]:
    """The names of containers of which a constant key is read."""
    owners = [
        *(node.value for node in known.nodes[ast.Subscript] if isinstance(node.slice, ast.Constant)),
        *(node.value for node in known.nodes[ast.Attribute] if node.attr == "get"),
    ]
    return {node.id for node in owners if isinstance(node, ast.Name)}


def holds_values(node: ast.stmt) -> bool:
    """Whether a statement may make settings of which the parts stand where they are read in the normal form."""
    if isinstance(node, ast.ClassDef):
        return not any(isinstance(item, Function) for item in node.body)
    return isinstance(node, ast.Assign) and isinstance(node.value, (*DISPLAYS, ast.Call))


def _is_of_constants(node: ast.ClassDef, known: ModuleNames) -> bool:
    """Whether a class has constants and nothing else."""
    if not all(map(_is_plain, node.body)):
        return False
    bases = {known.dotted(item) or getattr(item, "id", "") for item in node.bases}
    marks = {known.dotted(item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list}
    mixed = len(node.bases) == 2 and bool(bases & ENUMS) and getattr(node.bases[0], "id", "") in MIXED - known.taken
    bases -= MIXED if mixed else frozenset()
    return not node.keywords and len(bases) < 2 and bases <= FIELDS | ENUMS | {"object"} and marks <= FIELDS


def _is_plain(item: ast.stmt) -> bool:
    """Whether a statement of a class names a constant, or does nothing."""
    return (
        isinstance(item, ast.Pass)
        or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        or (isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name))
        or (isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name))
    )


class _Read:
    """Reads what expressions get from holders; only from those of which the file reads parts alone."""

    def __init__(self, holders: dict[int, Holder], known: ModuleNames) -> None:
        self.known, self.holders = known, holders
        places = [node for kind in (ast.Subscript, ast.Attribute, ast.Call) for node in known.nodes[kind]]
        read = {id(_root(node)) for node in places if self.is_harmless(node)}
        read |= {id(value.func) for value in holders.values() if isinstance(value, ast.Call)}
        read |= {id(node.value) for node in known.nodes[ast.keyword] if node.arg is None}
        seen: dict[int, list[int]] = {}
        for key, value in holders.items():
            seen.setdefault(id(value), []).append(key)
        self.holders = {
            key: value
            for key, value in holders.items()
            if isinstance(value, ast.Tuple) or all(load in read for load in seen[id(value)])
        }

    def is_harmless(self, node: ast.AST) -> bool:
        """Whether what is read leads to no container, which could be changed through it."""
        found = self.part(node)
        return isinstance(found, ast.expr) and not isinstance(found, DISPLAYS)

    def value(self, node: ast.AST) -> ast.expr | None:
        """What a part of a holder is, where it is the same wherever it is read."""
        found = self.part(node)
        return found if isinstance(found, ast.expr) and self.is_atom(found) else None

    def is_atom(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        return isinstance(node, ast.Constant) or self.known.dotted(node) is not None

    def part(self, node: ast.AST) -> Holder | None:
        """What a chain of keys and attributes leads to."""
        if isinstance(node, ast.Name):
            return self.holders.get(id(node))
        if isinstance(node, ast.Call):
            return self.got(node)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            return _at_key(self.part(node.value), node.slice)
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return None
        if node.attr in self.known.set_attributes or node.attr in self.known.said:
            return None
        return self.attribute(node)

    def attribute(self, node: ast.Attribute) -> Holder | None:
        owner = node.value
        if node.attr == "value" and isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name):
            of = self.holders.get(id(owner.value))
            return self.of_class(of, owner.attr) if isinstance(of, ast.ClassDef) and self.is_enum(of) else None
        if isinstance(owner, ast.Name):
            of = self.holders.get(id(owner))
            if isinstance(of, ast.ClassDef):
                return None if of.bases and not _is_object(of) else self.of_class(of, node.attr)
            return self.of_object(of, node.attr) if isinstance(of, ast.Call) else None
        return self.of_object(owner, node.attr) if isinstance(owner, ast.Call) else None

    def is_enum(self, node: ast.ClassDef) -> bool:
        return any(self.known.dotted(item) in ENUMS for item in node.bases)

    def of_class(self, node: ast.ClassDef, name: str) -> ast.expr | None:
        """What the body of a class binds once."""
        found = [item for item in node.body if _target(item) == name]
        value: Any = getattr(found[0], "value", None) if len(found) == 1 else None
        return value if isinstance(value, ast.Constant) else None

    def of_object(self, call: ast.Call, name: str) -> ast.expr | None:
        """What an object has that is made of keywords, or of what its class has."""
        if call.args or any(item.arg is None for item in call.keywords):
            return None
        given = next((item.value for item in call.keywords if item.arg == name), None)
        if self.known.dotted(call.func) in NAMESPACES:
            return given
        of = self.holders.get(id(call.func)) if isinstance(call.func, ast.Name) else None
        if not isinstance(of, ast.ClassDef) or self.is_enum(of):
            return None
        fields = [_target(item) for item in of.body if isinstance(item, ast.AnnAssign)]
        made = any(self.known.dotted(item) in FIELDS for item in of.bases) or bool(of.decorator_list)
        if given is not None:
            return given if made and name in fields else None
        return self.of_class(of, name) if made or not call.keywords else None

    def got(self, call: ast.Call) -> ast.expr | None:
        """What `.get(key)` gives that is there."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr != "get" or call.keywords or not call.args:
            return None
        return _at_key(self.part(function.value), call.args[0]) if len(call.args) < 3 else None


def _root(node: ast.AST) -> ast.AST:
    """The name that a chain of keys, attributes and calls begins with."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _is_object(node: ast.ClassDef) -> bool:
    return getattr(node.bases[0], "id", "") == "object"


def _target(node: ast.stmt) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


def _at_key(holder: Holder | None, key: ast.expr) -> ast.expr | None:
    """What a container that is written out has under a constant."""
    wanted = key.value if isinstance(key, ast.Constant) else None
    if isinstance(holder, ast.Dict) and isinstance(wanted, str):
        keys = [item.value if isinstance(item, ast.Constant) else None for item in holder.keys]
        plain = keys.count(wanted) == 1 and all(isinstance(item, str) for item in keys)
        return holder.values[keys.index(wanted)] if plain else None
    if isinstance(holder, ast.List | ast.Tuple) and type(wanted) is int and 0 <= wanted < len(holder.elts):
        return None if any(isinstance(item, ast.Starred) for item in holder.elts) else holder.elts[wanted]
    return None
