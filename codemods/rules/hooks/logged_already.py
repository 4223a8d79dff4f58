"""Returns of a step that give under `log` what the step logs by itself too."""

from __future__ import annotations

import ast
from collections.abc import Container

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, assigned_to, is_bound, targets_of, uses
from codemods.rules.hooks.dict_uses import DictUses
from codemods.rules.hooks.epoch_end import LOGGED
from codemods.rules.hooks.returned_logs import HOOKS, ReturnedLog, blocks_of, written_out

_TAKING = frozenset({"item", "detach", "cpu", "clone", "mean", "sum", "float"})
"""Methods of a tensor that do nothing but give something of it: what they are asked may go."""
_APART_FROM = ("on_step", "on_epoch")
"""What gives a value another name."""


def logged_already(file: PythonFile, item: ClassNode, method: Function, node: ast.Return) -> ReturnedLog | None:
    """A return of a step that gives under `log` and `progress_bar` what the block before it has logged itself under the
    same names, so that these can go; None for another one."""
    entries = written_out(item, method, node) or []
    parts = dict(entries)
    if method.name in HOOKS or "loss" not in parts or len(parts) != len(entries):
        return None
    block = next(each for each in blocks_of(method) if node in each)
    before = block[: block.index(node)]
    known = [_items(file, method, before, each) for name, each in parts.items() if name in LOGGED]
    logged = {name: call for statement in before if (call := _log_call(statement)) and (name := _name_of(call))}
    values = [(logged.get(key), each) for found in known for key, each in (found or {}).items()]
    same = all(call and ast.dump(call.args[1]) == ast.dump(each) for call, each in values)
    if None in known or not (same and all(_is_idle(value) for _, value in values)):
        return None
    apart = any(item.arg in (None, *_APART_FROM) for call, _ in values if call for item in call.keywords)
    called = node.value.id if isinstance(node.value, ast.Name) else None
    dicts = [each for name, each in parts.items() if name in LOGGED and isinstance(each, ast.Name)]
    calls = {id(call) for call, _ in values}
    if not _stay(before, calls, {called, *(each.id for each in dicts)}, [value for _, value in values]):
        return None
    unread = {each.id for each in dicts if _is_read_there_alone(method, each.id)}
    return ReturnedLog(node, called, (), not apart, False, True, unread=tuple(sorted(unread)))


def _items(file: PythonFile, method: Function, before: list[ast.stmt], value: ast.expr) -> dict[str, ast.expr] | None:
    """The keys and values of a dict, of a name as the statements before bind it where other blocks of the method bind
    it anew."""
    shown = DictUses(file, method)
    if isinstance(value, ast.Name) and len(assigned_to(method, value.id)) > 1:
        own = [statement for statement in before if any(map(is_bound, uses(statement, value.id)))]
        if not own or not isinstance(own[-1], ast.Assign) or not _is_read_there_alone(method, value.id):
            return None
        value = own[-1].value
    return shown.items(value) if isinstance(value, ast.Name | ast.Dict) else None


def _stay(before: list[ast.stmt], calls: Container[int], names: Container[str | None], values: list[ast.expr]) -> bool:
    """Whether nothing binds anew what some values are made of, from where the first of them is logged or put into a
    dict of those names on."""
    first = next(
        index
        for index, statement in enumerate([*before, None])
        if statement is None
        or (isinstance(statement, ast.Expr) and id(statement.value) in calls)
        or any(isinstance(target, ast.Name) and target.id in names for target in targets_of(statement))
    )
    read = {each.id for value in values for each in walk(value) if isinstance(each, ast.Name)}
    return not any(is_bound(use) for statement in before[first:] for name in read for use in uses(statement, name))


def _is_idle(value: ast.expr) -> bool:
    """Whether it makes no difference that a value is not worked out once more; a metric would count it."""
    calls = (each.func for each in walk(value) if isinstance(each, ast.Call))
    taken = all(isinstance(func, ast.Attribute) and func.attr in _TAKING for func in calls)
    return taken and not any(isinstance(each, ast.NamedExpr | ast.Await) for each in walk(value))


def _is_read_there_alone(method: Function, name: str) -> bool:
    """Whether a name is bound by plain assignments alone, and read nowhere but as what a dict has under `log` or
    `progress_bar`."""
    given = {
        id(value)
        for each in walk(method)
        if isinstance(each, ast.Dict)
        for key, value in zip(each.keys, each.values, strict=True)
        if isinstance(key, ast.Constant) and key.value in LOGGED
    }
    read = [use for use in uses(method, name) if not is_bound(use)]
    stored = [use for use in uses(method, name) if is_bound(use)]
    return len(stored) == len(assigned_to(method, name)) and all(id(use) in given for use in read)


def _log_call(statement: ast.stmt) -> ast.Call | None:
    """The call of `self.log` with a name and a value that a statement is."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    is_log = isinstance(call, ast.Call) and ast.unparse(call.func) == "self.log" and len(call.args) == 2
    return call if is_log else None  # type: ignore[return-value]


def _name_of(call: ast.Call) -> str:
    first = call.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
