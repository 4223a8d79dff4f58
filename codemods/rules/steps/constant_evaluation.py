"""Numbers that the text of a project decides by itself: constants, settings with a default, lengths of datasets and
loaders. A loader is counted without its data being looked at."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from codemods.code.calls import last_name, value_of
from codemods.code.literals import literal
from codemods.code.scopes import Scope, bind
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, returns, self_name
from codemods.lightning.facts import Facts
from codemods.rules.steps.modules import assigned

DEEPEST = 12
STEPS = 2000
DATALOADER = "torch.utils.data.DataLoader"
OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
ROUNDS: Mapping[str, Callable[[float], int]] = {"ceil": math.ceil, "floor": math.floor, "int": int}
FILLED = ("torch.randn", "torch.rand", "torch.zeros", "torch.ones")
FIRST = ("torch.utils.data.TensorDataset",)
SIZES: Mapping[str, tuple[int, int]] = {
    "MNIST": (60_000, 10_000),
    "FashionMNIST": (60_000, 10_000),
    "KMNIST": (60_000, 10_000),
    "CIFAR10": (50_000, 10_000),
    "CIFAR100": (50_000, 10_000),
}
"""The samples for training and for testing of torchvision's datasets (torchvision 0.28's documentation)."""


@dataclass(frozen=True)
class BuiltInstance:
    """An instance of a class of the project: the class, and the call that builds it with where that stands (None
    where only its type is known, so that its settings have their defaults)."""

    file: PythonFile
    item: ClassNode
    call: ast.Call | None
    outside: KnownValues


@dataclass(frozen=True)
class KnownValues:
    """What is known where an expression stands: the names assigned there, the parameters that were given or typed, the
    `settings` of a configuration by their text, and the instance that `me` is. Each of `ranks` processes gets a share
    of the samples. `assumed` collects the settings that were taken by their default."""

    file: PythonFile
    facts: Facts
    scope: Scope
    values: Callable[[str], list[ast.expr]]
    given: Mapping[str, tuple[ast.expr, KnownValues]] = field(default_factory=dict)
    types: Mapping[str, ast.expr] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    me: str = ""
    built: BuiltInstance | None = None
    depth: int = 0
    ranks: int = 1
    assumed: list[str] = field(default_factory=list, compare=False)
    steps: Iterator[int] = field(default_factory=lambda: iter(range(STEPS)), compare=False)

    def constant(self, node: ast.expr | None) -> Any:
        """The value of an expression, None where the text does not decide it."""
        if node is None or self.depth > DEEPEST:
            return None
        known, value = literal(node)
        if known:
            return value
        if isinstance(node, ast.BinOp):
            return _computed(node.op, self.constant(node.left), self.constant(node.right))
        if isinstance(node, ast.Call):
            return self._called(node)
        found = self._found(node)
        return found[1].constant(found[0]) if found else None

    def length(self, node: ast.expr | None) -> int | None:
        """The length of a loader or dataset."""
        if node is None or self.depth > DEEPEST:
            return None
        if isinstance(node, ast.Name | ast.Attribute):
            found = self._found(node)
            return found[1].length(found[0]) if found else self._part(node)
        if not isinstance(node, ast.Call):
            return None
        dotted = self.scope.resolve(node.func) or ""
        last = dotted.rpartition(".")[2]
        if dotted == DATALOADER:
            return self._batches(node)
        if dotted in FIRST and node.args:
            return self._rows(node.args[0])
        if dotted == "torch.utils.data.Subset" and len(node.args) == 2:
            return self.length(node.args[1])
        if isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) == 1:
            return _whole(self.constant(node.args[0]))
        if dotted.startswith("torchvision.datasets.") and last in SIZES:
            train = self.constant(_argument(node, "train", 1) or ast.Constant(True))
            return SIZES[last][0 if train else 1] if type(train) is bool else None
        return self._own_length(node)

    def batches_of(self, node: ast.expr) -> int | None:
        """The batches of an epoch of what `fit` is given: a loader, or something with a `train_dataloader`."""
        built = self.instance(node)
        return batches_in(built) if built and _method(built, "train_dataloader") else self.length(node)

    def instance(self, node: ast.expr) -> BuiltInstance | None:
        """The instance of a class of the project that an expression is."""
        if self.depth > DEEPEST:
            return None
        if isinstance(node, ast.Name) and node.id == self.me:
            return self.built
        if isinstance(node, ast.Call):
            return self._class(node.func, node)
        if isinstance(node, ast.Name) and node.id in self.types and node.id not in self.given:
            return self._class(self.types[node.id], None)
        found = self._found(node)
        return found[1].instance(found[0]) if found else None

    def _class(self, node: ast.expr, call: ast.Call | None) -> BuiltInstance | None:
        dotted = self.scope.resolve(node)
        known = self.facts.find_class(dotted, self.file.path) if dotted else None
        if known is None:
            return None
        file = self.file if known.path == self.file.path else self.facts.open(known.path)
        item = next((item for item in file.classes if item.qualname == known.name), None) if file else None
        return BuiltInstance(file, item, call, self) if file and item else None

    def _deeper(self) -> KnownValues:
        return replace(self, depth=self.depth + 1)

    def _found(self, node: ast.expr) -> tuple[ast.expr, KnownValues] | None:
        """The one expression that a name or attribute stands for, and where that stands; none behind some thousand
        steps, since names that lead to each other make more ways than can be gone."""
        if next(self.steps, None) is None:
            return None
        if isinstance(node, ast.Name):
            if node.id in self.given:
                expression, where = self.given[node.id]
                return expression, replace(where, depth=self.depth + 1)
            values = self.values(node.id)
            return (values[0], self._deeper()) if len(values) == 1 else None
        if not isinstance(node, ast.Attribute):
            return None
        owner, text = node.value, ast.unparse(node)
        if text in self.settings:
            self.assumed.append(text)
            return ast.Constant(self.settings[text]), self._deeper()
        if isinstance(owner, ast.Attribute) and owner.attr == "hparams" and self.built:
            return self._deeper()._parameter(node.attr)
        built = self._deeper().instance(owner)
        if built is None:
            return self._option(owner, node.attr)
        held = attribute_of(built, node.attr)
        return (held[0], replace(held[1], depth=max(held[1].depth, self.depth + 1))) if held else None

    def _parameter(self, name: str) -> tuple[ast.expr, KnownValues] | None:
        start = _method(self.built, "__init__") if self.built else None
        return inside_of(self.built, start).given.get(name) if self.built and start else None

    def _option(self, owner: ast.expr, name: str) -> tuple[ast.expr, KnownValues] | None:
        """The default of an option of a command line."""
        values = self.values(owner.id) if isinstance(owner, ast.Name) else []
        if len(values) != 1 or not isinstance(values[0], ast.Call) or last_name(values[0].func) != "parse_args":
            return None
        found = [
            default
            for call in self.file.calls
            if last_name(call.node.func) == "add_argument"
            and any(isinstance(item, ast.Constant) and _option(item.value) == name for item in call.node.args)
            for default in [_argument(call.node, "default", None)]
            if default is not None
        ]
        if len(found) == 1:
            self.assumed.append(ast.unparse(ast.Attribute(owner, name, ast.Load())))
            return found[0], self._deeper()
        return None

    def _called(self, node: ast.Call) -> Any:
        name = last_name(node.func) or ""
        if name == "len" and len(node.args) == 1:
            return self.length(node.args[0])
        if name in ROUNDS and len(node.args) == 1:
            value = self.constant(node.args[0])
            return ROUNDS[name](value) if isinstance(value, int | float) and math.isfinite(value) else None
        return None

    def _rows(self, node: ast.expr) -> int | None:
        if self.depth > DEEPEST:
            return None
        if isinstance(node, ast.Name | ast.Attribute):
            found = self._found(node)
            return found[1]._rows(found[0]) if found else None
        dotted = self.scope.resolve(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or dotted not in FILLED or not node.args:
            return None
        first = node.args[0]
        return _whole(self.constant(first.elts[0] if isinstance(first, ast.Tuple) and first.elts else first))

    def _batches(self, node: ast.Call) -> int | None:
        names = {keyword.arg for keyword in node.keywords}
        if None in names or names & {"sampler", "batch_sampler"} or len(node.args) > 2:
            return None
        samples = self.length(_argument(node, "dataset", 0))
        size = self.constant(_argument(node, "batch_size", 1) or ast.Constant(1))
        dropped = self.constant(_argument(node, "drop_last", None) or ast.Constant(False))
        if samples is None or type(size) is not int or size < 1 or type(dropped) is not bool:
            return None
        share = math.ceil(samples / self.ranks)
        return share // size if dropped else math.ceil(share / size)

    def _own_length(self, node: ast.Call) -> int | None:
        """What `__len__` of a class of the project gives."""
        built = self._class(node.func, node)
        method = _method(built, "__len__") if built else None
        values = [item.value for item in returns(method)] if method else []
        return _whole(inside_of(built, method).constant(values[0])) if built and method and len(values) == 1 else None

    def _part(self, node: ast.Name | ast.Attribute) -> int | None:
        """The length of what `random_split` gave a name or an attribute."""
        text, deeper = ast.unparse(node), self._deeper()
        found: list[int | None] = []
        for item in self.file.assignments:
            if not isinstance(item.node, ast.Assign) or not isinstance(item.node.value, ast.Call):
                continue
            for target in item.node.targets:
                names = [ast.unparse(part) for part in target.elts] if isinstance(target, ast.Tuple) else []
                if text in names:
                    found.append(deeper._split(item.node.value, names.index(text)))
        return found[0] if len(found) == 1 else None

    def _split(self, call: ast.Call, index: int) -> int | None:
        parts = _argument(call, "lengths", 1)
        if self.scope.resolve(call.func) != "torch.utils.data.random_split" or not isinstance(parts, ast.List):
            return None
        return _whole(self.constant(parts.elts[index])) if index < len(parts.elts) else None


def batches_in(built: BuiltInstance) -> int | None:
    """The batches of an epoch of an instance with a `train_dataloader`."""
    method = _method(built, "train_dataloader")
    values = [item.value for item in returns(method)] if method else []
    return inside_of(built, method).length(values[0]) if len(values) == 1 else None


def attribute_of(built: BuiltInstance, name: str) -> tuple[ast.expr, KnownValues] | None:
    """The one expression that an instance has as an attribute: given where it is built, a field's default, what a
    property returns, or what one statement of its methods assigns."""
    fields = {
        node.target.id: node.value
        for node in built.item.node.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    if name in fields and built.call:
        index = list(fields).index(name)
        written = _argument(built.call, name, index if "__init__" not in built.item.methods else None)
        if written is not None:
            return written, built.outside
    if default := fields.get(name):
        built.outside.assumed.append(f"{built.item.node.name}.{name}")
        return default, inside_of(built, None)
    method = _method(built, name)
    if method and any(last_name(item) == "property" for item in method.decorator_list):
        values = [item.value for item in returns(method)]
        return (values[0], inside_of(built, method)) if len(values) == 1 and values[0] else None
    found = [
        (node.value, other)
        for other in built.item.methods.values()
        for node in own_nodes(other)
        if isinstance(node, ast.Assign)
        and any(is_self_attribute(target, name, self_name(other)) for target in node.targets)
    ]
    return (found[0][0], inside_of(built, found[0][1])) if len(found) == 1 else None


def inside_of(built: BuiltInstance, method: Function | None) -> KnownValues:
    """What is known inside a method of an instance (None: in the body of its class)."""
    outside = built.outside
    scope = bind(built.item.node, scope=built.item.scope)
    known = KnownValues(
        built.file,
        outside.facts,
        bind(method, scope=scope) if method else scope,
        (lambda name: values.get(name) or module.get(name, [])) if method else lambda name: module.get(name, []),
        me=self_name(method) if method else "",
        built=built,
        depth=outside.depth + 1,
        ranks=outside.ranks,
        assumed=outside.assumed,
        steps=outside.steps,
    )
    module = assigned(built.file.tree)
    values = assigned(method) if method else {}
    if method is None or method.name != "__init__":
        return known
    return replace(known, given=_arguments(built, method, known))


def _arguments(built: BuiltInstance, method: Function, known: KnownValues) -> dict[str, tuple[ast.expr, KnownValues]]:
    """What the parameters of a constructor are given, or their defaults."""
    arguments = method.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    found = {item.arg: (value, known) for item, value in pairs if value is not None}
    if built.call is None:
        return found
    if any(isinstance(item, ast.Starred) for item in built.call.args) or any(
        item.arg is None for item in built.call.keywords
    ):
        return {}
    for item, value in zip(positional[1:], built.call.args, strict=False):
        found[item.arg] = (value, built.outside)
    return found | {word.arg: (word.value, built.outside) for word in built.call.keywords if word.arg}


def _method(built: BuiltInstance | None, name: str) -> Function | None:
    return built.item.methods.get(name) if built else None


def _argument(call: ast.Call, name: str, index: int | None) -> ast.expr | None:
    """What a call gives a parameter, by name or at a position."""
    named = value_of(call, name)
    if named is not None or index is None or index >= len(call.args):
        return named
    return call.args[index]


def _option(text: Any) -> str | None:
    return text.lstrip("-").replace("-", "_") if isinstance(text, str) and text.startswith("-") else None


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


def _computed(symbol: ast.operator, left: Any, right: Any) -> Any:
    if type(left) not in (int, float) or type(right) not in (int, float):
        return None
    simple = OPERATIONS.get(type(symbol))
    if simple:
        return simple(left, right)
    if right and isinstance(symbol, ast.Div | ast.FloorDiv):
        return left / right if isinstance(symbol, ast.Div) else left // right
    return None
