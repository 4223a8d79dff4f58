"""Returns of a step that give under `log` what the step logs by itself too."""

from __future__ import annotations

import ast

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, uses
from codemods.rules.hooks.dict_uses import DictUses
from codemods.rules.hooks.epoch_end import LOGGED
from codemods.rules.hooks.returned_logs import ReturnedLog, written_out
from codemods.rules.hooks.training_steps import STEPS

_TAKING = frozenset({"item", "detach", "cpu", "clone", "mean", "sum", "float"})
"""Methods of a tensor that do nothing but give something of it: what they are asked may go."""
_APART_FROM = ("on_step", "on_epoch")
"""What gives a value another name."""


def logged_already(file: PythonFile, item: ClassNode, method: Function, node: ast.Return) -> ReturnedLog | None:
    """A return at the end of a step that gives under `log` and `progress_bar` what the step has logged itself under the
    same names, so that these can go; None for another one."""
    entries = written_out(item, method, node) or []
    parts = dict(entries)
    if method.name not in STEPS or node is not method.body[-1] or "loss" not in parts or len(parts) != len(entries):
        return None
    shown = DictUses(file, method)
    known = [shown.items(each) for name, each in parts.items() if name in LOGGED]
    logged = {name: call for statement in method.body if (call := _log_call(statement)) and (name := _name_of(call))}
    values = [(logged.get(key), each) for found in known for key, each in (found or {}).items()]
    same = all(call and ast.dump(call.args[1]) == ast.dump(each) for call, each in values)
    names = {each.id for _, value in values for each in walk(value) if isinstance(each, ast.Name)}
    once = all(sum(isinstance(use.ctx, ast.Store) for use in uses(method, name)) < 2 for name in names)
    if None in known or not (same and once and all(_is_idle(value) for _, value in values)):
        return None
    apart = any(item.arg in (None, *_APART_FROM) for call, _ in values if call for item in call.keywords)
    called = node.value.id if isinstance(node.value, ast.Name) else None
    dicts = [each for name, each in parts.items() if name in LOGGED and isinstance(each, ast.Name)]
    unread = {each.id for each in dicts if _is_read_there_alone(method, each.id, dicts)}
    return ReturnedLog(node, called, (), not apart, False, True, unread=tuple(sorted(unread)))


def _is_idle(value: ast.expr) -> bool:
    """Whether it makes no difference that a value is not worked out once more; a metric would count it."""
    calls = (each.func for each in walk(value) if isinstance(each, ast.Call))
    taken = all(isinstance(func, ast.Attribute) and func.attr in _TAKING for func in calls)
    return taken and not any(isinstance(each, ast.NamedExpr | ast.Await) for each in walk(value))


def _is_read_there_alone(method: Function, name: str, places: list[ast.Name]) -> bool:
    """Whether a name is bound once, and read nowhere but in some places."""
    found = uses(method, name)
    return len([use for use in found if use not in places]) == 1


def _log_call(statement: ast.stmt) -> ast.Call | None:
    """The call of `self.log` with a name and a value that a statement is."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    is_log = isinstance(call, ast.Call) and ast.unparse(call.func) == "self.log" and len(call.args) == 2
    return call if is_log else None  # type: ignore[return-value]


def _name_of(call: ast.Call) -> str:
    first = call.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
