"""What the training step of a LightningModule makes of the layers that its constructor makes, as DDP sees it: a layer
that trains and that a step gives no gradient is one that it waits for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codemods.code.nodes import parents_of, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, self_name
from codemods.lightning.facts import Facts
from codemods.lightning.layers import TRAINED

_BASE = "lightning.pytorch.LightningModule"
_MODULE = "torch.nn.Module"
_BESIDE = ("abc.ABC", "typing.Generic")
_HARMLESS = frozenset({"parameters", "named_parameters", "state_dict", "load_state_dict", "train", "eval", "to"})
_UNSEEN = re.compile(
    r"requires_grad\s*=(?!=)|requires_grad_|[Ff]reeze|automatic_optimization|manual_backward|optimizer_idx|setattr"
)
"""Words of a class that decides itself which of its parameters get a gradient."""
_ALL = frozenset({
    "parameters", "named_parameters", "children", "named_children", "modules", "named_modules", "state_dict",
    "_modules", "__dict__", "apply",
})  # fmt: skip
_COUNTS = ("current_epoch", "global_step")
_CHANCE = ("random.", "numpy.random.", "torch.rand")
_DEEP = 4


@dataclass(frozen=True)
class LayerUses:
    """The layers that train: those that no training step gives a gradient, those that get one on a condition that
    changes from step to step, with its text, and those that are used."""

    never: tuple[str, ...]
    at_times: tuple[tuple[str, str], ...]
    used: tuple[str, ...]


@dataclass
class _StepUses:
    always: set[str] = field(default_factory=set)
    at_times: dict[str, str] = field(default_factory=dict)

    def add(self, other: _StepUses) -> None:
        self.always |= other.always
        self.at_times |= other.at_times


class _NotFollowed(Exception):
    """The layers may be used in a way that is not followed."""


def layer_uses(file: PythonFile, facts: Facts, item: ClassNode) -> LayerUses | None:
    """The uses of the layers of a class that stands right below LightningModule, and of those in modules of the project
    that it calls and does nothing else with; None where they are not all seen."""
    return _uses_of(file, facts, item, _BASE, ("training_step", "training_step_end"), 0)


def _uses_of(
    file: PythonFile, facts: Facts, item: ClassNode, base: str, run: Sequence[str], depth: int
) -> LayerUses | None:
    named = [each.value if isinstance(each, ast.Subscript) else each for each in item.node.bases]
    bases = [dotted for each in named if (dotted := item.scope.resolve(each)) not in _BESIDE]
    if bases != [base] or run[0] not in item.methods or _UNSEEN.search(file.source_of(item.node)):
        return None
    layers = dict(_layers(file, facts, item))
    try:
        step, uses = _FollowedStep(item, run[0]), _StepUses()
        for name in run:
            uses.add(step.method(name))
    except _NotFollowed:
        return None
    at_times = {name: uses.at_times[name] for name in layers if name in uses.at_times.keys() - uses.always}
    never = [name for name in layers if name not in uses.always | at_times.keys()]
    for name, found in layers.items():
        if found and name in uses.always and depth < _DEEP and _is_called(item, name):
            inside = _uses_of(*found, _MODULE, ("forward",), depth + 1)
            never += [f"{name}.{each}" for each in (inside.never if inside else ())]
            at_times |= {f"{name}.{each}": text for each, text in (inside.at_times if inside else ())}
    used = tuple(name for name in layers if name in uses.always)
    return LayerUses(tuple(never), tuple(at_times.items()), used)


def _is_called(item: ClassNode, name: str) -> bool:
    """Whether all that a class does with a layer is to call it, and to hand out its parameters."""
    for method in item.methods.values():
        parents = parents_of(method)
        for node in walk(method):
            if is_self_attribute(node, name, self_name(method)) and not isinstance(
                getattr(node, "ctx", None), ast.Store
            ):
                parent = parents.get(node)
                called = isinstance(parent, ast.Call) and parent.func is node
                if not called and not (isinstance(parent, ast.Attribute) and parent.attr in _HARMLESS):
                    return False
    return True


def _layers(
    file: PythonFile, facts: Facts, item: ClassNode
) -> Iterator[tuple[str, tuple[PythonFile, Facts, ClassNode] | None]]:
    """The attributes that the constructor gives a layer, once and whatever it is given, and does nothing more with,
    each with its class where that is the project's."""
    init = item.methods.get("__init__")
    for statement in init.body if init else ():
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if init is None or not isinstance(target, ast.Attribute) or not isinstance(statement, ast.Assign):
            continue
        spoken = [node for node in walk(init) if is_self_attribute(node, target.attr, self_name(init))]
        stored = [
            node
            for node in walk(item.node)
            if isinstance(node, ast.Attribute) and node.attr == target.attr and not isinstance(node.ctx, ast.Load)
        ]
        if len(spoken) == len(stored) == 1 and _trains(file, facts, item, statement.value):
            dotted = item.scope.resolve(statement.value.func) if isinstance(statement.value, ast.Call) else None
            found = facts.find_opened(dotted, file.path) if dotted else None
            yield target.attr, ((found[0], facts, found[1]) if found else None)


def _trains(file: PythonFile, facts: Facts, item: ClassNode, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression builds a layer of torch with parameters, or a module of the project that holds such."""
    if not isinstance(node, ast.Call) or (dotted := item.scope.resolve(node.func)) is None or depth > _DEEP:
        return False
    if dotted == "torch.nn.Sequential":
        return any(_trains(file, facts, item, part, depth) for part in node.args)
    found = facts.find_opened(dotted, file.path) if dotted not in TRAINED else None
    made = found[1].methods.get("__init__") if found else None
    if found is None or made is None:
        return dotted in TRAINED
    home, own = found
    plain = [own.scope.resolve(base) for base in own.node.bases] == [_MODULE]
    if not plain or _UNSEEN.search(home.source_of(own.node)):
        return False
    stated = (each.value for each in made.body if isinstance(each, ast.Assign))
    return any(_trains(home, facts, own, value, depth + 1) for value in stated)


class _FollowedStep:
    """The methods that a training step runs."""

    def __init__(self, item: ClassNode, first: str) -> None:
        self.item = item
        self.known: dict[str, _StepUses] = {}
        step = item.methods[first]
        given = [each.arg for each in (*step.args.posonlyargs, *step.args.args)]
        self.index = given[2] if first == "training_step" and len(given) > 2 else ""

    def method(self, name: str) -> _StepUses:
        function = self.item.methods.get(name)
        if name not in self.known and function is not None:
            self.known[name] = _StepUses()
            if not any(self._is_off(each) for each in function.decorator_list):
                self.known[name] = self._block(function.body, function)
        return self.known.get(name, _StepUses())

    def _block(self, statements: Sequence[ast.stmt], function: Function) -> _StepUses:
        found = _StepUses()
        for place, statement in enumerate(statements):
            if isinstance(statement, ast.If) and self._varies(statement.test, function):
                rest = statements[place + 1 :] if isinstance(statement.body[-1], ast.Return) else ()
                body = self._block(statement.body, function)
                other = self._block([*statement.orelse, *rest], function)
                found.add(self._expression(statement.test, function))
                found.add(_joined(body, other, ast.unparse(statement.test)))
                if rest:
                    return found
            else:
                found.add(self._statement(statement, function))
        return found

    def _statement(self, statement: ast.stmt, function: Function) -> _StepUses:
        found = _StepUses()
        if isinstance(statement, ast.With | ast.AsyncWith) and any(
            self._is_off(each.context_expr) for each in statement.items
        ):
            return found
        for _, value in ast.iter_fields(statement):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.ExceptHandler | ast.match_case):
                    found.add(self._block(each.body, function))
                elif isinstance(each, ast.AST) and not isinstance(each, ast.stmt):
                    found.add(self._expression(each, function))
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                found.add(self._block(value, function))
        return found

    def _expression(self, node: ast.AST, function: Function) -> _StepUses:
        found, me = _StepUses(), self_name(function)
        owned: set[int] = set()
        for inner in walk(node):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == me:
                owned.add(id(inner.func))
                if "forward" not in self.item.methods:
                    raise _NotFollowed
                found.add(self.method("forward"))
            elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == me:
                owned.add(id(inner.value))
                if inner.attr in _ALL:
                    raise _NotFollowed
                found.always.add(inner.attr)
                found.add(self.method(inner.attr))
        if any(isinstance(each, ast.Name) and each.id == me and id(each) not in owned for each in walk(node)):
            raise _NotFollowed
        return found

    def _is_off(self, node: ast.expr) -> bool:
        dotted = self.item.scope.resolve(node.func if isinstance(node, ast.Call) else node) or ""
        return dotted.startswith("torch.") and dotted.endswith(("no_grad", "inference_mode"))

    def _varies(self, test: ast.expr, function: Function) -> bool:
        """Whether a condition is not the same in all steps of a training."""
        step = function.name == "training_step"
        for node in walk(test):
            if isinstance(node, ast.Name) and step and node.id == self.index:
                return True
            if isinstance(node, ast.Attribute) and node.attr in _COUNTS:
                return True
            if isinstance(node, ast.Call) and (self.item.scope.resolve(node.func) or "").startswith(_CHANCE):
                return True
        return False


def _joined(body: _StepUses, other: _StepUses, text: str) -> _StepUses:
    """What two branches use: always what both do."""
    always = body.always & other.always
    some = (body.always | other.always) - always
    return _StepUses(always, {**body.at_times, **other.at_times, **dict.fromkeys(some, text)})
