"""Expressions in their plain form."""

from __future__ import annotations

import ast

from codemods.code.imports import Known
from codemods.code.trees import at, changed, deep, replaced

PARTIAL = "functools.partial"


def plain_expressions(tree: ast.Module, known: Known) -> ast.Module:
    """The module with every expression in its plain form."""

    def swap(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.IfExp):
            return _either(node, known)
        return _call(node, known) if isinstance(node, ast.Call) else None

    return replaced(tree, swap)


def _either(node: ast.IfExp, known: Known) -> ast.expr | None:
    """What a conditional expression of two equal values gives."""
    same = ast.dump(node.body) == ast.dump(node.orelse)
    return at(deep(node.body), node) if same and known.is_quiet(node.test) else None


def _call(node: ast.Call, known: Known) -> ast.Call | None:
    """A call with what a partial one, or a dictionary written in it, gives."""
    made = node
    if any(item.arg is None and isinstance(item.value, ast.Dict) for item in node.keywords):
        keywords = [new for item in node.keywords for new in _spread(item)]
        made = changed(node, keywords=keywords)
    inner = node.func
    if isinstance(inner, ast.Call) and known.dotted(inner.func) == PARTIAL and inner.args:
        later = {item.arg for item in made.keywords}
        first = [item for item in inner.keywords if item.arg is None or item.arg not in later]
        if not isinstance(inner.args[0], ast.Starred):
            args = [*inner.args[1:], *made.args]
            made = changed(made, func=inner.args[0], args=args, keywords=[*first, *made.keywords])
    return None if made is node else made


def _spread(item: ast.keyword) -> list[ast.keyword]:
    """The keywords that `**{...}` gives."""
    if item.arg is not None or not isinstance(item.value, ast.Dict):
        return [item]
    keys = [key.value if isinstance(key, ast.Constant) else None for key in item.value.keys]
    if not all(isinstance(key, str) and key.isidentifier() for key in keys):
        return [item]
    found = []
    for key, name, value in zip(item.value.keys, keys, item.value.values, strict=True):
        made = ast.keyword(arg=str(name), value=value)
        place = ast.copy_location(made, key or value)
        place.end_lineno, place.end_col_offset = value.end_lineno, value.end_col_offset
        found.append(place)
    return found
