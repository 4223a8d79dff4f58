"""Code for this place, as advice has it: `...` stands for what is too long to repeat or known to its owner alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

from codemods.code.source import PythonFile
from codemods.code.syntax import Function

_LONGEST = 60


def brief(file: PythonFile, node: ast.AST) -> str:
    """The text of a node where it is short and on one line, else `...`."""
    return shortened(file.source_of(node))


def shortened(text: str) -> str:
    """A text of code where it is short and on one line, else `...`."""
    return text if 0 < len(text) <= _LONGEST and not {"\n", "`"} & set(text) else "..."


def called_on(file: PythonFile, node: ast.expr) -> str:
    """The text of an expression that a method can be called on."""
    text = brief(file, node)
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return text if plain or text == "..." else f"({text})"


def head(function: Function, gone: Collection[str] = (), name: str = "", adds: Collection[str] = ()) -> str:
    """The head of a method without some parameters, under another name or with more parameters at its end."""
    given = copy.deepcopy(function.args)
    first = [*given.posonlyargs, *given.args]
    values = [None] * (len(first) - len(given.defaults)) + [*given.defaults]
    kept = [(each, value) for each, value in zip(first, values, strict=True) if each.arg not in gone]
    given.posonlyargs = []
    given.args = [*(each for each, _ in kept), *(ast.arg(each) for each in adds)]
    given.defaults = [] if adds else [value for _, value in kept if value is not None]
    last = [(each, value) for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    last = [(each, value) for each, value in last if each.arg not in gone]
    given.kwonlyargs, given.kw_defaults = [each for each, _ in last], [value for _, value in last]
    return f"def {name or function.name}({ast.unparse(given)})"
