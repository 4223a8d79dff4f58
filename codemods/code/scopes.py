"""What a name stands for: imports, local definitions and everything that hides them, scope by scope."""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Any

from codemods.code.nodes import CHILD_FIELDS, walk
from codemods.code.stand_ins import stand_ins
from codemods.code.syntax import taken

NAMESPACES = ("lightning.pytorch", "pytorch_lightning", "lightning")
ROOT = "lightning.pytorch"
OPAQUE = "?"
_ALONE = frozenset({OPAQUE})
"""What most names are bound to, once for all of them."""
_OF_LIGHTNING = frozenset(
    {"Trainer", "LightningModule", "LightningDataModule", "Callback", "Fabric", "seed_everything", "pytorch", "fabric",
     "lite", "app", "data", "store", "storage", "pdb", "LightningApp", "LightningFlow", "LightningWork", "BuildConfig",
     "CloudCompute"}
)  # fmt: skip
"""What the package `lightning` has had, besides names that begin with an underscore: a folder of a project may have
that name, and others in it."""
_ALIASED = frozenset({"Trainer", "LightningModule", "LightningDataModule", "Callback"})
BY_STAR = _ALIASED | {"seed_everything"}
"""What `from pytorch_lightning import *` brings of what every release has."""
_OTHERS = frozenset({"torch", "torchvision", "numpy", "pandas", "scipy", "sklearn", "matplotlib", "PIL", "cv2", "tqdm"})
_CAPTURES = frozenset({ast.MatchAs, ast.MatchStar})


class Scope:
    """The names of a module, class or function. Bindings are read when a name is first asked for."""

    def __init__(self, node: ast.AST, parent: Scope | None, path: str) -> None:
        self.node, self.parent, self.path = node, parent, path

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The statements that run in this scope, at any depth of if, try, with, for, while and match."""
        return list(_statements(getattr(self.node, "body", [])))

    @cached_property
    def bindings(self) -> dict[str, frozenset[str]]:
        """Each name bound here, with the dotted names it may stand for; `?` for what is not an import,
        class or function."""
        found: dict[str, set[str]] = {}
        for name, target in _bindings(self):
            found.setdefault(name, set()).add(target)
        return {name: _ALONE if targets == _ALONE else frozenset(targets) for name, targets in found.items()}

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """The modules of `from module import *` in this scope."""
        return tuple(
            absolute(node, self.path)
            for node in self.statements
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        )

    def lookup(self, name: str) -> str | None:
        """The dotted name that `name` stands for, None where it is unknown or may be several things."""
        scope: Scope | None = self
        while scope is not None:
            skip = scope is not self and isinstance(scope.node, ast.ClassDef)
            if not skip and name in scope.bindings:
                targets = scope.bindings[name]
                if len(targets) == 1:
                    (target,) = targets
                    return scope._aliased.get(name) if target == OPAQUE else target
                same = len({canonical(target) for target in targets}) == 1 and OPAQUE not in targets
                return min(targets) if same else None
            if scope.parent is None:
                return scope._from_star(name)
            scope = scope.parent
        return None

    @cached_property
    def _aliased(self) -> dict[str, str]:
        """The classes of Lightning's own that names are bound to here by one assignment alone: `T = pl.Trainer`."""
        if not self._aliases:
            return {}
        bound = Counter(name for name, _ in _bindings(self))
        taken = {name for node in walk(self.node) for name in _taken(node)}
        found = {}
        for name, value in self._aliases.items():
            root: Any = value.value if isinstance(value, ast.Attribute) else value
            plain = isinstance(root, ast.Name) and self.bindings.get(root.id) != _ALONE
            if plain and bound[name] == 1 and name not in taken:
                base = self.lookup(root.id)
                dotted = f"{base}.{value.attr}" if base and isinstance(value, ast.Attribute) else base
                if dotted and canonical(dotted).removeprefix(f"{ROOT}.") in _ALIASED:
                    found[name] = dotted
        return found

    @cached_property
    def _aliases(self) -> dict[str, ast.Name | ast.Attribute]:
        """What is assigned to a name and may be a class of Lightning's own, by the name."""
        found: dict[str, ast.Name | ast.Attribute] = {}
        for node in self.statements:
            if type(node) is ast.Assign and len(node.targets) == 1:
                for target, value in _pairs(node.targets[0], node.value):
                    last = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", None)
                    if (
                        last in _ALIASED
                        and isinstance(target, ast.Name)
                        and isinstance(value, ast.Name | ast.Attribute)
                    ):
                        found[target.id] = value
        return found

    def _from_star(self, name: str) -> str | None:
        known = [canonical(f"{module}.{name}") for module in self.stars if canonical(module) == ROOT]
        others = [module for module in self.stars if canonical(module) != ROOT]
        alone = not others or (name in BY_STAR and not any(map(may_bring_lightnings, others)))
        return known[0] if known and alone else None

    def starred(self, name: str) -> str | None:
        """The dotted name of what nothing in the file binds, where one module alone, none of Python's own, is imported
        by `*`."""
        if name in self.bindings:
            return None
        if self.parent is not None:
            return self.parent.starred(name)
        modules = [module for module in self.stars if module.split(".")[0] not in sys.stdlib_module_names]
        return f"{modules[0]}.{name}" if len(modules) == 1 else None

    def by_star(self, node: ast.expr) -> str | None:
        """The dotted name, as one of this module's own, of a name or attribute chain that nothing in the file binds and
        that a star may bring."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        scope: Scope = self
        while isinstance(node, ast.Name) and node.id not in scope.bindings and scope.parent is not None:
            scope = scope.parent
        if not isinstance(node, ast.Name) or node.id in scope.bindings or hasattr(builtins, node.id):
            return None
        brought = any(module.split(".")[0] not in sys.stdlib_module_names for module in scope.stars)
        return ".".join([module_name(self.path), node.id, *reversed(parts)]) if brought else None

    def resolve(self, node: ast.expr) -> str | None:
        """The dotted name of a name or attribute chain, in one spelling for every Lightning namespace."""
        parts: list[str] = []
        if isinstance(node, ast.NamedExpr):
            node = node.value
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        base = self.lookup(node.id)
        return canonical(".".join([base, *reversed(parts)])) if base else None


def may_bring_lightnings(module: str) -> bool:
    """Whether a star of a module may bring another thing by a name that Lightning has."""
    package = module.split(".")[0]
    return not (package in _OTHERS or package in sys.stdlib_module_names or canonical(module).startswith(ROOT))


def brings_lightnings(node: ast.stmt, path: str) -> bool:
    """Whether a statement imports by a star what may have another thing by a name that Lightning has."""
    star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    return star and isinstance(node, ast.ImportFrom) and may_bring_lightnings(absolute(node, path))


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, Any]]:
    """What an assignment sets to what, side by side in tuples."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


def _taken(node: ast.AST) -> list[str]:
    """The names of another scope that a node says are its own, or the parameters of a lambda."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    return [item.arg for item in taken(node)] if isinstance(node, ast.Lambda) else []


def bind(node: ast.AST, path: str = "", scope: Scope | None = None) -> Scope:
    """The scope that `node` opens inside `scope`."""
    return Scope(node, scope, scope.path if scope else path)


@lru_cache(maxsize=10_000)
def canonical(dotted: str) -> str:
    """`pytorch_lightning.Trainer`, `lightning.Trainer` and `lightning.pytorch.trainer.trainer.Trainer` are
    `lightning.pytorch.Trainer`, and so for their members; names outside Lightning stay as they are."""
    for namespace in NAMESPACES:
        if dotted == namespace or dotted.startswith(namespace + "."):
            rest = dotted[len(namespace) :].lstrip(".")
            first = rest.split(".")[0]
            if namespace == "lightning" and (first in ("fabric", "app") or not _is_of_lightning(first)):
                return dotted
            owner, _, member = rest.rpartition(".")
            if owner in _HOMES:
                return f"{_HOMES[owner]}.{member}"
            return _HOMES.get(rest, f"{ROOT}.{rest}" if rest else ROOT)
    return dotted


def _is_of_lightning(name: str) -> bool:
    return name in _OF_LIGHTNING or name.startswith("_") or not name


_HOMES = {
    spelling: f"{ROOT}.{name}"
    for name, modules in {
        "Trainer": ("trainer", "trainer.trainer", "models.trainer"),
        "LightningModule": ("core", "core.lightning", "core.module", "core.root_module"),
        "LightningDataModule": ("core", "core.datamodule"),
        "Callback": ("callbacks", "callbacks.base", "callbacks.callback"),
    }.items()
    for spelling in (f"{module}.{name}" for module in modules)
}


def absolute(node: ast.ImportFrom, path: str) -> str:
    """The dotted module of a `from` import, relative ones counted from the file's folder."""
    if not node.level:
        return node.module or ""
    folder = PurePosixPath(path).parts[:-1]
    kept = folder[: len(folder) - (node.level - 1)]
    return ".".join([*kept, *([node.module] if node.module else [])])


_BLOCKS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in ("finalbody", "orelse", "handlers", "cases", "body") if name in fields)
    for kind, fields in CHILD_FIELDS.items()
    if issubclass(kind, ast.stmt | ast.ExceptHandler | ast.match_case)
    and not issubclass(kind, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
}
"""The fields of a class of nodes that hold statements of the same scope, last first."""


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    stack: list[Any] = list(reversed(body))
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is not ast.ExceptHandler and kind is not ast.match_case:
            yield node
        for name in _BLOCKS.get(kind, ()):
            stack.extend(reversed(getattr(node, name)))


def module_name(path: str) -> str:
    """`pkg/sub/__init__.py` is `pkg.sub`, `pkg/a.py` is `pkg.a`. No import can mean the name of a notebook, which may
    lie beside a module of the same stem."""
    parts = PurePosixPath(path if path.endswith(".ipynb") else path.removesuffix(PurePosixPath(path).suffix)).parts
    return ".".join(parts[:-1] if parts and parts[-1] == "__init__" else parts)


def _bindings(scope: Scope) -> Iterator[tuple[str, str]]:
    node, path = scope.node, scope.path
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for argument in taken(node):
            yield argument.arg, OPAQUE
    local = isinstance(node, ast.Module)
    module = module_name(path) if local else ""
    others: list[Any] = []
    spare = stand_ins(scope.statements)
    for statement in scope.statements:
        if statement in spare:
            continue
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.asname:
                    yield alias.asname, alias.name
                else:
                    first = alias.name.split(".")[0]
                    yield first, first
        elif isinstance(statement, ast.ImportFrom):
            source = absolute(statement, path)
            for alias in statement.names:
                yield alias.asname or alias.name, f"{source}.{alias.name}" if source else alias.name
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.name, f"{module}.{statement.name}" if local else OPAQUE
        else:
            others.append(statement)
    yield from ((name, OPAQUE) for name in _assigned(others))


_BINDING = frozenset({
    "targets", "target", "items", "handlers", "value", "test", "iter", "subject", "cases", "exc", "cause", "msg",
})  # fmt: skip
_BINDING_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in fields if name in _BINDING)
    for kind, fields in CHILD_FIELDS.items()
    if issubclass(kind, ast.stmt)
}


def _assigned(statements: list[ast.stmt]) -> Iterator[str]:
    """Names that statements bind themselves: targets, `for`, `with`, `except`, `case`, `del`, walrus; and those of
    comprehensions and lambdas in them, which have no scope of their own here."""
    stack: list[Any] = [getattr(node, name) for node in statements for name in _BINDING_FIELDS.get(type(node), ())]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is list:
            stack.extend(node)
        elif kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                yield node.id
        elif kind is ast.ExceptHandler:
            if node.name:
                yield node.name
        elif kind is ast.match_case:
            stack += [node.pattern, node.guard]
        elif kind is ast.Lambda:
            yield from (item.arg for item in taken(node))
            stack += [node.args, node.body]
        else:
            name = node.name if kind in _CAPTURES else node.rest if kind is ast.MatchMapping else None
            if name:
                yield name
            for name in CHILD_FIELDS.get(kind, ()):
                stack.append(getattr(node, name))
