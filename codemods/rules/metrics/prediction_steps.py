"""What is done to predictions before a metric is given them, and the methods that it is done in."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import cached_property

from codemods.code.scopes import Scope
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, parameters, self_assignments, self_name

NEUTRAL = ("detach", "cpu", "clone", "contiguous")
CASTS = ("float", "long", "int", "to", "type", "type_as", "double")
WHOLE = ("long", "int")
REAL = ("float", "double")
FLATTENING = ("view", "reshape", "flatten", "ravel", "squeeze")
ROWS = ("torch.flatten", "torch.ravel")
KINDS = {
    "softmax": "softmax", "log_softmax": "softmax", "sigmoid": "sigmoid", "argmax": "argmax", "max": "max",
    "exp": "exp",
}  # fmt: skip
LAYERS = {"Softmax": "softmax", "LogSoftmax": "softmax", "Sigmoid": "sigmoid"}


@dataclass(frozen=True)
class Method:
    """A function of a file, with the class that it is a method of."""

    file: PythonFile
    node: Function
    item: ClassNode | None
    scope: Scope

    @cached_property
    def bindings(self) -> list[tuple[ast.expr, ast.expr]]:
        """What the assignments of the function itself bind: target and value."""
        found: list[tuple[ast.expr, ast.expr]] = []
        for node in own_nodes(self.node):
            if isinstance(node, ast.Assign):
                found += [(target, node.value) for target in node.targets]
            elif isinstance(node, ast.AnnAssign) and node.value:
                found.append((node.target, node.value))
        return found

    def other(self, name: str) -> Method | None:
        """The method of that name of the same class."""
        node = self.item.methods.get(name) if self.item else None
        return replace(self, node=node) if node else None

    def called_method(self, call: ast.expr) -> Method | None:
        """The method of the class that a call `self(...)` or `self.name(...)` runs."""
        if not isinstance(call, ast.Call):
            return None
        own, func = self_name(self.node), call.func
        if isinstance(func, ast.Name) and func.id == own:
            return self.other("forward")
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == own:
            return self.other(func.attr)
        return None


def step(call: ast.Call, method: Method) -> tuple[str, ast.expr, int | None] | None:
    """What a call does to a tensor that stands before the metric: its kind ("" where nothing, "cast" where the type
    alone), the tensor, and the dimension."""
    func = call.func
    layer = maker(func, method)
    kind = _layer_kind(*layer) if layer else ""
    if layer and kind and len(call.args) == 1:
        return _with_dim(kind, call.args[0], layer[0].args, layer[0])
    dotted = resolved(func, method) or ""
    if dotted.startswith(("torch.", "torch.nn.functional.")) and dotted.rpartition(".")[2] in KINDS and call.args:
        return _with_dim(KINDS[dotted.rpartition(".")[2]], call.args[0], call.args[1:], call)
    if dotted or not isinstance(func, ast.Attribute):
        return None
    if func.attr in NEUTRAL:
        return "", func.value, None
    if func.attr in CASTS:
        return "cast", func.value, None
    if func.attr in KINDS:
        return _with_dim(KINDS[func.attr], func.value, call.args, call)
    return None


def maker(func: ast.expr, method: Method) -> tuple[ast.Call, Method] | None:
    """The call that makes what is called, and where it stands: in its place, in the one assignment to a name of the
    function, or as the one value of an attribute."""
    made: list[tuple[ast.expr, Method]] = [(func, method)] if isinstance(func, ast.Call) else []
    if isinstance(func, ast.Name) and func.id not in parameters(method.node):
        bound = [value for target, value in method.bindings if isinstance(target, ast.Name) and target.id == func.id]
        made = [(value, method) for value in bound]
    elif isinstance(func, ast.Attribute) and is_self_attribute(func, func.attr, self_name(method.node)):
        made = attribute_values(func.attr, method)
    found = made[0][0] if len(made) == 1 else None
    return (found, made[0][1]) if isinstance(found, ast.Call) else None


def _layer_kind(made: ast.Call, method: Method) -> str:
    dotted = resolved(made.func, method) or ""
    return LAYERS.get(dotted.rpartition(".")[2], "") if dotted.startswith("torch.nn.") else ""


def _with_dim(
    kind: str, inner: ast.expr, rest: list[ast.expr], call: ast.Call
) -> tuple[str, ast.expr, int | None] | None:
    given = [*rest, *(item.value for item in call.keywords if item.arg in ("dim", "axis"))]
    if kind in ("sigmoid", "exp"):
        return (kind, inner, None) if not given else None
    try:
        dim = ast.literal_eval(given[0]) if given else None
    except ValueError:
        return None
    every = kind == "argmax" and isinstance(dim, int) and dim > 0
    return (kind, inner, dim) if dim in (1, -1) or every else None


def resolved(node: ast.expr, method: Method) -> str | None:
    return method.scope.resolve(node) if isinstance(node, ast.Name | ast.Attribute) else None


def attribute_values(name: str, method: Method) -> list[tuple[ast.expr, Method]]:
    """What the methods of the class give an attribute of the instance."""
    found = []
    for function in method.item.methods.values() if method.item else ():
        for node in self_assignments(function, name):
            if node.value:
                found.append((node.value, replace(method, node=function)))
    return found


def stays(cast: ast.Call, kind: str) -> bool:
    """Whether a metric takes for the same what is of another type, or elsewhere, than the predictions of that kind."""
    name = cast.func.attr if isinstance(cast.func, ast.Attribute) else ""
    if name == "to":
        given = [*cast.args, *(item.value for item in cast.keywords)]
        return len(given) == 1 and _is_device(given[0])
    return name in (WHOLE if kind == "argmax" else REAL)


def _is_device(node: ast.expr) -> bool:
    last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return last == "device" or (isinstance(node, ast.Constant) and str(node.value).startswith(("cuda", "cpu")))


def flattened(call: ast.Call, method: Method) -> ast.expr | None:
    """The tensor that a call puts into one row: `x.view(-1)`, `x.flatten()`, `torch.ravel(x)` and the like."""
    func, given = call.func, [ast.unparse(item) for item in (*call.args, *call.keywords)]
    if resolved(func, method) in ROWS:
        return call.args[0] if len(given) == len(call.args) == 1 else None
    if not isinstance(func, ast.Attribute) or func.attr not in FLATTENING:
        return None
    return func.value if given == ([] if func.attr in ("flatten", "ravel", "squeeze") else ["-1"]) else None
