"""GRD005: modules in a plain list, tuple or dict, which torch does not see."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from codemods.facts import Facts
from codemods.gradients.find import is_module
from codemods.gradients.names import TRAINED
from codemods.gradients.taken import TAKEN
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.source import ClassNode, PythonFile
from codemods.syntax import Function, is_self_attribute, own_nodes, self_name, uses

CODE = "GRD005"
NESTED = (ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.DictComp)
Container = ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.DictComp
LIST_METHODS = frozenset({"append", "extend", "insert", "pop"})
DICT_METHODS = frozenset({"keys", "values", "items", "pop", "update", "clear"})
READERS = frozenset({"len", "enumerate", "zip", "reversed", "iter", "list", "tuple", "sum", "map", "range", "print"})
DICT_READERS = READERS - {"zip", "sum", "map", "range"}
REASON = (
    "the modules get their parameters to `parameters()` and with it to the optimizer, the device and the checkpoint. "
    "Checkpoints written before do not hold them: they were not trained or saved."
)
ADVICE = "make it nn.ModuleList or nn.ModuleDict where these layers are to be trained"


@dataclass(frozen=True)
class Held:
    """An attribute that a constructor gives a container of modules: the method, the container as it is written,
    and the class's name of each module that is put into it."""

    item: ClassNode
    method: Function
    name: str
    node: ast.expr
    dotted: tuple[str, ...]
    nested: bool

    @property
    def is_dict(self) -> bool:
        return isinstance(self.node, ast.Dict | ast.DictComp)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    trained = {path: set(names) for path, (names, _) in facts.collected(CODE).items()}
    for item in file.classes:
        if not is_module(facts, f"{file.module}.{item.qualname}", file.path):
            continue
        for held in _containers(item):
            if all(_is_trained(dotted, file, facts, trained) for dotted in held.dotted):
                match = _match(file, facts, held)
                if match:
                    yield match


def _is_trained(dotted: str, file: PythonFile, facts: Facts, trained: Mapping[str, set[str]]) -> bool:
    """Whether a class is a module with parameters of its own."""
    if dotted in TRAINED:
        return True
    if dotted.startswith("torch.nn.") or not is_module(facts, dotted, file.path):
        return False
    fact = facts.find_class(dotted, file.path)
    return fact is not None and any(other.name in trained.get(other.path, ()) for other in facts.ancestry(fact))


def _match(file: PythonFile, facts: Facts, held: Held) -> Match | None:
    used = list(_uses(held))
    if _is_hidden(held, used):
        return None
    kind = "ModuleDict" if held.is_dict else "ModuleList"
    shape = "dict" if held.is_dict else "tuple" if isinstance(held.node, ast.Tuple) else "list"
    message = f"`self.{held.name}` is a plain {shape} of modules: their parameters are never trained, moved or saved"
    why = _refused(file, facts, held, used)
    if why:
        return Match(file.span(held.node), message, "manual", f"{why}; {ADVICE}")
    spelled = _spelled(file, held)
    imports = () if spelled else (("torch", None),)
    name = f"{spelled or 'torch.nn'}.{kind}"
    edit = NodeEdit(_statement(held), lambda statement: _wrapped(statement, name))
    return Match(file.span(held.node), message, "safe", REASON, edits=(edit,), imports=imports)


def _statement(held: Held) -> ast.stmt:
    return next(
        node
        for node in own_nodes(held.method)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is held.node
    )


def _spelled(file: PythonFile, held: Held) -> str | None:
    """How the file calls torch.nn."""
    for name, targets in file.scope.bindings.items():
        if targets == frozenset({"torch.nn"}):
            return name
    return "torch.nn" if file.scope.bindings.get("torch") == frozenset({"torch"}) else None


# -- what is put in


def _containers(item: ClassNode) -> Iterator[Held]:
    """The containers of modules that the constructor of a class keeps."""
    method = item.methods.get("__init__")
    if method is None:
        return
    me = self_name(method)
    for node in own_nodes(method):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AnnAssign) else target
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Attribute) or not is_self_attribute(target, target.attr, me):
            continue
        local = _local(method, value, node) if isinstance(value, ast.Name) else None
        if value is None or (local is None and not isinstance(value, Container)):
            continue
        elements = local if local is not None else [*_written(value), *_added(item, method, target.attr)]
        flat = [inner for element in elements for inner in _flat(element)]
        dotted = [item.scope.resolve(element.func) if isinstance(element, ast.Call) else None for element in flat]
        built = [name for name in map(_class_of, dotted, flat, [item] * len(flat)) if name]
        if flat and len(built) == len(flat):
            yield Held(item, method, target.attr, value, tuple(built), any(isinstance(e, NESTED) for e in elements))


def _local(method: Function, name: ast.Name, kept: ast.AST) -> list[ast.expr] | None:
    """What is put into a local list that does nothing but grow before it is kept; None where it does more."""
    values = [
        node.value
        for node in own_nodes(method)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name.id for t in node.targets)
    ]
    if len(values) != 1 or not isinstance(values[0], ast.List | ast.ListComp):
        return None
    grown = [
        node.args[0]
        for node in own_nodes(method)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == name.id
        and len(node.args) == 1
        and node.lineno < name.lineno
    ]
    loads = [node for node in uses(method, name.id) if isinstance(node.ctx, ast.Load)]
    if len(loads) != len(grown) + 1:
        return None
    return [*_written(values[0]), *(_given(method, element) for element in grown)]


def _class_of(dotted: str | None, node: ast.expr, item: ClassNode) -> str | None:
    """The class of a module that an expression builds; of nn.Sequential, that of the first part with parameters."""
    if dotted == "torch.nn.Sequential" and isinstance(node, ast.Call):
        inside = [item.scope.resolve(part.func) for part in node.args if isinstance(part, ast.Call)]
        return next((name for name in inside if name in TRAINED), None)
    return dotted


def _written(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple):
        return list(node.elts)
    if isinstance(node, ast.Dict):
        return list(node.values)
    if isinstance(node, ast.ListComp):
        return [node.elt]
    return [node.value] if isinstance(node, ast.DictComp) else []


def _flat(node: ast.expr) -> list[ast.expr]:
    return [inner for element in _written(node) for inner in _flat(element)] if isinstance(node, NESTED) else [node]


def _added(item: ClassNode, method: Function, name: str) -> list[ast.expr]:
    """What a constructor adds to a list, or puts into a dict; a name stands for what it is given, once."""
    me = self_name(method)
    found: list[ast.expr] = []
    for node in own_nodes(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if is_self_attribute(node.func.value, name, me) and node.func.attr in ("append", "insert") and node.args:
                found.append(node.args[-1])
        elif isinstance(node, ast.Assign) and _put_under(node, name, me) is not None:
            found.append(node.value)
    return [_given(method, element) for element in found]


def _put_under(node: ast.Assign, name: str, me: str) -> ast.expr | None:
    """The key in `self.name[key] = value`."""
    target = node.targets[0]
    stored = isinstance(target, ast.Subscript) and is_self_attribute(target.value, name, me)
    return target.slice if stored and isinstance(target, ast.Subscript) and len(node.targets) == 1 else None


def _given(method: Function, node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Name):
        return node
    values = [
        item.value
        for item in own_nodes(method)
        if isinstance(item, ast.Assign)
        and len(item.targets) == 1
        and isinstance(item.targets[0], ast.Name)
        and item.targets[0].id == node.id
    ]
    return values[0] if len(values) == 1 else node


# -- how it is used


@dataclass(frozen=True)
class Use:
    """A mention of the attribute, and what stands around it, innermost first."""

    node: ast.Attribute
    around: tuple[ast.AST, ...]
    method: Function


def _uses(held: Held) -> Iterator[Use]:
    for method in held.item.methods.values():
        parents = {child: node for node in ast.walk(method) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and is_self_attribute(node, held.name, self_name(method)):
                around = []
                parent = parents.get(node)
                while parent is not None and parent is not method:
                    around.append(parent)
                    parent = parents.get(parent)
                yield Use(node, tuple(around), method)


def _is_hidden(held: Held, uses: list[Use]) -> bool:
    """Whether the modules are registered in another way, given another place later, or kept out on purpose."""
    if sum(isinstance(use.node.ctx, ast.Store) for use in uses) > 1:
        return True
    for node in ast.walk(held.item.node):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in ("add_module", "register_module", "setattr", "__setattr__"):
                return True
            inside = [item for item in ast.walk(node) if isinstance(item, ast.Attribute) and item.attr == held.name]
            if inside and name in ("ModuleList", "ModuleDict", "Sequential"):
                return True
    return not any(use.method is not held.method for use in uses)


def _refused(file: PythonFile, facts: Facts, held: Held, uses: list[Use]) -> str:
    """Why a container is not registered; empty where it is."""
    if held.nested:
        return "the modules lie in a container inside a container"
    if any(isinstance(element, ast.Starred) for element in _written(held.node)):
        return "it is put together from another container"
    if held.is_dict and (why := _bad_keys(held)):
        return why
    if isinstance(held.node, ast.Tuple) and any(use.around and isinstance(use.around[0], ast.BinOp) for use in uses):
        return "the tuple is added to another one"
    for use in uses:
        if not isinstance(use.node.ctx, ast.Store) and (why := _odd(held, use)):
            return f"{why} in line {use.node.lineno}"
    others = [node for node in file.attributes(held.name) if _is_foreign(node)]
    if others:
        return f"`.{held.name}` is used outside of the class in line {others[0].lineno}"
    fact = facts.find_class(f"{file.module}.{held.item.qualname}", file.path)
    if fact is None or next(facts.subclasses(fact), None):
        return "a subclass may use it as what it is"
    for node in ast.walk(held.method):
        if isinstance(node, ast.Call) and node is not None and _is_late_init(held, node):
            return "it is assigned before `super().__init__()`"
    return ""


def _is_foreign(node: ast.Attribute) -> bool:
    return not (isinstance(node.value, ast.Name) and node.value.id == "self")


def _is_late_init(held: Held, node: ast.Call) -> bool:
    function = node.func
    late = isinstance(function, ast.Attribute) and function.attr == "__init__" and node.lineno > held.node.lineno
    return late and isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call | ast.Name)


def _bad_keys(held: Held) -> str:
    keys = list(held.node.keys) if isinstance(held.node, ast.Dict) else [getattr(held.node, "key", None)]
    for node in own_nodes(held.method):
        key = _put_under(node, held.name, self_name(held.method)) if isinstance(node, ast.Assign) else None
        keys += [key] if key is not None else []
    for key in keys:
        value = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(value, str):
            return "its keys are not seen to be strings, as nn.ModuleDict wants them"
        if not value or "." in value or value in TAKEN or value.startswith("_"):
            return f"nn.ModuleDict does not take the key {value!r}"
    return ""


def _odd(held: Held, use: Use) -> str:
    """What is done to the container that a registered one would not take, or that says it is kept out on purpose."""
    if any(_switches_off(item) for item in use.around):
        return "it runs without gradients"
    loops = [item for item in use.around if isinstance(item, ast.For | ast.comprehension | ast.ListComp)]
    if any("parameters" in _attributes(item) or "requires_grad" in _attributes(item) for item in use.around[:-1]):
        return "its parameters are handed on by hand"
    if any({"eval", "freeze", "requires_grad_", "to", "cuda"} & _attributes(item) for item in loops):
        return "its modules are set up by hand"
    parent = use.around[0] if use.around else None
    outer = use.around[1] if len(use.around) > 1 else None
    if isinstance(parent, ast.For | ast.comprehension):
        return "" if parent.iter is use.node else "it is used in a way that is not followed"
    if isinstance(parent, ast.Subscript):
        return "it is sliced" if held.is_dict and isinstance(parent.slice, ast.Slice) else _stored(parent)
    if isinstance(parent, ast.Starred):
        return ""
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        allowed = DICT_READERS if held.is_dict else READERS
        return "" if parent.func.id in allowed else f"it is handed to `{parent.func.id}`"
    if isinstance(parent, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is parent:
        if parent.attr in (DICT_METHODS if held.is_dict else LIST_METHODS):
            changes = parent.attr not in ("keys", "values", "items") and use.method is not held.method
            return "it is changed after the constructor" if changes else ""
        return f"`.{parent.attr}` is called on it"
    if isinstance(parent, ast.Compare) and held.is_dict and isinstance(parent.ops[0], ast.In | ast.NotIn):
        return ""
    return "it is used in a way that is not followed"


def _stored(node: ast.Subscript) -> str:
    return "" if isinstance(node.ctx, ast.Load) or isinstance(node.slice, ast.Constant) else "its parts are replaced"


def _attributes(node: ast.AST) -> set[str]:
    return {item.attr for item in ast.walk(node) if isinstance(item, ast.Attribute)}


def _switches_off(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        name in _attributes(item.context_expr) for item in node.items for name in ("no_grad", "inference_mode")
    )


def _wrapped(statement: Any, name: str) -> Any:
    """The assignment with its value in the container of that name."""
    import libcst as cst

    value = statement.value
    if isinstance(value, cst.Tuple) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    empty = isinstance(value, cst.List | cst.Dict) and not value.elements
    arguments = [] if empty else [cst.Arg(value)]
    changes: dict[str, Any] = {"value": cst.Call(cst.parse_expression(name), arguments)}
    if isinstance(statement, cst.AnnAssign):
        changes["annotation"] = cst.Annotation(cst.parse_expression(name))
    return statement.with_changes(**changes)


# -- what other files have to know


def collect(file: PythonFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The file's classes that build a module or parameter in their own code, and the classes that it puts into
    containers."""
    wanted = {
        name.rpartition(".")[2]
        for item in file.classes
        for held in _containers(item)
        for name in held.dotted
        if not name.startswith("torch.")
    }
    inside = {
        item.qualname
        for item in file.classes
        if any(
            item.scope.resolve(node.func) in TRAINED | {"torch.nn.Parameter"}
            for node in ast.walk(item.node)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name)
        )
    }
    return tuple(sorted(inside)), tuple(sorted(wanted))


def context(collected: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> tuple[bytes, ...]:
    """Files that define or hand on one of the classes are read too."""
    return tuple(sorted({name.encode() for _, names in collected.values() for name in names}))


_HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
"""
_TAIL = """
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
_LIST = _HEAD + "        self.layers = [nn.Linear(4, 4) for _ in range(depth)]\n" + _TAIL
_LISTED = _HEAD + "        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(depth)])\n" + _TAIL
_LOCAL = (
    _HEAD
    + "        layers = []\n        for _ in range(depth):\n            layers.append(nn.Linear(4, 4))\n"
    + "        self.layers = layers\n"
    + _TAIL
)
_GROWN = (
    _HEAD
    + "        self.layers = []\n        for _ in range(depth):\n            self.layers.append(nn.Linear(4, 4))\n"
    + _TAIL
)
_HEADS = (
    _HEAD
    + '        self.heads = {"a": nn.Linear(4, 1), "b": nn.Linear(4, 2)}\n'
    + "\n    def forward(self, x):\n        return {name: head(x) for name, head in self.heads.items()}\n"
)
_AGAIN = _GROWN.replace("\n    def forward", "        self.layers = nn.Sequential(*self.layers)\n\n    def forward")
_LOSSES = _LIST.replace("[nn.Linear(4, 4) for _ in range(depth)]", "[nn.MSELoss(), nn.L1Loss()]")

RULE = Rule(
    code=CODE,
    name="unregistered-modules",
    summary="a list or dict of layers becomes `nn.ModuleList` or `nn.ModuleDict`",
    why=(
        "torch registers modules that are attributes, not those that lie in a plain list, tuple or dict: their "
        "parameters are missing from `parameters()`, so that the optimizer never trains them, `.to(device)` leaves "
        "them behind and checkpoints do not hold them. Nothing fails on a CPU. Layers that are registered in another "
        "way, given another container later, or handed to the optimizer by hand are left alone."
    ),
    fix="safe",
    versions="every Lightning",
    triggers=(b"nn.Module", b"LightningModule", b"import Module"),
    check=_check,
    collect=collect,
    context=context,
    examples=(
        Example(_LIST, _LISTED),
        Example(_GROWN, _GROWN.replace("self.layers = []", "self.layers = nn.ModuleList()")),
        Example(
            _HEADS,
            _HEADS.replace('{"a": nn.Linear(4, 1), "b": nn.Linear(4, 2)}',
                           'nn.ModuleDict({"a": nn.Linear(4, 1), "b": nn.Linear(4, 2)})'),
        ),
        Example(_LOCAL, _LOCAL.replace("self.layers = layers", "self.layers = nn.ModuleList(layers)")),
        Example(_AGAIN, _AGAIN),
        Example(_LOSSES, _LOSSES),
    ),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html",),
)  # fmt: skip
