"""How many classes the predictions of a model have, where its last layer says so."""

from __future__ import annotations

import ast

from codemods.code.nodes import walk
from codemods.code.syntax import is_self_attribute, results, self_name
from codemods.rules.metrics.prediction_kind import (
    DEEPEST,
    ValueOrigin,
    criteria,
    origin,
    stores,
)
from codemods.rules.metrics.prediction_steps import Method, attribute_values, step

TENSORS = frozenset({"torch.tensor", "torch.Tensor", "torch.FloatTensor", "torch.as_tensor"})
KEEPING = ("Softmax", "LogSoftmax", "Dropout", "ReLU", "GELU", "Identity", "BatchNorm1d", "BatchNorm2d", "LayerNorm")
LAYERS = {"Linear": ("out_features", 1), "LazyLinear": ("out_features", 0), "Conv2d": ("out_channels", 1)}
FACTORIES = ("torchvision.models.", "timm.create_model")
Width = tuple[ast.expr, Method]


def width(found: ValueOrigin, depth: int = 0) -> Width | None:
    """The expression that says how many classes there are, and the method that it stands in."""
    if depth > DEEPEST:
        return None
    base, method = found.base, found.method
    if not isinstance(base, ast.Call):
        return None
    called = method.called_method(base)
    if called:
        widths = [_of_result(value, found.index, called, depth) for value in results(called.node)]
        known = [item for item in widths if item]
        same = len(known) == len(widths) and len({ast.unparse(item[0]) for item in known}) == 1
        return known[0] if same else None
    func = base.func
    if (
        found.index is None
        and isinstance(func, ast.Attribute)
        and is_self_attribute(func, func.attr, self_name(method.node))
    ):
        made = attribute_values(func.attr, method)
        return _of_layer(*made[0]) if len(made) == 1 else None
    return None


def weighed(found: ValueOrigin) -> Width | None:
    """The number of weights that are written out for a loss on classes which the same predictions go into: it has one
    for each class."""
    for criterion, given in criteria(found.method):
        last = criterion.func.attr if isinstance(criterion.func, ast.Attribute) else getattr(criterion.func, "id", "")
        place = 2 if last.islower() else 0
        named = [item.value for item in criterion.keywords if item.arg == "weight"]
        weights = [*named, *criterion.args[place : place + 1]]
        dotted = found.method.scope.resolve(weights[0].func) if weights and isinstance(weights[0], ast.Call) else None
        if given.key != found.key or dotted not in TENSORS:
            continue
        listed = weights[0].args[0] if weights[0].args else None  # type: ignore[attr-defined]
        each = listed.elts if isinstance(listed, ast.List) else []
        if len(each) > 1 and not any(isinstance(item, ast.Starred | ast.List) for item in each):
            return ast.Constant(len(each)), found.method
    return None


def _of_result(value: ast.expr, index: int | None, method: Method, depth: int) -> Width | None:
    if index is not None:
        if not isinstance(value, ast.Tuple) or len(value.elts) <= index:
            return None
        value = value.elts[index]
    unrolled = _unrolled(value, method)
    inner = origin(unrolled, method) if unrolled else None
    return width(inner, depth + 1) if inner else None


def _unrolled(value: ast.expr, method: Method) -> ast.expr | None:
    """The call of a layer behind a value, where a name is given one thing after the other without branches."""
    line = value.lineno
    while True:
        if isinstance(value, ast.Call) and (found := step(value, method)):
            value = found[1]
        elif isinstance(value, ast.Name):
            given = [item for item in method.node.body if isinstance(item, ast.Assign) and _gives(item, value.id)]
            before = [item for item in given if item.lineno < line]
            if not before or sum(stores(node, value.id) for node in walk(method.node)) != len(given):
                return None
            value, line = before[-1].value, before[-1].lineno
        else:
            return value


def _gives(statement: ast.Assign, name: str) -> bool:
    return len(statement.targets) == 1 and stores(statement.targets[0], name)


def _of_layer(value: ast.expr, method: Method) -> Width | None:
    """How many numbers a layer gives for each example."""
    if not isinstance(value, ast.Call) or any(keyword.arg is None for keyword in value.keywords):
        return None
    if any(isinstance(item, ast.Starred) for item in value.args):
        return None
    dotted = method.scope.resolve(value.func) or ""
    last = dotted.rpartition(".")[2]
    keywords = {keyword.arg: keyword.value for keyword in value.keywords}
    if dotted == "torch.nn.Sequential" or dotted.endswith("nn.modules.container.Sequential"):
        return _of_last(value.args, method)
    if dotted.startswith("torch.nn.") and last in LAYERS:
        keyword, index = LAYERS[last]
        found = keywords.get(keyword) or (value.args[index] if len(value.args) > index else None)
        return (found, method) if found else None
    if dotted.startswith(FACTORIES) and "num_classes" in keywords:
        return keywords["num_classes"], method
    return None


def _of_last(layers: list[ast.expr], method: Method) -> Width | None:
    for layer in reversed(layers):
        dotted = method.scope.resolve(layer.func) if isinstance(layer, ast.Call) else None
        if dotted and dotted.startswith("torch.nn.") and dotted.rpartition(".")[2] in KEEPING:
            continue
        return _of_layer(layer, method)
    return None
