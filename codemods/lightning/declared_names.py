"""What the options of a command line, and the classes of a project, declare under a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import PythonFile
from codemods.code.syntax import is_self_attribute, own_nodes, self_name, targets_of

_STORED_BY = {"store_true": False, "store_false": True}
"""What an option of a command line is where it is not given, by its action."""


def default_of_option(file: PythonFile, name: str) -> ast.expr | None:
    """The default of the option of a command line that a namespace holds under a name."""
    if "parse_" not in file.text:
        return None
    for call in file.calls_near(["add_argument"]):
        given = {item.arg: item.value for item in call.node.keywords}
        flags = [
            item.value for item in call.node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        named = given.get("dest")
        words = (
            [named.value] if isinstance(named, ast.Constant) else [flag.lstrip("-").replace("-", "_") for flag in flags]
        )
        required = any(not flag.startswith("-") for flag in flags) or "required" in given
        if name in words and not required:
            action = given.get("action")
            stored = _STORED_BY.get(str(action.value)) if isinstance(action, ast.Constant) else None
            return given.get("default", ast.copy_location(ast.Constant(stored), call.node))
    return None


def texts_put_on(file: PythonFile, name: str) -> Iterator[ast.Constant]:
    """The texts that the classes of a file put on an attribute, in their bodies or on themselves."""
    for item in file.classes:
        for node in item.node.body:
            named = [target for target in targets_of(node) if isinstance(target, ast.Name) and target.id == name]
            yield from _text(node) if named else ()
        for method in item.methods.values():
            for inner in own_nodes(method):
                if any(is_self_attribute(target, name, self_name(method)) for target in targets_of(inner)):
                    yield from _text(inner)


def _text(node: ast.AST) -> Iterator[ast.Constant]:
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value
