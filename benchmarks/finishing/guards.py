"""Leaves out what does not run on the installed Lightning: code under a check of its version, or of torchmetrics', or
behind an import."""

from __future__ import annotations

import ast
import importlib.metadata
import operator
from collections.abc import Callable, Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from benchmarks.finishing.installed import MISSING, PACKAGES, find, first_missing, signature

DISTRIBUTIONS = ("pytorch-lightning", "pytorch_lightning", "lightning", "lightning-fabric")
PARSERS = ("Version", "LooseVersion", "StrictVersion", "parse_version", "parse")
PLAIN: dict[str, Callable[..., Any]] = {"int": int, "float": float, "str": str, "tuple": tuple, "list": list}
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
NOT_THERE = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")

REFUSED = ("TypeError", "AttributeError", "Exception", "BaseException")


class Unknown(Exception):
    """The expression asks something else than the version of Lightning."""


class Guards(ast.NodeTransformer):
    """Takes out of a tree what the installed release does not run."""

    def __init__(self, tree: ast.Module) -> None:
        self.imported = dict(_imported(tree))
        self.assigned = dict(_assigned(tree))

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        holds = self.holds(node.test)
        if holds is None:
            return node
        return (node.body if holds else node.orelse) or ast.copy_location(ast.Pass(), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        holds = self.holds(node.test)
        return node if holds is None else node.body if holds else node.orelse

    def visit_Try(self, node: ast.Try) -> Any:
        self.generic_visit(node)
        fallback = next((each for each in node.handlers if _catches(each, REFUSED)), None)
        other = fallback and not isinstance(fallback.body[-1], ast.Raise | ast.Pass)
        if fallback and other and any(map(self._is_refused, node.body)):
            return [*fallback.body, *node.finalbody]
        if not any(_catches(handler) for handler in node.handlers):
            return node
        asked = [name for statement in node.body for name in _lightning_names(statement)]
        if not asked and any(self._reads_missing(statement) for statement in node.body):
            return next(handler for handler in node.handlers if _catches(handler)).body
        if asked and not any(find(name) is MISSING for name in asked):
            node.handlers = [handler for handler in node.handlers if not _catches(handler)]
            return node if node.handlers or node.finalbody else [*node.body, *node.orelse]
        if asked:
            caught = next(handler for handler in node.handlers if _catches(handler))
            if not isinstance(caught.body[-1], ast.Raise):
                return [*caught.body, *node.finalbody]
        return node

    def _is_refused(self, statement: ast.stmt) -> bool:
        """Whether a statement calls something of Lightning with a keyword that it does not take, or sets hparams."""
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "self.hparams":
            return True
        calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
        return any(self._takes_less(each) for each in calls)

    def _takes_less(self, call: ast.Call) -> bool:
        root, _, rest = ast.unparse(call.func).partition(".")
        target = find(f"{self.imported.get(root, '')}.{rest}".strip("."))
        taken = signature(target) if callable(target) else None
        if taken is None or any(each.kind is each.VAR_KEYWORD for each in taken.parameters.values()):
            return False
        return any(item.arg and item.arg not in taken.parameters for item in call.keywords)

    def _reads_missing(self, statement: ast.stmt) -> bool:
        """Whether a statement reads a name off Lightning that is not there."""
        chains = [ast.unparse(each) for each in ast.walk(statement) if isinstance(each, ast.Attribute)]
        roots = ((self.imported.get(chain.split(".")[0], ""), chain.partition(".")[2]) for chain in chains)
        return any(root.split(".")[0] in PACKAGES and first_missing(f"{root}.{rest}") for root, rest in roots)

    def holds(self, test: ast.expr) -> bool | None:
        """Whether a condition holds on the installed release; None where it asks something else."""
        if isinstance(test, ast.BoolOp):
            parts = [self.holds(part) for part in test.values]
            settles = isinstance(test.op, ast.Or)
            if settles in parts:
                return settles
            return None if None in parts else not settles
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.holds(test.operand)
            return None if inner is None else not inner
        try:
            return bool(self.value(test)) if self.asks(test, 0) else None
        except (Unknown, ValueError, TypeError, AttributeError, IndexError):
            return None

    def asks(self, node: ast.expr, depth: int) -> bool:
        """Whether the version of Lightning or torchmetrics is a part of the expression."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Attribute | ast.Name) and self.version(inner) is not None:
                return True
            if isinstance(inner, ast.Constant) and str(inner.value).startswith(DISTRIBUTIONS):
                return True
            assigned = self.assigned.get(inner.id) if isinstance(inner, ast.Name) and depth < 4 else None
            if assigned and self.asks(assigned, depth + 1):
                return True
        return False

    def version(self, node: ast.expr) -> str | None:
        dotted = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name) else ""
        root, _, rest = dotted.partition(".")
        full = f"{self.imported.get(root, '')}.{rest}".strip(".")
        if full == "torchmetrics.__version__":
            return str(importlib.metadata.version("torchmetrics"))
        is_version = full.split(".")[0] in PACKAGES and full.rpartition(".")[2] == "__version__"
        return str(importlib.metadata.version("pytorch-lightning")) if is_version else None

    def value(self, node: ast.expr, depth: int = 0) -> Any:
        """The value of an expression of constants and the version. Raises Unknown."""
        if depth > 12:
            raise Unknown
        if (version := self.version(node)) is not None:
            return version
        match node:
            case ast.Constant(value):
                return value
            case ast.Tuple(elements) | ast.List(elements):
                values = [self.value(each, depth + 1) for each in elements]
                return tuple(values) if isinstance(node, ast.Tuple) else values
            case ast.Name(name) if name in self.assigned:
                return self.value(self.assigned[name], depth + 1)
            case ast.Compare(left, operators, right):
                values = [self.value(each, depth + 1) for each in (left, *right)]
                pairs = zip(operators, values, values[1:], strict=False)
                return all(COMPARED[type(each)](*_alike(a, b)) for each, a, b in pairs)
            case ast.Subscript(value, index):
                return self.value(value, depth + 1)[self._index(index, depth)]
            case ast.Attribute(value, name) if name in ("major", "minor", "micro", "release", "version"):
                held = _parsed(self.value(value, depth + 1))
                return held.release if name == "version" else getattr(held, name)
            case ast.Call(function, arguments):
                return self._called(function, arguments, depth)
        raise Unknown

    def _index(self, index: ast.expr, depth: int) -> Any:
        if isinstance(index, ast.Slice):
            ends = (index.lower, index.upper, index.step)
            return slice(*(self.value(end, depth + 1) if end else None for end in ends))
        return self.value(index, depth + 1)

    def _called(self, function: ast.expr, arguments: list[ast.expr], depth: int) -> Any:
        name = ast.unparse(function).rpartition(".")[2]
        if name == "version" and len(arguments) == 1:
            if self.value(arguments[0], depth + 1) in DISTRIBUTIONS:
                return importlib.metadata.version("pytorch-lightning")
            raise Unknown
        if name == "map" and len(arguments) == 2 and ast.unparse(arguments[0]) in PLAIN:
            return [PLAIN[ast.unparse(arguments[0])](each) for each in self.value(arguments[1], depth + 1)]
        if name == "RequirementCache":
            asked = Requirement(str(self.value(arguments[0], depth + 1)))
            if asked.name not in DISTRIBUTIONS:
                raise Unknown
            return asked.specifier.contains(importlib.metadata.version("pytorch-lightning"))
        if isinstance(function, ast.Attribute) and name in ("split", "startswith", "strip", "rpartition"):
            return getattr(str(self.value(function.value, depth + 1)), name)(*(self.value(a) for a in arguments))
        values = [self.value(each, depth + 1) for each in arguments]
        if name in PARSERS:
            return _parsed(*values)
        if name in PLAIN:
            return PLAIN[name](*values)
        raise Unknown


def _parsed(value: Any) -> Version:
    return value if isinstance(value, Version) else Version(str(value))


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """A version and a text become two versions."""
    if isinstance(one, Version) or isinstance(other, Version):
        return _parsed(one), _parsed(other)
    return one, other


def _catches(handler: ast.ExceptHandler, errors: tuple[str, ...] = NOT_THERE) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(each).rpartition(".")[2] in errors for each in types)


def _lightning_names(statement: ast.stmt) -> list[str]:
    """The names of Lightning that a statement imports."""
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        names = [f"{statement.module}.{alias.name}" if alias.name != "*" else str(statement.module)
                 for alias in statement.names]  # fmt: skip
    else:
        names = []
    return [name for name in names if name.split(".")[0] in PACKAGES]


def _imported(tree: ast.Module) -> Mapping[str, str]:
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return found


def _assigned(tree: ast.Module) -> Mapping[str, ast.expr]:
    """The names that are assigned once in the whole file."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}
