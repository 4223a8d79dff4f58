"""GRD004: layers that are used for the loss and given to no optimizer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from codemods.code.nodes import parents_of, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, self_name
from codemods.lightning.class_family import family, speaks
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.layers import TRAINED
from codemods.rule import Example, Match, Rule
from codemods.rules.gradients.classes import NN, is_module
from codemods.rules.gradients.containers import written
from codemods.rules.gradients.names import KEPT_OUT, NO_GRAD, attributes_of
from codemods.rules.gradients.optimized import given

CODE = "GRD004"
ADVICE = (
    "give `self.{0}.parameters()` to the optimizer too, or freeze it by `self.{0}.requires_grad_(False)`; to train "
    "everything together, give the optimizer `self.parameters()`"
)
LOADS = re.compile(r"requires_grad|freeze|load|pretrained|no_grad|inference_mode|eval\(")
HANDLING = frozenset(
    {"requires_grad", "requires_grad_", "eval", "freeze", "load_state_dict", "state_dict", "detach", "parameters",
     "named_parameters", "copy_", "lerp_", "data"}
)  # fmt: skip


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item, fact in facts.classes_of(file, MODULE):
        if _is_shared(item, fact, facts):
            continue
        found = given(item)
        if found is None or not found.paths or any(not path for path, _ in found.paths):
            continue
        owned = {path.partition(".")[0] for path, _ in found.paths}
        held = attributes_of(item)
        if any(name not in held for name in owned):
            continue
        missing = [name for name in held if name not in owned and _is_fresh(file, facts, item, name, held)]
        for name in missing:
            if _is_used(item, name) and not _is_handled(item, name):
                value = held[name][0][1]
                message = (
                    f"`self.{name}` is part of the loss and its parameters are in no optimizer: it is never trained"
                )
                yield Match(file.span(value), message, "manual", ADVICE.format(name))


def _is_shared(item: ClassNode, fact: ClassFact, facts: Facts) -> bool:
    """Whether relatives of the class may give its layers to an optimizer, or use them otherwise."""
    if "optimizer_step" in item.methods:
        return True
    names = "|".join(re.escape(name) for name in attributes_of(item))
    touches = re.compile(rf"optimizer|parameter|requires_grad|[Ff]reeze|setattr|__dict__|\b(?:{names})\b")
    return any(speaks(facts, other, touches) for other in family(facts, fact))


def _is_fresh(
    file: PythonFile, facts: Facts, item: ClassNode, name: str, held: Mapping[str, list[tuple[Function, ast.expr]]]
) -> bool:
    """Whether an attribute is a layer, or a parameter, that the class builds itself with weights of its own."""
    if KEPT_OUT.search(name.lower()) or len(held[name]) != 1:
        return False
    method, value = held[name][0]
    if method.name != "__init__" or not isinstance(value, ast.Call):
        return False
    dotted = item.scope.resolve(value.func)
    if dotted == "torch.nn.Parameter":
        return not any(key.arg == "requires_grad" for key in value.keywords) and len(value.args) == 1
    if dotted == "torch.nn.Sequential":
        inside = [item.scope.resolve(part.func) for part in value.args if isinstance(part, ast.Call)]
        return any(part in TRAINED for part in inside) and len(inside) == len(value.args)
    if dotted in ("torch.nn.ModuleList", "torch.nn.ModuleDict") and len(value.args) == 1:
        parts = written(value.args[0])
        inside = [item.scope.resolve(part.func) for part in parts if isinstance(part, ast.Call)]
        return bool(parts) and len(inside) == len(parts) and all(part in TRAINED for part in inside)
    return dotted in TRAINED or (dotted is not None and _makes_layers(file, facts, dotted))


def _makes_layers(file: PythonFile, facts: Facts, dotted: str) -> bool:
    """Whether a class of the project is torch's Module alone by its base, and its constructor makes layers that train
    and neither loads nor freezes anything."""
    found = facts.find_opened(dotted, file.path) if is_module(facts, dotted, file.path) else None
    made = found[1].methods.get("__init__") if found else None
    if found is None or made is None or LOADS.search(found[0].source_of(found[1].node)):
        return False
    bases = [found[1].scope.resolve(base) for base in found[1].node.bases]
    calls = [node for node in own_nodes(made) if isinstance(node, ast.Call)]
    return bases == [NN] and any(found[1].scope.resolve(call.func) in TRAINED for call in calls)


def _is_used(item: ClassNode, name: str) -> bool:
    """Whether the layer is used in `training_step`, or in what that calls, where gradients flow."""
    done: set[str] = set()
    todo = ["training_step"]
    while todo:
        method = item.methods.get(todo.pop())
        if method is None or method.name in done:
            continue
        done.add(method.name)
        me = self_name(method)
        for node, off in _with_modes(item, method):
            if off:
                continue
            if isinstance(node, ast.Attribute) and is_self_attribute(node, name, me):
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == me:
                todo.append("forward")
            if isinstance(node, ast.Attribute) and is_self_attribute(node, node.attr, me):
                todo.append(node.attr)
    return False


def _with_modes(item: ClassNode, method: Function) -> Iterator[tuple[ast.AST, bool]]:
    """Each node of a method, and whether gradients are off there."""
    stack: list[tuple[ast.AST, bool]] = [(method, any(_is_off(item, node) for node in method.decorator_list))]
    while stack:
        node, off = stack.pop()
        yield node, off
        off = off or (isinstance(node, ast.With) and any(_is_off(item, part.context_expr) for part in node.items))
        stack += [(child, off) for child in ast.iter_child_nodes(node)]


def _is_off(item: ClassNode, node: ast.expr) -> bool:
    return item.scope.resolve(node.func if isinstance(node, ast.Call) else node) in NO_GRAD


def _is_handled(item: ClassNode, name: str) -> bool:
    """Whether the class does something else to the layer than use it: freezes it, copies weights into it."""
    for method in item.methods.values():
        me = self_name(method)
        parents = parents_of(method)
        for node in walk(method):
            if isinstance(node, ast.Attribute) and is_self_attribute(node, name, me):
                parent = parents.get(node)
                while isinstance(parent, ast.Attribute):
                    if parent.attr in HANDLING:
                        return True
                    parent = parents.get(parent)
                if isinstance(parent, ast.Call) and node in parent.args and parent.func is not node:
                    return True
                if isinstance(parent, ast.Assign) and node is parent.value:
                    return True
                if isinstance(parent, ast.Tuple | ast.List | ast.Dict | ast.keyword):
                    return True
    return False


_TOP = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.head(self.encoder(batch[0])).sum()

    def configure_optimizers(self):
"""
_ONE = _TOP + "        return torch.optim.Adam(self.encoder.parameters())\n"
_ALL = _TOP + "        return torch.optim.Adam(self.parameters())\n"
_BOTH = _TOP + "        return torch.optim.Adam([*self.encoder.parameters(), *self.head.parameters()])\n"

RULE = Rule(
    code=CODE,
    name="no-optimizer",
    summary="a layer that the loss depends on and no optimizer gets is named",
    why=(
        "`configure_optimizers` decides what is trained. A layer that the module builds with new weights, uses for its "
        "loss, and gives to no optimizer keeps its random weights for ever; gradients reach it, so that nothing warns. "
        "Layers that are frozen, used under `no_grad`, loaded, copied or named as a target or teacher are left out."
    ),
    fix="manual",
    versions="every Lightning",
    triggers=(b"configure_optimizers",),
    check=_check,
    present=lambda file: "training_step" in file.text,
    examples=(Example(_ONE, _ONE), Example(_ALL, _ALL), Example(_BOTH, _BOTH)),
)
