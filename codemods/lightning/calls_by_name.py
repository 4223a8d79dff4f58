"""Who asks for a method by its name, other than the same method of a class below."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_super_call
from codemods.lightning.facts import Facts


def asked_otherwise(file: PythonFile, facts: Facts, name: str) -> Iterator[tuple[str, ast.Attribute, ast.Call | None]]:
    """Where a file, and others that mention it, ask for a method of something, other than for that of a base in a
    method of the same name: the path, what is asked for, and the call where it is called."""
    for path in sorted({file.path, *facts.mentions.get(f".{name}".encode(), ())}):
        other = file if path == file.path else facts.open(path)
        calls = {id(call.node.func): call for call in other.calls_near([name])} if other else {}
        for node in other.attributes(name) if other else ():
            call = calls.get(id(node))
            if call is None or not (of_base(call.node, name) and name in methods_around(call)):
                yield path, node, call.node if call else None


def of_base(call: ast.Call, name: str) -> bool:
    """Whether a call of a method is that of a base: `super().method()` or `Base.method(self)`."""
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    first = call.args[0] if call.args else None
    return is_super_call(call, name) or (isinstance(first, ast.Name) and first.id == "self" != owner)


def methods_around(call: CallNode) -> set[str]:
    """The names of the functions around a call."""
    return {item.name for item in call.within if isinstance(item, ast.FunctionDef)}
