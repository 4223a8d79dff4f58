"""F-strings that no release of Python before 3.12 can spell."""

from __future__ import annotations

import ast

from codemods.code.nodes import every_node
from codemods.code.tree_copies import made_from


def is_unspellable(node: ast.JoinedStr) -> bool:
    """Whether a value in an f-string is written with a backslash, as no f-string could hold before Python 3.12."""
    fields = [item for item in node.values if isinstance(item, ast.FormattedValue)]
    forms = [item.format_spec for item in fields if isinstance(item.format_spec, ast.JoinedStr)]
    return any(_is_escaped(each) for item in fields for each in every_node(item.value)) or any(
        map(is_unspellable, forms)
    )


def _is_escaped(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bytes):
        return "\\" in repr(value)
    if not isinstance(value, str):
        return False
    return "\\" in value or not value.replace("\n", "").replace("\t", "").isprintable() or {"'", '"'} <= {*value}


def formatted(node: ast.JoinedStr) -> ast.Call:
    """The call of `format` that gives the same as an f-string."""
    given: list[ast.expr] = []
    method = made_from(
        node, ast.Attribute(value=_constant(node, _template(node, given)), attr="format", ctx=ast.Load())
    )
    return made_from(node, ast.Call(func=method, args=given, keywords=[]))


def _constant(node: ast.expr, text: str) -> ast.Constant:
    return made_from(node, ast.Constant(value=text))


def _template(node: ast.JoinedStr, given: list[ast.expr]) -> str:
    """The text that `format` fills with what is `given`, in the order in which an f-string works it out."""
    text = ""
    for item in node.values:
        if isinstance(item, ast.FormattedValue):
            given.append(item.value)
            conversion = f"!{chr(item.conversion)}" if item.conversion != -1 else ""
            form = f":{_template(item.format_spec, given)}" if isinstance(item.format_spec, ast.JoinedStr) else ""
            text += f"{{{conversion}{form}}}"
        elif isinstance(item, ast.Constant):
            text += str(item.value).replace("{", "{{").replace("}", "}}")
    return text
