"""GRD005: modules in a plain list, tuple or dict, which torch does not see."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from codemods.code.nodes import parents_of, walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, self_name
from codemods.lightning.facts import Facts
from codemods.lightning.layers import TRAINED
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.gradients.classes import is_module
from codemods.rules.gradients.containers import ModuleContainer, candidates, containers, put_under, written
from codemods.rules.gradients.names import KEPT_OUT, PARAMETERLESS
from codemods.rules.gradients.reserved_keys import TAKEN

CODE = "GRD005"
PARAMETER = "torch.nn.Parameter"
_MAKERS = TRAINED | {PARAMETER}
_WORDS = frozenset(name.rpartition(".")[2] for name in _MAKERS)
LIST_METHODS = frozenset({"append", "extend", "insert", "pop"})
DICT_METHODS = frozenset({"keys", "values", "items", "pop", "update", "clear"})
READERS = frozenset({"len", "enumerate", "zip", "reversed", "iter", "list", "tuple", "sum", "map", "range", "print"})
DICT_READERS = READERS - {"zip", "sum", "map", "range"}
_REGISTERING = frozenset({"add_module", "register_module", "register_parameter", "setattr", "__setattr__"})
REASON = (
    "{} in `parameters()` now, and so in the optimizer, on the device and in the checkpoint. "
    "Checkpoints written before do not hold them: they were not trained or saved."
)
ADVICE = "make it nn.{0}List or nn.{0}Dict where these {1} are to be trained"
BOTH = "give the modules a place in nn.ModuleList, the parameters one in nn.ParameterList, where they are to be trained"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    found = candidates(file)
    trained = {path: set(names) for path, (names, _) in facts.collected(CODE).items()} if found else {}
    for item in found:
        if not is_module(facts, f"{file.module}.{item.qualname}", file.path):
            continue
        for held in containers(item):
            known = [_is_trained(dotted, file, facts, trained) for dotted in held.dotted]
            if any(known) and all(
                one or dotted in PARAMETERLESS for one, dotted in zip(known, held.dotted, strict=True)
            ):
                match = _match(file, facts, held)
                if match:
                    yield match


def _is_trained(dotted: str, file: PythonFile, facts: Facts, trained: Mapping[str, set[str]]) -> bool:
    """Whether a class is a module with parameters of its own."""
    if dotted in _MAKERS:
        return True
    if dotted.startswith("torch.nn.") or not is_module(facts, dotted, file.path):
        return False
    fact = facts.find_class(dotted, file.path)
    return fact is not None and any(other.name in trained.get(other.path, ()) for other in facts.ancestry(fact))


def _match(file: PythonFile, facts: Facts, held: ModuleContainer) -> Match | None:
    used = list(_uses(held))
    if _is_hidden(held, used):
        return None
    what = "Parameter" if set(held.dotted) == {PARAMETER} else "Module"
    kind = f"{what}Dict" if held.is_dict else f"{what}List"
    shape = "dict" if held.is_dict else "tuple" if isinstance(held.node, ast.Tuple) else "list"
    alone = what == "Parameter"
    parts = "parameters: they" if alone else "modules: their parameters"
    message = f"`self.{held.name}` is a plain {shape} of {parts} are never trained, moved or saved"
    why = _refused(file, facts, held, used)
    if why:
        mixed = PARAMETER in held.dotted and not alone
        advice = BOTH if mixed else ADVICE.format(what, "parameters" if alone else "layers")
        return Match(file.span(held.node), message, "manual", f"{why}; {advice}")
    spelled = _spelled(file)
    imports = () if spelled else (("torch", None),)
    name = f"{spelled or 'torch.nn'}.{kind}"
    reason = REASON.format("the parameters are" if alone else "the parameters of the modules are")
    edit = NodeEdit(_statement(held), lambda statement: _wrapped(statement, name))
    return Match(file.span(held.node), message, "safe", reason, edits=(edit,), imports=imports)


def _statement(held: ModuleContainer) -> ast.stmt:
    return next(
        node
        for node in own_nodes(held.method)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is held.node
    )


def _spelled(file: PythonFile) -> str | None:
    """How the file calls torch.nn."""
    for name, targets in file.scope.bindings.items():
        if targets == frozenset({"torch.nn"}):
            return name
    return "torch.nn" if file.scope.bindings.get("torch") == frozenset({"torch"}) else None


# -- how it is used


@dataclass(frozen=True)
class Mention:
    """A mention of the attribute, and what stands around it, innermost first."""

    node: ast.Attribute
    around: tuple[ast.AST, ...]
    method: Function


def _uses(held: ModuleContainer) -> Iterator[Mention]:
    for method in held.item.methods.values():
        parents = parents_of(method)
        for node in walk(method):
            if isinstance(node, ast.Attribute) and is_self_attribute(node, held.name, self_name(method)):
                around = []
                parent = parents.get(node)
                while parent is not None and parent is not method:
                    around.append(parent)
                    parent = parents.get(parent)
                yield Mention(node, tuple(around), method)


def _is_hidden(held: ModuleContainer, uses: list[Mention]) -> bool:
    """Whether the modules are registered in another way, given another place later, or kept out on purpose."""
    if sum(isinstance(use.node.ctx, ast.Store) and not _is_added_to(use) for use in uses) > 1:
        return True
    for node in walk(held.item.node):
        if isinstance(node, ast.Attribute) and node.attr in ("_modules", "_parameters"):
            return True
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in _REGISTERING:
                return True
            inside = [item for item in walk(node) if isinstance(item, ast.Attribute) and item.attr == held.name]
            if inside and name in ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict"):
                return True
    if any(_are_frozen(use) for use in uses):
        return True
    return not any(use.method is not held.method for use in uses)


def _are_frozen(use: Mention) -> bool:
    """Whether a loop over the container, or over the parameters of a part of it, freezes them: it keeps them apart."""
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("requires_grad", "requires_grad_")
        for loop in use.around
        if isinstance(loop, ast.For) and use.node in set(walk(loop.iter))
        for statement in loop.body
        for node in walk(statement)
    )


def _is_added_to(use: Mention) -> bool:
    """Whether the attribute is what `+=` adds to."""
    parent = use.around[0] if use.around else None
    return isinstance(parent, ast.AugAssign) and isinstance(parent.op, ast.Add) and parent.target is use.node


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)


def _refused(file: PythonFile, facts: Facts, held: ModuleContainer, uses: list[Mention]) -> str:
    """Why a container is not registered; empty where it is."""
    if KEPT_OUT.search(held.name.lower()):
        return "its name suggests that it is kept out on purpose"
    if PARAMETER in held.dotted and set(held.dotted) != {PARAMETER}:
        return "it holds modules and parameters"
    if held.nested:
        return "the modules lie in a container inside a container"
    if any(isinstance(element, ast.Starred) for element in written(held.node)):
        return "it is put together from another container"
    if held.is_dict and (why := _bad_keys(held)):
        return why
    if isinstance(held.node, ast.Tuple) and any(use.around and isinstance(use.around[0], ast.BinOp) for use in uses):
        return "the tuple is added to another one"
    for use in uses:
        if PARAMETER in held.dotted and use.around and _is_set(use.around[0]):
            return f"an element is set in line {use.node.lineno}, which a ParameterList makes a parameter"
        if _is_added_to(use) and use.method is not held.method:
            return f"it is changed after the constructor in line {use.node.lineno}"
        if not isinstance(use.node.ctx, ast.Store) and (why := _odd(held, use)):
            return f"{why} in line {use.node.lineno}"
    others = [node for node in file.attributes(held.name) if _is_foreign(node)]
    if others:
        return f"`.{held.name}` is used outside the class in line {others[0].lineno}"
    fact = facts.find_class(f"{file.module}.{held.item.qualname}", file.path)
    if fact is None or next(facts.subclasses(fact), None):
        return "a subclass may rely on its type"
    for node in walk(held.method):
        if isinstance(node, ast.Call) and node is not None and _is_late_init(held, node):
            return "it is assigned before `super().__init__()`"
    return ""


def _is_foreign(node: ast.Attribute) -> bool:
    return not (isinstance(node.value, ast.Name) and node.value.id == "self")


def _is_late_init(held: ModuleContainer, node: ast.Call) -> bool:
    function = node.func
    late = isinstance(function, ast.Attribute) and function.attr == "__init__" and node.lineno > held.node.lineno
    return late and isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call | ast.Name)


def _bad_keys(held: ModuleContainer) -> str:
    keys = list(held.node.keys) if isinstance(held.node, ast.Dict) else [getattr(held.node, "key", None)]
    for node in own_nodes(held.method):
        key = put_under(node, held.name, self_name(held.method)) if isinstance(node, ast.Assign) else None
        keys += [key] if key is not None else []
    for key in keys:
        value = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(value, str):
            return "its keys may not be strings, which nn.ModuleDict needs"
        if not value or "." in value or value in TAKEN or value.startswith("_"):
            return f"nn.ModuleDict does not take the key {value!r}"
    return ""


def _odd(held: ModuleContainer, use: Mention) -> str:
    """What is done to the container that a registered one would not take, or that says it is kept out on purpose."""
    if any(_switches_off(item) for item in use.around):
        return "it runs without gradients"
    loops = [item for item in use.around if isinstance(item, ast.For | ast.comprehension | ast.ListComp)]
    if any("parameters" in _attributes(item) or "requires_grad" in _attributes(item) for item in use.around[:-1]):
        return "its parameters are passed on by hand"
    if any({"eval", "freeze", "requires_grad_", "to", "cuda"} & _attributes(item) for item in loops):
        return "its modules are set up by hand"
    parent = use.around[0] if use.around else None
    outer = use.around[1] if len(use.around) > 1 else None
    if isinstance(parent, ast.For | ast.comprehension):
        return "" if parent.iter is use.node else "it is used in a way that fixer does not follow"
    if isinstance(parent, ast.Subscript):
        return "it is sliced" if held.is_dict and isinstance(parent.slice, ast.Slice) else _stored(parent)
    if isinstance(parent, ast.Starred):
        return ""
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        allowed = DICT_READERS if held.is_dict else READERS
        return "" if parent.func.id in allowed else f"it is passed to `{parent.func.id}`"
    if isinstance(parent, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is parent:
        if parent.attr in (DICT_METHODS if held.is_dict else LIST_METHODS):
            changes = parent.attr not in ("keys", "values", "items") and use.method is not held.method
            return "it is changed after the constructor" if changes else ""
        return f"`.{parent.attr}` is called on it"
    if isinstance(parent, ast.Compare) and held.is_dict and isinstance(parent.ops[0], ast.In | ast.NotIn):
        return ""
    return "it is used in a way that fixer does not follow"


def _stored(node: ast.Subscript) -> str:
    return "" if isinstance(node.ctx, ast.Load) or isinstance(node.slice, ast.Constant) else "its parts are replaced"


def _attributes(node: ast.AST) -> set[str]:
    return {item.attr for item in walk(node) if isinstance(item, ast.Attribute)}


def _switches_off(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("detach", "data")
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
        for item in candidates(file)
        for held in containers(item)
        for name in held.dotted
        if not name.startswith("torch.")
    }
    makers: dict[ast.AST, list[ast.expr]] = {}
    for call in file.calls_near(_WORDS):
        if getattr(call.node.func, "attr", getattr(call.node.func, "id", "")) in _WORDS:
            for around in call.within:
                makers.setdefault(around, []).append(call.node.func)
    inside = {
        item.qualname
        for item in file.classes
        if any(item.scope.resolve(function) in _MAKERS for function in makers.get(item.node, ()))
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
    triggers=(b".Module", b"LightningModule", b"import Module"),
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
