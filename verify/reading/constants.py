"""Whole numbers, and rows of them, as a project's code writes them: literals, names, small calculations."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

DEPTH = 8
LONGEST = 5
"""As many dimensions as a batch of videos has."""
_BOUND = 10**9
_CALCULATED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
}  # fmt: skip
_SETTINGS = frozenset(
    {"self", "cls", "args", "opt", "opts", "hparams", "hp", "cfg", "conf", "config", "params", "FLAGS"}
)
"""What settings are taken from by their names."""


@dataclass(frozen=True)
class ConstantNames:
    """What names stand for: what is assigned to them around a place, the innermost last, and the project's values of
    its settings."""

    assigned: Mapping[str, Sequence[ast.expr]]
    values: Mapping[str, Sequence[object]]

    @classmethod
    def of(cls, tree: ast.Module, values: Mapping[str, Sequence[object]]) -> ConstantNames:
        """The names of a file outside its functions and classes."""
        return cls(_assigned(tree), values)

    def within(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ConstantNames:
        """The names in a function: a parameter is what it is by default."""
        every = function.args
        inner: dict[str, Sequence[ast.expr]] = dict(self.assigned)
        inner |= {each.arg: () for each in (*every.posonlyargs, *every.args, *every.kwonlyargs)}
        inner |= {name: [default] for name, default in _defaults(function)}
        for name, values in _assigned(function).items():
            inner[name] = [*inner.get(name, ()), *values]
        return ConstantNames(inner, self.values)

    def at(self, node: ast.Name) -> ast.expr | None:
        """What was last assigned to a name before the line that it stands in."""
        found = self.assigned.get(node.id, ())
        return next((value for value in reversed(found) if value.lineno < node.lineno), None)


def number(node: ast.expr, names: ConstantNames, depth: int = 0) -> int | None:
    """The whole number that an expression is; None where it cannot be told."""
    if depth > DEPTH:
        return None
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and abs(node.value) < _BOUND else None
    if isinstance(node, ast.Name):
        found = names.at(node)
        return number(found, names, depth + 1) if found is not None else None
    if isinstance(node, ast.BinOp) and (calculate := _CALCULATED.get(type(node.op))):
        left, right = number(node.left, names, depth + 1), number(node.right, names, depth + 1)
        if left is None or right is None or (right == 0 and isinstance(node.op, ast.FloorDiv)):
            return None
        result = calculate(left, right)
        return result if abs(result) < _BOUND else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1:
        return number(node.args[0], names, depth + 1)
    value = _setting(node, names)
    return value if type(value) is int and abs(value) < _BOUND else None


def sizes(node: ast.expr, names: ConstantNames, depth: int = 0) -> tuple[int, ...] | None:
    """The whole numbers of a tuple or list, above 0 and as many as a tensor may have dimensions; None where one cannot
    be told."""
    if depth > DEPTH:
        return None
    if isinstance(node, ast.Name):
        found = names.at(node)
        return sizes(found, names, depth + 1) if found is not None else None
    if isinstance(node, ast.Tuple | ast.List):
        return _listed(node.elts, names, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = sizes(node.left, names, depth + 1), sizes(node.right, names, depth + 1)
        return _checked([*left, *right]) if left and right else None
    if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) in ("tuple", "list", "torch.Size"):
        return sizes(node.args[0], names, depth + 1)
    value = _setting(node, names)
    items = value.get("items") if isinstance(value, dict) and value.get("@") == "tuple" else value
    return _checked(items) if isinstance(items, list) and all(type(item) is int for item in items) else None


def _listed(elements: Sequence[ast.expr], names: ConstantNames, depth: int) -> tuple[int, ...] | None:
    found: list[int] = []
    for each in elements[: LONGEST + 1]:
        inner = sizes(each.value, names, depth + 1) if isinstance(each, ast.Starred) else None
        one = None if isinstance(each, ast.Starred) else number(each, names, depth + 1)
        if inner is None and one is None:
            return None
        found += inner or ([one] if one is not None else [])
    return _checked(found)


def _checked(found: Sequence[int]) -> tuple[int, ...] | None:
    return tuple(found) if 0 < len(found) <= LONGEST and all(0 < size < _BOUND for size in found) else None


def _setting(node: ast.expr, names: ConstantNames) -> object:
    """The project's value of a setting: `args.size`, `self.hparams.size`, `config["size"]`."""
    key: object = node.attr if isinstance(node, ast.Attribute) else None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        key = node.slice.value
    of = node
    while isinstance(of, ast.Attribute | ast.Subscript):
        of = of.value
    if not isinstance(key, str) or not isinstance(of, ast.Name) or of.id not in _SETTINGS:
        return None
    return next(iter(names.values.get(key, ())), None)


# -- assignments


def entries(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a node itself gives names to: variables and attributes, parameters, arguments, keys."""
    for target, value in _assignments(node):
        yield target.id if isinstance(target, ast.Name) else target.attr, value
    if isinstance(node, ast.Call):
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from _defaults(node)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value


def _assignments(node: ast.AST) -> Iterator[tuple[ast.Name | ast.Attribute, ast.expr]]:
    """What an assignment gives to variables and attributes, also to several at once."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    left = [(target, value) for target in reversed(targets) if value]
    while left:
        one, other = left.pop()
        if isinstance(one, ast.Name | ast.Attribute):
            yield one, other
        elif isinstance(one, ast.Tuple) and isinstance(other, ast.Tuple) and len(one.elts) == len(other.elts):
            left.extend(reversed(list(zip(one.elts, other.elts, strict=True))))


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr]]:
    plain = [*node.args.posonlyargs, *node.args.args]
    for parameter, default in zip(plain[len(plain) - len(node.args.defaults) :], node.args.defaults, strict=True):
        yield parameter.arg, default
    for parameter, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if given is not None:
            yield parameter.arg, given


def _assigned(outer: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[ast.expr]]:
    """The values that are given to the names of a file or function itself, in the order of their lines."""
    found: dict[str, list[ast.expr]] = {}
    left: list[ast.AST] = list(reversed(outer.body))
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        for target, value in _assignments(node):
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
        left.extend(reversed(list(ast.iter_child_nodes(node))))
    return found
