"""Models that classes load by `from_pretrained`: which they are, and whether they are trained in the mode they have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, returns, self_name
from codemods.lightning.facts import Facts
from codemods.rules.gradients.names import NO_GRAD

BUILT_IN = ("__init__", "configure_model", "setup")
MODE = frozenset({"eval", "train"})
FREEZING = frozenset({"requires_grad", "requires_grad_", "freeze"})
EVALUATION = re.compile(r"(on_)?(validation|test|predict)")
LOADS = frozenset({"from_pretrained", "from_encoder_decoder_pretrained", "from_vision_text_pretrained"})
"""What classes of transformers load models by; those of two parts load each by its own `from_pretrained`."""
WRAPPERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "get_peft_model"})
"""Calls that give back a module made of those that they are given, in the mode that these have."""
NO_MODEL = re.compile(r"Tokenizer|Config|Processor|FeatureExtractor|pipeline|Pipeline")


@dataclass(frozen=True)
class PretrainedAttribute:
    """An attribute that gets a pretrained model: the class and the statement, what a method of the class gives back
    that loads it, and the method in which the statement stands where more than what builds the class may call it."""

    item: ClassNode
    name: str
    statement: ast.Assign
    call: ast.Call
    given_back: ast.expr | None = None
    helper: str = ""


def loaded_by(file: PythonFile, facts: Facts, item: ClassNode) -> Iterator[PretrainedAttribute]:
    """The models that a class loads; where an attribute gets one, whatever else it gets by `from_pretrained` is one."""
    every = list(_assigned(file, facts, item))
    known = {loaded.name for loaded in every if is_model(file, facts, item.scope, loaded.call)}
    return (loaded for loaded in every if loaded.name in known)


def _assigned(file: PythonFile, facts: Facts, item: ClassNode) -> Iterator[PretrainedAttribute]:
    building = _building(item)
    for name in building:
        method = item.methods[name]
        shared = name if name not in BUILT_IN and _is_called_elsewhere(file, facts, item, building, name) else ""
        for node in own_nodes(method):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and is_self_attribute(target, target.attr, self_name(method)):
                for call in _sources(method, node.value):
                    if loads(call):
                        yield PretrainedAttribute(item, target.attr, node, call, None, shared)
                    elif call is node.value and (found := _given_back(item, method, call)):
                        yield PretrainedAttribute(item, target.attr, node, *found, shared)


def _building(item: ClassNode) -> list[str]:
    """The methods in which a module is built, and those of its own that these call."""
    found = [name for name in BUILT_IN if name in item.methods]
    for name in found:
        called = (_own_method(node, item.methods[name]) for node in own_nodes(item.methods[name]))
        found += dict.fromkeys(each for each in called if each in item.methods and each not in found)
    return found


def _own_method(node: ast.AST, method: Function) -> str:
    """The method of the instance that a node calls."""
    chain = _chain(node.func) if isinstance(node, ast.Call) else []
    return chain[1] if len(chain) == 2 and chain[0] == self_name(method) else ""


def _given_back(item: ClassNode, method: Function, call: ast.Call) -> tuple[ast.Call, ast.expr] | None:
    """The call that loads what a method of the class gives back, and what that is."""
    helper = item.methods.get(_own_method(call, method))
    given = [node.value for node in returns(helper)] if helper else []
    if helper is None or len(given) != 1 or given[0] is None:
        return None
    found = [*_sources(helper, given[0])]
    return (found[0], given[0]) if found and all(map(loads, found)) else None


def _is_called_elsewhere(file: PythonFile, facts: Facts, item: ClassNode, building: list[str], name: str) -> bool:
    """Whether anything but what builds a module may call a method of it."""
    known = sum(_own_method(node, item.methods[each]) == name for each in building for node in walk(item.methods[each]))
    spoken = len(file.attributes(name)) > known
    return spoken or any(path != file.path for path, _ in facts.holding(name))


def _sources(method: Function, node: ast.expr) -> Iterator[ast.Call]:
    """The calls behind a value: through local names, in each case of several, and as parts of what wraps them. A list
    or a dict is gone into where a wrapper is given it: by itself it is no module."""
    pending, followed = [(node, False)], set[tuple[str, bool]]()
    while pending:
        node, wrapped = pending.pop()
        parts: list[ast.expr] = []
        if isinstance(node, ast.Name) and (node.id, wrapped) not in followed:
            followed.add((node.id, wrapped))
            values = _bound(method, node.id)
            parts = values if len(values) == 1 else []
        elif isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.Call):
            wraps = (_chain(node.func) or [""])[-1] in WRAPPERS
            wrapped, parts = wrapped or wraps, node.args if wraps else []
            yield from [] if wraps else [node]
        elif wrapped and isinstance(node, ast.List | ast.Tuple):
            parts = node.elts
        elif wrapped and isinstance(node, ast.Dict):
            parts = node.values
        elif wrapped and isinstance(node, ast.Starred):
            parts = [node.value]
        pending += [(part, wrapped) for part in reversed(parts)]


def _bound(method: Function, name: str) -> list[ast.expr]:
    return [
        other.value
        for other in own_nodes(method)
        if isinstance(other, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in other.targets)
    ]


def loads(call: ast.Call) -> bool:
    """Whether a call is one of those by which classes of transformers load what was trained."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in LOADS


def is_model(file: PythonFile, facts: Facts, scope: Scope, call: ast.Call) -> bool:
    """Whether a call loads a model of transformers, or of a class of the project that is one."""
    if not isinstance(call.func, ast.Attribute) or not loads(call):
        return False
    dotted = scope.resolve(call.func.value)
    if dotted is None or NO_MODEL.search(dotted.rpartition(".")[2]):
        return False
    if dotted.startswith("transformers."):
        return True
    fact = facts.find_class(dotted, file.path)
    return fact is not None and any(
        base is not None and base.startswith("transformers.") and not NO_MODEL.search(base.rpartition(".")[2])
        for member in facts.ancestry(fact)
        for base in member.bases
    )


def is_trained(loaded: PretrainedAttribute) -> bool:
    """Whether nothing says that the model is to stay in evaluation mode, or brings it into training mode."""
    if is_frozen(loaded) == "yes" or _mode_is_set(loaded) or _only_without_gradients(loaded):
        return False
    optimizers = loaded.item.methods.get("configure_optimizers")
    if optimizers is None:
        return True
    every = {"parameters", "named_parameters", "trainer"}
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == self_name(optimizers)
        and (node.attr in every or node.attr == loaded.name or node.attr in loaded.item.methods)
        for node in walk(optimizers)
    )


def _mode_is_set(loaded: PretrainedAttribute) -> bool:
    """Whether the class calls `train` or `eval` on the model, or on itself, or has a `train` of its own."""
    if "train" in loaded.item.methods:
        return True
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MODE
        and (_chain(node.func.value)[:2] in ([loaded_self], [loaded_self, loaded.name]) or _is_local(node, loaded))
        for method in loaded.item.methods.values()
        for loaded_self in [self_name(method)]
        for node in walk(method)
    )


def _is_local(node: ast.Call, loaded: PretrainedAttribute) -> bool:
    """Whether a call is made on a local name that the model is kept from."""
    function = node.func
    return isinstance(function, ast.Attribute) and _chain(function.value) in _locals(loaded)


def _locals(loaded: PretrainedAttribute) -> list[list[str]]:
    """The local names that the model is kept from."""
    kept = [loaded.statement.value, *([loaded.given_back] if loaded.given_back else [])]
    return [[node.id] for part in kept for node in walk(part) if isinstance(node, ast.Name)]


def is_frozen(loaded: PretrainedAttribute) -> str:
    """`yes` where the class freezes the whole model, `perhaps` where a condition decides, else empty."""
    found = ""
    for method in loaded.item.methods.values():
        if EVALUATION.match(method.name):
            continue
        me = self_name(method)
        for node, around in _with_parents(method):
            if isinstance(node, ast.Attribute) and node.attr in FREEZING and _freezes(node, around, loaded, me):
                built = method.name in BUILT_IN or loaded.statement in own_nodes(method)
                decided = any(isinstance(item, ast.If | ast.IfExp) for item in around) or not built
                found = found if found == "perhaps" else "perhaps" if decided else "yes"
    return found


def _freezes(node: ast.Attribute, around: tuple[ast.AST, ...], loaded: PretrainedAttribute, me: str) -> bool:
    """Whether `requires_grad` and its like are used on the model itself, on the module, or in a loop over it."""
    chain = _chain(node.value)
    models = [[me], [me, loaded.name], *_locals(loaded)]
    if chain in models:
        return True
    loops = [item for item in around if isinstance(item, ast.For)]
    return any(
        isinstance(inner, ast.Attribute)
        and inner.attr in ("parameters", "named_parameters")
        and _chain(inner.value) in models
        for loop in loops
        for inner in walk(loop.iter)
    )


def _only_without_gradients(loaded: PretrainedAttribute) -> bool:
    """Whether the class calls the model, and each time with gradients off."""
    found = []
    for method in loaded.item.methods.values():
        marked = any(_is_off(item, loaded.item) for item in method.decorator_list)
        for node, around in _with_parents(method):
            if isinstance(node, ast.Call) and _chain(node.func)[:2] == [self_name(method), loaded.name]:
                blocks = [item for item in around if isinstance(item, ast.With)]
                found.append(
                    marked or any(_is_off(part.context_expr, loaded.item) for block in blocks for part in block.items)
                )
    return bool(found) and all(found)


def _is_off(node: ast.expr, item: ClassNode) -> bool:
    return item.scope.resolve(node.func if isinstance(node, ast.Call) else node) in NO_GRAD


def _chain(node: ast.expr) -> list[str]:
    """The names of `a.b.c`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def _with_parents(tree: ast.AST, around: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Each node below another, with what stands around it."""
    for child in ast.iter_child_nodes(tree):
        yield child, (*around, tree)
        yield from _with_parents(child, (*around, tree))
