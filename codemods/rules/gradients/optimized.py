"""Which attributes of a LightningModule `configure_optimizers` hands to its optimizers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.calls import value_of
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, is_self_attribute, own_nodes, self_name

OPTIMIZERS = ("torch.optim.", "transformers.", "pytorch_optimizer.", "torch_optimizer.", "timm.optim.")


@dataclass(frozen=True)
class OptimizedAttributes:
    """What the optimizers get: attributes of the module by the dotted path below it (`encoder`, `net.head`), the
    empty path for the module itself, each with the expression that names it."""

    method: Function
    paths: tuple[tuple[str, ast.expr], ...]


def given(item: ClassNode) -> OptimizedAttributes | None:
    """What the optimizers of a class get, None where that is not all seen.

    Every optimizer must be built by a call whose parameters are `something.parameters()` of the module or of its
    attributes, alone, in lists and groups, joined by `+` or chained, through names.
    """
    method = item.methods.get("configure_optimizers")
    if method is None or method.decorator_list:
        return None
    reader = _ParameterReader(item, method)
    builds = [
        node
        for node in own_nodes(method)
        if isinstance(node, ast.Call) and (item.scope.resolve(node.func) or "").startswith(OPTIMIZERS)
    ]
    calls = [node for node in builds if _is_optimizer(item, node)]
    if not calls or reader.strange:
        return None
    found: list[tuple[str, ast.expr]] = []
    for call in calls:
        first = value_of(call, "params", 0)
        paths = reader.paths(first) if first is not None else None
        if paths is None:
            return None
        found += paths
    return OptimizedAttributes(method, tuple(found))


def _is_optimizer(item: ClassNode, node: ast.Call) -> bool:
    dotted = item.scope.resolve(node.func) or ""
    return "lr_scheduler" not in dotted and dotted.rpartition(".")[2][:1].isupper()


def _grows(node: ast.AST) -> bool:
    """Whether a call adds one thing to a list that has a name."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "extend")
        and isinstance(node.func.value, ast.Name)
        and len(node.args) == 1
    )


class _ParameterReader:
    """Reads the expressions of `configure_optimizers`."""

    def __init__(self, item: ClassNode, method: Function) -> None:
        self.item, self.me = item, self_name(method)
        self.values: dict[str, list[ast.expr]] = {}
        self.grown: dict[str, list[ast.expr]] = {}
        stored: dict[str, int] = {}
        for node in own_nodes(method):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                stored[node.id] = stored.get(node.id, 0) + 1
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.values.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.values.setdefault(node.target.id, []).append(node.value)
            elif _grows(node) and isinstance(node, ast.Call):
                self.grown.setdefault(node.func.value.id, []).append(node.args[0])  # type: ignore[attr-defined]
        self.values = {
            name: [*held, *self.grown.get(name, [])]
            for name, held in self.values.items()
            if len(held) == stored[name] and (len(held) == 1 or self._grows_only(method, name))
        }
        self.strange = any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and (
                (node.func.attr in ("add_param_group", "append", "extend", "insert") and not _grows(node))
                or (isinstance(node.func.value, ast.Call) and getattr(node.func.value.func, "id", "") == "super")
            )
            for node in own_nodes(method)
        )

    def _grows_only(self, method: Function, name: str) -> bool:
        """Whether a name is assigned once, and only added to elsewhere."""
        plain = [
            node
            for node in own_nodes(method)
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        ]
        return len(plain) == 1

    def paths(self, node: ast.expr, depth: int = 0) -> list[tuple[str, ast.expr]] | None:
        """The attributes whose parameters an expression holds; None where it is not understood."""
        if depth > 8:
            return None
        if isinstance(node, ast.Name) and node.id in self.values:
            return self._joined([self.paths(item, depth + 1) for item in self.values[node.id]])
        if isinstance(node, ast.List | ast.Tuple):
            return self._joined([self.paths(item, depth + 1) for item in node.elts])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joined([self.paths(node.left, depth + 1), self.paths(node.right, depth + 1)])
        if isinstance(node, ast.Starred):
            return self.paths(node.value, depth + 1)
        if isinstance(node, ast.Dict):
            inside = [v for k, v in zip(node.keys, node.values, strict=True) if getattr(k, "value", None) == "params"]
            return self.paths(inside[0], depth + 1) if len(inside) == 1 else None
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Attribute) and (path := self._path(node)):
            return [(path, node)]
        return None

    def _call(self, node: ast.Call, depth: int) -> list[tuple[str, ast.expr]] | None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "parameters" and not node.args:
            path = self._path(function.value)
            return [(path, node)] if path is not None else None
        dotted = self.item.scope.resolve(function) or ""
        plain = isinstance(function, ast.Name) and function.id in ("list", "tuple", "set")
        if plain or dotted in ("itertools.chain", "itertools.chain.from_iterable"):
            return self._joined([self.paths(item, depth + 1) for item in node.args])
        return None

    def _path(self, node: ast.expr) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id == self.me:
            return ".".join(reversed(parts))
        return None

    @staticmethod
    def _joined(found: list[list[tuple[str, ast.expr]] | None]) -> list[tuple[str, ast.expr]] | None:
        if any(item is None for item in found):
            return None
        return [path for item in found for path in item or ()]


def assignments(item: ClassNode, name: str) -> list[tuple[Function, ast.stmt, ast.expr]]:
    """Where the methods of a class assign to an attribute: method, statement and value."""
    found: list[tuple[Function, ast.stmt, ast.expr]] = []
    for method in item.methods.values():
        for node in own_nodes(method):
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) and node.value else targets
            if any(is_self_attribute(target, name, self_name(method)) for target in targets):
                found.append((method, node, node.value))  # type: ignore[arg-type, attr-defined]
    return found
