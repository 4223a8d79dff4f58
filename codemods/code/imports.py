"""What the names of a module stand for, as far as its own statements say."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from codemods.code.effects import LOGGERS, dotted_name, is_quiet, may_fail
from codemods.code.names import Function, Names, Parts
from codemods.code.nodes import every_node
from codemods.code.stand_ins import bound_to_none

FAILED_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})
Listed = dict[int, tuple[ast.stmt, Mapping[type, list[Any]]]]
"""The nodes of statements by the identities of these, which they keep alive."""


class ModuleNames:
    """The names of a module: `imported` stand for what is imported once and never bound otherwise, or for a logger;
    `taken` is every name that anything in the file binds."""

    def __init__(self, tree: ast.Module, parts: Parts | None = None, listed: Listed | None = None) -> None:
        self.tree = tree
        self._parts: Parts = {} if parts is None else parts
        self._listed: Listed = {} if listed is None else listed

    def of(self, tree: ast.Module) -> ModuleNames:
        """The same of another tree, which has much of this one."""
        return self if tree is self.tree else ModuleNames(tree, self._parts, self._listed)

    @cached_property
    def names(self) -> Names:
        return self.names_of(self.tree)

    def names_of(self, owner: Function | ast.Module) -> Names:
        """The names of the module or of a function in it."""
        return Names(owner, self._parts)

    @cached_property
    def nodes(self) -> Mapping[type, list[Any]]:
        """The nodes of the module by their class, as `every_node` finds them; those of a statement are listed once."""
        found: defaultdict[type, list[Any]] = defaultdict(list)
        for statement in reversed(self.tree.body):
            for kind, nodes in self._within(statement).items():
                found[kind] += nodes
        return found

    def _within(self, statement: ast.stmt) -> Mapping[type, list[Any]]:
        if id(statement) not in self._listed:
            found: defaultdict[type, list[Any]] = defaultdict(list)
            if isinstance(statement, ast.ClassDef):
                found[ast.ClassDef].append(statement)
                self._add(found, [*statement.bases, *statement.keywords])
                for inner in reversed(statement.body):
                    for kind, nodes in self._within(inner).items():
                        found[kind] += nodes
                self._add(found, statement.decorator_list)
            else:
                self._add(found, [statement])
            self._listed[id(statement)] = statement, found
        return self._listed[id(statement)][1]

    @staticmethod
    def _add(found: defaultdict[type, list[Any]], nodes: list[Any]) -> None:
        for top in reversed(nodes):
            for node in every_node(top):
                found[type(node)].append(node)

    @cached_property
    def taken(self) -> frozenset[str]:
        return frozenset(self.names.stores)

    @cached_property
    def imported(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for node in (*self.nodes[ast.Import], *self.nodes[ast.ImportFrom]):
            for alias in node.names:
                name, dotted = _stands_for(node, alias)
                if self.names.stores[name] - self._missing[name] == 1 or found.get(name) == dotted:
                    found[name] = dotted
        for node in self.nodes[ast.Assign]:
            target = node.targets[0] if len(node.targets) == 1 else None
            made = dotted_name(node.value.func, found) if isinstance(node.value, ast.Call) else None
            if made in LOGGERS and isinstance(target, ast.Name) and self.names.stores[target.id] == 1:
                found[target.id] = "logging"
        return found

    @cached_property
    def _missing(self) -> Counter[str]:
        """How often handlers bind each name to None, for where what it stands for cannot be imported."""
        handlers = (item for item in self.nodes[ast.ExceptHandler] if getattr(item.type, "id", "") in FAILED_IMPORTS)
        return Counter(name for item in handlers for each in item.body if (name := bound_to_none(each)))

    @cached_property
    def said(self) -> frozenset[str]:
        """The strings of the module, by any of which something may be asked for."""
        return frozenset(item.value for item in self.nodes[ast.Constant] if isinstance(item.value, str))

    @cached_property
    def asks_identity(self) -> bool:
        """Whether the module asks of anything whether it is something."""
        return any(isinstance(item.ops[0], ast.Is | ast.IsNot) for item in self.nodes[ast.Compare])

    @cached_property
    def formats(self) -> frozenset[int]:
        """The format specifications in f-strings, which `ast` has as strings of their own."""
        return frozenset(id(item.format_spec) for item in self.nodes[ast.FormattedValue])

    def is_fixed(self, node: ast.FunctionDef | ast.ClassDef) -> bool:
        """Whether a name of the module stands for what this statement of it defines, as far as the file says."""
        if self.names.stores[node.name] != 1 or node.name in self.said or {"globals", "exec"} & self.names.reads.keys():
            return False
        return not self.is_before_star(node)

    def is_before_star(self, node: ast.stmt) -> bool:
        """Whether all names of a module are imported behind a statement."""
        return any(item.lineno > node.lineno for item in self._stars)

    @cached_property
    def _stars(self) -> list[ast.ImportFrom]:
        """The statements that import all names of a module."""
        return [item for item in self.nodes[ast.ImportFrom] if any(alias.name == "*" for alias in item.names)]

    def is_quiet(self, node: ast.expr) -> bool:
        """Whether what an expression does can be seen by nobody but a reader of the output."""
        return is_quiet(node, self.imported, self.taken)

    def may_fail(self, node: ast.expr) -> bool:
        """Whether a quiet expression may raise what somebody waits for."""
        return may_fail(node, self.imported)

    @cached_property
    def set_attributes(self) -> frozenset[str]:
        """The attributes that the module sets, of whatever they are."""
        return frozenset(item.attr for item in self.nodes[ast.Attribute] if not isinstance(item.ctx, ast.Load))

    @cached_property
    def methods(self) -> frozenset[str]:
        """The methods that classes of the module define, and none with a decorator."""
        return frozenset(item.name for item in self._in_classes) - self.decorated

    @cached_property
    def bound_in_classes(self) -> frozenset[str]:
        """The names that classes of the module bind in their own bodies, which functions in them do not see."""
        own = [item for node in self.nodes[ast.ClassDef] for item in node.body]
        said = (each for item in own if not isinstance(item, Function) for each in every_node(item))
        stored = {each.id for each in said if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
        return frozenset(stored | {item.name for item in own if isinstance(item, Function | ast.ClassDef)})

    @cached_property
    def decorated(self) -> frozenset[str]:
        """The methods that classes of the module define with a decorator, which may make properties of them."""
        return frozenset(item.name for item in self._in_classes if item.decorator_list)

    @cached_property
    def _in_classes(self) -> list[ast.FunctionDef]:
        every = (item for node in self.nodes[ast.ClassDef] for item in node.body)
        return [item for item in every if isinstance(item, ast.FunctionDef)]

    def is_steady(self, node: ast.expr) -> bool:
        """Whether nothing that the module calls gives a name, or an attribute of one, another meaning."""
        name = node.value if isinstance(node, ast.Attribute) else node
        moved = isinstance(node, ast.Attribute) and (node.attr in self.set_attributes or node.attr in self.said)
        return isinstance(name, ast.Name) and not moved and (name.id == "self" or self.names.stores[name.id] <= 1)

    def is_module(self, node: ast.expr) -> bool:
        """Whether a name stands for a module that is imported as such."""
        if not isinstance(node, ast.Name) or node.id not in self.imported:
            return False
        return any(_stands_for(each, item)[0] == node.id for each in self.nodes[ast.Import] for item in each.names)

    def dotted(self, node: ast.expr) -> str | None:
        """What a chain of attributes of an imported name stands for."""
        return dotted_name(node, self.imported)


def _stands_for(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> tuple[str, str]:
    if isinstance(node, ast.ImportFrom):
        return alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
    first = alias.name.split(".")[0]
    return (alias.asname, alias.name) if alias.asname else (first, first)
