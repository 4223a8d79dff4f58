"""Reading counts and constants where a Trainer is built: names of the function and the module, argparse defaults,
attributes that are assigned once."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codemods.facts import literal
from codemods.source import CallNode, PythonFile
from codemods.steps.modules import assigned
from codemods.steps.roles import Reader

DATALOADER = "torch.utils.data.DataLoader"
OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
FILLED = ("torch.randn", "torch.rand", "torch.zeros", "torch.ones")


@dataclass(frozen=True)
class Script:
    """What is known where a call stands."""

    file: PythonFile
    call: CallNode

    @property
    def space(self) -> ast.AST:
        """The function that the call stands in, or the module."""
        functions = [node for node in self.call.within if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        return functions[-1] if functions else self.file.tree

    def values(self, name: str) -> list[ast.expr]:
        """What a plain name is assigned, in the call's function or else in the module."""
        here = assigned(self.space)
        if name in here:
            return here[name]
        bound = self.space is not self.file.tree and any(
            argument.arg == name for argument in ast.walk(self.space) if isinstance(argument, ast.arg)
        )
        return [] if bound else assigned(self.file.tree).get(name, [])

    def sees(self, node: ast.Name) -> bool:
        """Whether a name means the same where the call stands as where it is written, in this function or at the
        module's top."""
        if self.space is self.file.tree or any(inner is node for inner in ast.walk(self.space)):
            return True
        return not any(
            (isinstance(inner, ast.arg) and inner.arg == node.id)
            or (isinstance(inner, ast.Name) and inner.id == node.id and not isinstance(inner.ctx, ast.Load))
            for inner in ast.walk(self.space)
        )

    def reader(self) -> Reader:
        return Reader(self.values, lambda node: False, self.call.scope.resolve)

    def follow(self, node: ast.expr) -> ast.expr:
        """The expression that a name or attribute stands for, where it is assigned once; else the node."""
        for _ in range(4):
            if isinstance(node, ast.Name):
                found = self.values(node.id)
            elif isinstance(node, ast.Attribute):
                found = self._assigned_attribute(node)
            else:
                return node
            if len(found) != 1:
                return node
            node = found[0]
        return node

    def _assigned_attribute(self, node: ast.Attribute) -> list[ast.expr]:
        text = ast.unparse(node)
        return [
            item.node.value
            for item in self.file.assignments
            if isinstance(item.node, ast.Assign)
            and item.within == self.call.within
            and any(isinstance(target, ast.Attribute) and ast.unparse(target) == text for target in item.node.targets)
        ]

    def constant(self, node: ast.expr | None, depth: int = 0) -> Any:
        """The value of an expression that the file alone decides, None where it does not."""
        if node is None or depth > 8:
            return None
        known, value = literal(node)
        if known:
            return value
        if isinstance(node, ast.Name):
            values = self.values(node.id)
            return self.constant(values[0], depth + 1) if len(values) == 1 else None
        if isinstance(node, ast.BinOp):
            return _computed(node.op, self.constant(node.left, depth + 1), self.constant(node.right, depth + 1))
        if isinstance(node, ast.Call):
            return self._called(node, depth)
        return None

    def _called(self, node: ast.Call, depth: int) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "len" and len(node.args) == 1:
            return self.length(self.follow(node.args[0]), depth + 1)
        if name in ("ceil", "floor", "int") and len(node.args) == 1:
            value = self.constant(node.args[0], depth + 1)
            if not isinstance(value, int | float) or not math.isfinite(value):
                return None
            return math.ceil(value) if name == "ceil" else math.floor(value) if name == "floor" else int(value)
        return None

    def length(self, node: ast.expr, depth: int = 0) -> int | None:
        """The length of a loader or dataset that is built from literals."""
        if depth > 8 or not isinstance(node, ast.Call):
            return None
        dotted = self.call.scope.resolve(node.func) or ""
        if dotted == DATALOADER:
            return self._batches(node, depth)
        if dotted == "torch.utils.data.TensorDataset" and node.args:
            return self._rows(self.follow(node.args[0]), depth)
        if isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) == 1:
            value = self.constant(node.args[0], depth + 1)
            return value if type(value) is int else None
        return None

    def fits(self) -> list[ast.Call]:
        """The `fit` calls of the file."""
        return [
            call.node
            for call in self.file.calls
            if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "fit"
        ]

    def trained_on(self) -> ast.expr | None:
        """What the file's one `fit` is given to train on."""
        fits = self.fits()
        if len(fits) != 1:
            return None
        names = ("train_dataloaders", "train_dataloader", "datamodule")
        named = next((item.value for item in fits[0].keywords if item.arg in names), None)
        return fits[0].args[1] if len(fits[0].args) > 1 else named

    def trained_batches(self) -> int | None:
        """The number of batches that the file's one `fit` trains on in an epoch, on one device."""
        loader = self.trained_on()
        return self.length(self.follow(loader)) if loader is not None else None

    def _rows(self, node: ast.expr, depth: int) -> int | None:
        dotted = self.call.scope.resolve(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or dotted not in FILLED or not node.args:
            return None
        first = node.args[0]
        rows = self.constant(first.elts[0] if isinstance(first, ast.Tuple) and first.elts else first, depth + 1)
        return rows if type(rows) is int else None

    def _batches(self, node: ast.Call, depth: int) -> int | None:
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        dataset = node.args[0] if node.args else given.get("dataset")
        if dataset is None or None in given or set(given) & {"sampler", "batch_sampler"} or len(node.args) > 2:
            return None
        samples = self.length(self.follow(dataset), depth + 1)
        size = self.constant(
            node.args[1] if len(node.args) > 1 else given.get("batch_size", ast.Constant(1)), depth + 1
        )
        dropped = self.constant(given.get("drop_last", ast.Constant(False)), depth + 1)
        if samples is None or type(size) is not int or size < 1 or type(dropped) is not bool:
            return None
        return samples // size if dropped else math.ceil(samples / size)


def _computed(symbol: ast.operator, left: Any, right: Any) -> Any:
    if type(left) not in (int, float) or type(right) not in (int, float):
        return None
    simple = OPERATIONS.get(type(symbol))
    if simple:
        return simple(left, right)
    if right and isinstance(symbol, ast.Div | ast.FloorDiv):
        return left / right if isinstance(symbol, ast.Div) else left // right
    return None
