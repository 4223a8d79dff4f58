"""The names that modules, classes and functions bind, and in which of them each node stands."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchmarks.finishing.files import File

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Scope:
    """The names that a module, class or function binds, each with what binds it: a dotted name, a node, or None."""

    node: ast.AST
    file: File
    parent: Scope | None = None
    bound: dict[str, list[str | ast.AST | None]] = field(default_factory=lambda: defaultdict(list))

    def lookup(self, name: str) -> tuple[Scope, list[str | ast.AST | None]] | None:
        scope: Scope | None = self
        while scope:
            if name in scope.bound and (scope is self or not isinstance(scope.node, ast.ClassDef)):
                return scope, scope.bound[name]
            scope = scope.parent
        return None

    @cached_property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method this is, or stands in."""
        scope: Scope | None = self
        while scope and not isinstance(scope.node, ast.ClassDef):
            scope = scope.parent
        return scope.node if scope else None  # type: ignore[return-value]

    @cached_property
    def method(self) -> Function | None:
        """The method of `owner` that this is, or stands in."""
        scope: Scope | None = self
        while scope and scope.parent and not isinstance(scope.parent.node, ast.ClassDef):
            scope = scope.parent
        inside = scope and scope.parent and isinstance(scope.node, Function)
        return scope.node if inside else None  # type: ignore[union-attr, return-value]


class Binder(ast.NodeVisitor):
    """Puts down what each scope binds, and where each node stands."""

    def __init__(self, scope: Scope, places: dict[ast.AST, Scope]) -> None:
        self.scope, self.places = scope, places
        self.classes: list[tuple[ast.ClassDef, Scope]] = []
        self.put_down: set[ast.AST] = set()

    def bind(self, tree: ast.Module) -> None:
        self.places[tree] = self.scope
        self.generic_visit(tree)

    def generic_visit(self, node: ast.AST) -> None:
        self.places.setdefault(node, self.scope)
        super().generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.places[node] = self.scope
        self.scope.bound[node.name].append(node)
        self.classes.append((node, self.scope))
        for each in (*node.bases, *node.keywords, *node.decorator_list):
            self.visit(each)
        self._inside(node, node.body)

    def visit_FunctionDef(self, node: Function) -> None:
        self.places[node] = self.scope
        self.scope.bound[node.name].append(node)
        for each in (
            *node.decorator_list,
            *node.args.defaults,
            *(d for d in (*node.args.kw_defaults, node.returns) if d),
        ):
            self.visit(each)
        self._inside(node, node.body, node.args)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.places[node] = self.scope
        for each in (*node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(each)
        self._inside(node, [node.body], node.args)

    def _inside(self, node: ast.AST, body: Sequence[ast.AST], arguments: ast.arguments | None = None) -> None:
        outer, self.scope = self.scope, Scope(node, self.scope.file, self.scope)
        for each in _parameters(arguments):
            self.places[each] = self.scope
            self.scope.bound[each.arg].append(each)
            if each.annotation:
                self.visit(each.annotation)
        for statement in body:
            self.visit(statement)
        self.scope = outer

    def visit_Import(self, node: ast.Import) -> None:
        self.places[node] = self.scope
        for alias in node.names:
            root = alias.name.split(".")[0]
            name, dotted = (alias.asname, alias.name) if alias.asname else (root, root)
            if dotted not in self.scope.bound[name]:
                self.scope.bound[name].append(dotted)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.places[node] = self.scope
        module = from_module(node, self.scope.file)
        for alias in node.names:
            name = module if alias.name == "*" else f"{module}.{alias.name}"
            self.scope.bound[alias.asname or alias.name].append(name)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._target(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self._target(node.target, node.value)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._target(node.target, node.value)
        self.generic_visit(node)

    def _target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.scope.bound[target.id].append(value)
            self.put_down.add(target)

    def visit_Name(self, node: ast.Name) -> None:
        self.places[node] = self.scope
        if isinstance(node.ctx, ast.Store | ast.Del) and node not in self.put_down:
            self.scope.bound[node.id].append(None)


def from_module(node: ast.ImportFrom, file: File) -> str:
    """The module that a `from` names, in full."""
    if not node.level:
        return node.module or ""
    parts = file.path.split("/")[: -node.level]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _parameters(arguments: ast.arguments | None) -> list[ast.arg]:
    if arguments is None:
        return []
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*named, *(each for each in (arguments.vararg, arguments.kwarg) if each)]
