"""The kinds of what pytest hands a test by `@pytest.mark.parametrize`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.computed import kind_of_literal

_MARK = "pytest.mark.parametrize"
_CASE = "pytest.param"


def kind_of_parametrized(file: PythonFile, function: Function, name: str) -> str:
    """The kind of a test's parameter, as `lightning.kinds` names kinds; `?` where pytest does not give it by literals
    of one kind."""
    for item in function.decorator_list:
        if isinstance(item, ast.Call) and file.scope.resolve(item.func) == _MARK and len(item.args) == 2:
            names = _names(item.args[0])
            if name in names and all(each.arg == "ids" for each in item.keywords):
                kinds = set(_kinds(file, item.args[1], names.index(name), len(names)))
                return kinds.pop() if len(kinds) == 1 else "?"
    return "?"


def _names(node: ast.expr) -> list[str]:
    value = literal(node)[1]
    if isinstance(value, str):
        return [each.strip() for each in value.split(",")]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []


def _kinds(file: PythonFile, cases: ast.expr, place: int, number: int) -> Iterator[str]:
    """The kind of a parameter's value in each case."""
    for case in cases.elts if isinstance(cases, ast.List | ast.Tuple) else [None]:
        values: list[ast.expr | None] = [case]
        if isinstance(case, ast.Call) and file.scope.resolve(case.func) == _CASE:
            values = [*case.args]
        elif number > 1:
            values = [*case.elts] if isinstance(case, ast.List | ast.Tuple) else [None]
        value = values[place] if len(values) == number else None
        yield kind_of_literal(value) if value is not None else "?"
