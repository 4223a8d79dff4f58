"""The kinds of what click hands a command, told by the options that decorate it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.calls import value_of
from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.code.syntax import Function

_DECLARING = frozenset({"click.option", "click.argument"})
_TYPES = {
    "int": "int", "float": "number", "str": "str", "bool": "bool", "click.INT": "int", "click.IntRange": "int",
    "click.FLOAT": "number", "click.FloatRange": "number", "click.STRING": "str", "click.BOOL": "bool",
}  # fmt: skip
_OTHERWISE = frozenset({None, "callback", "count", "flag_value", "multiple", "nargs"})
"""Arguments with which an option gives something else than its type."""
_DEFAULTS = {int: "int", float: "number", str: "str", bool: "bool", type(None): "str"}
"""What click takes an option without a type for, by its default: text where there is none."""


def kind_of_click(file: PythonFile, function: Function, name: str) -> str:
    """The kind of a parameter, as `lightning.kinds` names kinds; `?` where click does not give it, or several."""
    for item in function.decorator_list:
        if not isinstance(item, ast.Call) or file.scope.resolve(item.func) not in _DECLARING:
            continue
        given = {each.arg: each.value for each in item.keywords}
        if _parameter(item) == name and not _OTHERWISE & given.keys():
            return _kind(file, given)
    return "?"


def options_of(file: PythonFile, function: Function) -> Iterator[tuple[ast.Constant, ast.expr | None]]:
    """The names of all that click gives a function, each where it is written, with the default."""
    for item in function.decorator_list:
        if isinstance(item, ast.Call) and file.scope.resolve(item.func) in _DECLARING and item.args:
            given = value_of(item, "default")
            yield ast.copy_location(ast.Constant(_parameter(item)), item.args[0]), given


def _parameter(declared: ast.Call) -> str:
    """The parameter that an option is for: the name without dashes, else the first with two, else the first."""
    texts = [literal(each)[1] for each in declared.args]
    names = [text for text in texts if isinstance(text, str)]
    plain = next((text for text in names if text.isidentifier()), None)
    longest = max((text.partition("/")[0] for text in names), key=lambda text: text.startswith("--"), default="")
    return plain or longest.lstrip("-").replace("-", "_").lower()


def _kind(file: PythonFile, given: dict[str | None, ast.expr]) -> str:
    if "is_flag" in given:
        return "bool"
    if stated := given.get("type"):
        made = stated.func if isinstance(stated, ast.Call) else stated
        return _TYPES.get(file.scope.resolve(made) or ast.unparse(made), "?")
    known, default = literal(given["default"]) if "default" in given else (True, None)
    return _DEFAULTS.get(type(default), "?") if known else "?"
