"""What logs and shows two dicts that have some keys in common, each key once."""

from __future__ import annotations

import ast
from collections.abc import Collection

from codemods.code.nodes import walk
from codemods.code.syntax import uses
from codemods.rules.hooks.dict_uses import DictUses

NAMES = (("name", "value"), ("key", "number"), ("logged", "logged_value"))
"""What the loop calls a key and its value: the first two that the method does not use."""


def shared_calls(shown: DictUses, log: ast.expr, bar: ast.expr) -> list[str]:
    """The statements that log one dict and show the other, which have the same under the keys that both have; none
    where they may not, or where they cannot be told apart."""
    logged, barred = shown.items(log) or {}, shown.items(bar) or {}
    common = [key for key in logged if key in barred]
    same = all(ast.dump(logged[key]) == ast.dump(barred[key]) for key in common)
    if not same or not _are_bound_once(shown, [logged[key] for key in common]):
        return []
    if isinstance(log, ast.Name) and isinstance(bar, ast.Name):
        return _in_turn(shown, log.id, bar.id, barred.keys() <= logged.keys())
    if not (isinstance(log, ast.Dict) and isinstance(bar, ast.Dict)):
        return []
    parts = (
        (bar, [key for key in barred if key not in logged], ", prog_bar=True, logger=False"),
        (log, common, ", prog_bar=True"),
        (log, [key for key in logged if key not in barred], ""),
    )
    return [f"self.log_dict({{{_items(shown, node, keys)}}}{how})" for node, keys, how in parts if keys]


def is_same_surely(shown: DictUses, log: ast.expr, bar: ast.expr) -> bool:
    """Whether what two dicts have in common is plainly the same: one dict, or names and literals."""
    logged, barred = shown.items(log) or {}, shown.items(bar) or {}
    one = isinstance(log, ast.Name) and isinstance(bar, ast.Name) and shown.origin(log.id) == shown.origin(bar.id)
    common = [logged[key] for key in logged if key in barred]
    return one or all(isinstance(each, ast.Name | ast.Constant) for each in common)


def _are_bound_once(shown: DictUses, values: Collection[ast.expr]) -> bool:
    """Whether the method binds each name in some values once at most, so that they are the same wherever they stand."""
    names = {node.id for each in values for node in walk(each) if isinstance(node, ast.Name)}
    return all(sum(not isinstance(use.ctx, ast.Load) for use in uses(shown.method, name)) <= 1 for name in names)


def _in_turn(shown: DictUses, log: str, bar: str, within: bool) -> list[str]:
    """A loop over the values of both; `within` says that all that is shown is logged too."""
    taken = {node.id for node in walk(shown.method) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in walk(shown.method) if isinstance(node, ast.arg)}
    names = next((each for each in NAMES if taken.isdisjoint(each)), None)
    if names is None:
        return []
    name, value = names
    over, how = (log, "") if within else (f"{{**{bar}, **{log}}}", f", logger={name} in {log}")
    return [f"for {name}, {value} in {over}.items():\n    self.log({name}, {value}, prog_bar={name} in {bar}{how})"]


def _items(shown: DictUses, node: ast.Dict, wanted: Collection[str]) -> str:
    """Some items of a dict, as they are written."""
    source = shown.file.source_of
    pairs = zip(node.keys, node.values, strict=True)
    kept = [(key, value) for key, value in pairs if isinstance(key, ast.Constant) and key.value in wanted]
    return ", ".join(f"{source(key)}: {source(value)}" for key, value in kept)
