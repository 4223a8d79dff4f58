"""The state of a data module, which state_dict gives since 1.6 and alone since 1.8."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codemods.code.literals import literal
from codemods.code.nodes import parents_of, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_plain, parameters, returns, self_name, uses
from codemods.lightning.class_family import clash
from codemods.lightning.facts import ClassFact, Facts
from codemods.rules.hooks.step_end import named_lines, used_elsewhere

if TYPE_CHECKING:
    import libcst as cst

SAVE, LOAD = "on_save_checkpoint", "on_load_checkpoint"
NEW = {SAVE: "state_dict", LOAD: "load_state_dict"}
REASON = (
    "Lightning saves what state_dict returns under the name of the class, and passes it to load_state_dict: what "
    "checkpoints of older releases hold, and others look for beside it, is not found."
)


def has_other_state(file: PythonFile, facts: Facts, fact: ClassFact, item: ClassNode) -> str | None:
    """Why the hooks of a data module do something else than to give and to take a state of its own."""
    hooks = {name: item.methods[name] for name in NEW if name in item.methods}
    if SAVE not in hooks:
        return f"the class has no {SAVE}: what it takes is not its own"
    saved: set[object] = set()
    for name, method in hooks.items():
        if not is_plain(method) or len(parameters(method)) != 1 or self_name(method) != "self":
            return f"{name} is not an ordinary method of one parameter"
        if uses(method, "super"):
            return f"{name} calls its base class"
        if returns(method):
            return f"{name} returns early, or returns something"
        if lines := named_lines(file, name):
            return f"{name} is used by name in line {min(lines)}"
        keys = _keys(method, ast.Store if name == SAVE else ast.Load)
        if keys is None or (name == LOAD and not keys <= saved):
            return f"{name} takes more of the checkpoint than {SAVE} puts into it"
        saved |= keys
        if not saved:
            return f"{name} puts nothing into the checkpoint"
    if own := [name for name in NEW.values() if name in item.methods]:
        return f"the class has {own[0]} already"
    return used_elsewhere(facts, fact, (SAVE, LOAD)) or clash(facts, fact, {*NEW, *NEW.values()})


def _keys(method: Function, context: type[ast.expr_context]) -> set[object] | None:
    """The keys by which a hook stores into the checkpoint, or reads it; None where it does anything else with it."""
    [given] = parameters(method)
    parents = parents_of(method)
    keys = set[object]()
    for node in walk(method):
        if not isinstance(node, ast.Name) or node.id != given:
            continue
        part = parents.get(node)
        if not isinstance(part, ast.Subscript) or not isinstance(part.ctx, context):
            return None
        known, key = literal(part.slice)
        if not known or part.value is not node or isinstance(parents.get(part), ast.AugAssign):
            return None
        keys.add(key)
    return keys


def giving_state(node: cst.FunctionDef, *, name: str) -> cst.FunctionDef:
    """A hook as the method that gives the state, or takes it."""
    import libcst as cst

    from codemods.rewrite.edits import body_of, statements, with_body, without_parameter
    from codemods.rules.hooks.keep_outputs_edits import alone

    node = node.with_changes(name=cst.Name(NEW[name]))
    if name == LOAD:
        return node
    given, body = node.params.params[1], body_of(node)
    text = given.name.value
    start = 1 if node.get_docstring() is not None else 0
    body = [*body[:start], *statements(f"{text} = {{}}\n"), *body[start:], *statements(f"return {text}\n")]
    if node.returns:
        told = given.annotation
        node = node.with_changes(returns=told and node.returns.with_changes(annotation=told.annotation))
    return with_body(alone(without_parameter(node, text)), body)  # type: ignore[no-any-return]
