"""Who else has a dictionary that reaches a Trainer: whether its keys go there alone, and always."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from codemods.code.calls import last_name
from codemods.code.literals import literal
from codemods.code.nodes import walk, walked
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_spelled, statements_in_order
from codemods.lightning.arguments import current, rows
from codemods.lightning.calls import FROM_ARGS, alike_calls, trainer_calls
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import ReadingPlace, is_read_elsewhere, targets_in

FILLING = ("update", "setdefault")
_KNOWN = frozenset({
    "copy.copy", "copy.deepcopy", "dataclasses.asdict", "attr.asdict", "attrs.asdict", "argparse.Namespace",
    "types.SimpleNamespace", "omegaconf.OmegaConf.create", "omegaconf.OmegaConf.merge",
    "omegaconf.OmegaConf.to_container", "easydict.EasyDict", "munch.Munch", "attrdict.AttrDict", "dotmap.DotMap",
})  # fmt: skip
"""What is known to hand on the keys that it is given as they are."""
HARDWARE = frozenset({
    "gpus", "accelerator", "devices", "strategy", "distributed_backend", "num_processes", "tpu_cores", "num_tpu_cores",
    "ipus", "hpus", "auto_select_gpus", "num_nodes", "plugins",
})  # fmt: skip
"""Arguments of which each says something else beside another."""
COUNTING = HARDWARE - {"num_nodes", "plugins"}
"""Those of them that another may take the place of."""
_CACHED = frozenset({"functools.cache", "functools.lru_cache", "functools.cached_property"})


def is_alone(at: ReadingPlace, facts: Facts, space: ast.AST, node: ast.Name | ast.Attribute) -> bool:
    """Whether a dictionary's name is used for nothing in a space but to fill it, to read what Trainer takes as it did,
    and to give it to Trainers."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    allowed = {id(node)}
    for other in at.alike or trainer_calls(at.file):
        allowed.update(id(item.value) for item in other.node.keywords if item.arg is None)
    uses = []
    for inner in walked(space):
        if isinstance(target := _sole_target(inner), ast.Subscript):
            allowed.add(id(target.value))
        elif (read := _read_of(inner)) is not None:
            allowed.add(id(read))
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in FILLING:
            allowed.add(id(inner.func.value))
        elif isinstance(inner, ast.Name | ast.Attribute) and not isinstance(inner.ctx, ast.Store):
            spelled = inner.attr if isinstance(inner, ast.Attribute) else inner.id
            if type(inner) is type(node) and spelled == name:
                uses.append(inner)
    spoken = len(re.findall(rf"\b{name}\b", at.file.text))
    outside = space is at.file.tree and is_read_elsewhere(facts, at.file, name)
    in_text = isinstance(node, ast.Attribute) and spoken != len(at.file.attributes(name))
    return not outside and not in_text and all(id(item) in allowed for item in uses)


def _read_of(node: ast.AST) -> ast.expr | None:
    """The dictionary of which a key is read that no rewrite touches, or whose callbacks are lengthened."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        key = literal(node.slice)[1]
        known = current() - rows().keys() - HARDWARE - {"callbacks"}
        return node.value if isinstance(key, str) and key in known else None
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in ("append", "extend"):
        owner = function.value
        if isinstance(owner, ast.Subscript) and literal(owner.slice) == (True, "callbacks"):
            return owner.value
    return None


def _sole_target(node: ast.AST) -> ast.expr | None:
    """What a statement that sets one thing sets."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0]
    return node.target if isinstance(node, ast.AugAssign) else None


def meets(file: PythonFile, call: CallNode, name: str, new: Collection[str]) -> bool:
    """Whether one of two calls that get the same dictionary gives itself what is to take the place of a key, or changes
    what that says: the key then says something else for the other. One that gets more of a namespace, or of another
    dictionary, may."""
    mine = _dictionaries(call)
    for other in alike_calls(file, call):
        if other.node is call.node or not _dictionaries(other) & mine:
            continue
        given = {item.arg for each in (call, other) for item in each.node.keywords if item.arg}
        if not given.isdisjoint(new) or (name in HARDWARE and not given.isdisjoint(COUNTING)):
            return True
        if any(_gets_more(item) for item in (call, other)):
            return True
    return False


def _dictionaries(call: CallNode) -> set[str]:
    """The last names of what a call gets by `**`."""
    return {name for item in call.node.keywords if item.arg is None and (name := last_name(item.value))}


def _gets_more(call: CallNode) -> bool:
    """Whether a call gets more than one dictionary."""
    several = sum(item.arg is None for item in call.node.keywords) > 1
    return several or call.scope.resolve(call.node.func) == FROM_ARGS


def always_run(space: ast.AST, attribute: bool) -> set[int]:
    """The statements, and the calls that are one, that run whenever a space does; those of constructors count for
    attributes."""
    bodies = [statements_in_order(space)]
    if attribute:
        bodies = [node.body for node in walked(space) if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    found = [statement for body in bodies for statement in body]
    return {id(item.value) if isinstance(item, ast.Expr) else id(item) for item in found}


def since_bound(space: ast.AST, text: str, use: ast.AST) -> range | None:
    """The lines from the last of several statements that bind a name, one behind the other in a function or module, to
    the use of it that stands behind them; None where a name is bound otherwise."""
    body = statements_in_order(space)
    binding = [node for node in body if isinstance(node, ast.Assign) and [*map(ast.unparse, node.targets)] == [text]]
    line = getattr(use, "lineno", 0)
    around = next((node for node in body if node.lineno <= line <= (node.end_lineno or line)), None)
    before = [node for node in binding if around and node.lineno < around.lineno]
    later = (node for node in walk(around) if isinstance(node, Function | ast.Lambda)) if around else ()
    if any(inner is use for node in later for inner in walk(node)):  # it runs when it is called, perhaps after all
        return None
    stores = sum(is_spelled(node, text) for node in targets_in(space))
    if len(binding) < 2 or len(binding) != stores or not before or around in binding:
        return None
    return range(before[-1].lineno, (around.end_lineno if around else None) or line)


def set_in_every_arm(space: ast.AST, text: str) -> set[int]:
    """The statements `x["key"] = ...` in the arms of an `if` that a space always comes to, where each sets the key."""
    found: set[int] = set()
    for statement in statements_in_order(space):
        arms = [_keys_set(arm, text) for arm in _arms(statement)]
        for key in set(arms[0]).intersection(*arms[1:]) if arms else ():
            found |= {id(arm[key]) for arm in arms}
    return found


def _arms(node: ast.stmt) -> list[list[ast.stmt]]:
    """The arms of an `if` that has an `else`, one of which is run; none else."""
    if not isinstance(node, ast.If) or not node.orelse:
        return []
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        further = _arms(node.orelse[0])
        return [node.body, *further] if further else []
    return [node.body, node.orelse]


def _keys_set(arm: list[ast.stmt], text: str) -> dict[str, ast.stmt]:
    """The statements of an arm that set an item of what is spelled so, by their keys."""
    found = {}
    for node in arm:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(target, ast.Subscript) and is_spelled(target.value, text):
            known, key = literal(target.slice)
            if known and isinstance(key, str):
                found[key] = node
    return found


def hands_on_keys(at: ReadingPlace, function: ast.expr) -> bool:
    """Whether what is called is known to hand on the keys that it is given as they are."""
    if isinstance(function, ast.Name) and function.id in ("dict", "vars"):
        hidden = at.named(function.id) is not None or function.id in at.file.scope.bindings
        return not hidden and at.scope.lookup(function.id) is None
    return at.scope.resolve(function) in _KNOWN


def gives_its_own(file: PythonFile, function: Function) -> bool:
    """Whether what a function returns is what its callers get: no decorator that may make something else of it."""
    return all(
        ast.unparse(item) in ("property", "staticmethod", "classmethod")
        or file.scope.resolve(item.func if isinstance(item, ast.Call) else item) in _CACHED
        for item in function.decorator_list
    )
