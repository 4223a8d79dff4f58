"""What a project's own code passes to the classes that it builds, followed back through the assignments before."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from verify.reading.sources import Sources

NONE = object()
"""What is not known."""
DEPTH = 5
_AS_IT_IS = frozenset({"to", "cuda", "cpu", "eval", "train", "float"})
_CASTS = frozenset({"float", "int", "str", "bool", "list", "dict", "vars", "tuple"})


@dataclass(frozen=True)
class CallerScope:
    """What the names in a function of a file stand for: its dotted name, the names imported into it or defined in it
    as dotted names, the constants of the file, and what is assigned in the function, each with its line."""

    known: Mapping[str, str]
    constants: Mapping[str, Any]
    assigned: Mapping[str, list[ast.expr]] = field(default_factory=dict)

    def within(self, function: ast.AST) -> CallerScope:
        """The scope of a function of the file."""
        found: dict[str, list[ast.expr]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(node.value)
        return CallerScope(self.known, self.constants, found)


def scope(sources: Sources, path: str, constants: Mapping[str, Any]) -> CallerScope:
    """The names of a file."""
    tree = sources.tree(path)
    name = dotted(sources, path)
    package = name.split(".")[:-1] if not path.endswith("__init__.py") else name.split(".")
    known: dict[str, str] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                known[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            for alias in node.names:
                known[alias.asname or alias.name] = ".".join([*above, *filter(None, [node.module]), alias.name])
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            known[node.name] = f"{name}.{node.name}"
    return CallerScope(known, constants)


def dotted(sources: Sources, path: str) -> str:
    """The name that a file is imported by from the project's folder, or from its `src`."""
    pure = PurePosixPath(path).with_suffix("")
    parts = list(pure.parts)
    if parts[0] == "src" and "src/__init__.py" not in sources.paths():
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def calls(tree: ast.Module, outer: CallerScope) -> Iterator[tuple[ast.Call, CallerScope]]:
    """Every call of a file with the scope that it stands in."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside: set[int] = set()
    for function in reversed(functions):
        held = outer.within(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and id(node) not in inside:
                inside.add(id(node))
                yield node, held
    held = outer.within(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and id(node) not in inside:
            yield node, held


def meant(node: ast.expr, scope: CallerScope, depth: int = 0) -> Any:
    """An expression as a description of an argument, `{"@": "hint"}` for what goes by a name; `NONE` where it cannot
    be told."""
    if depth > DEPTH:
        return NONE
    if isinstance(node, ast.Constant):
        return node.value if node.value is None or isinstance(node.value, bool | int | float | str) else NONE
    if isinstance(node, ast.Name):
        return _of_name(node, scope, depth)
    if isinstance(node, ast.Attribute):
        name = _dotted(node, scope)
        return {"@": "named", "name": name} if name else {"@": "hint", "name": node.attr}
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return {"@": "hint", "name": key} if isinstance(key, str) else NONE
    if isinstance(node, ast.List | ast.Tuple):
        items = [meant(item, scope, depth + 1) for item in node.elts]
        if NONE in items:
            return NONE
        return items if isinstance(node, ast.List) else {"@": "tuple", "items": items}
    if isinstance(node, ast.Dict):
        pairs = [(getattr(key, "value", None), each) for key, each in zip(node.keys, node.values, strict=True)]
        values = {key: _by_place(each, scope, depth + 1) for key, each in pairs if isinstance(key, str)}
        return {"@": "config", "values": {key: value for key, value in values.items() if value is not NONE}}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = meant(node.operand, scope, depth + 1)
        return -value if isinstance(value, int | float) else NONE
    return _of_call(node, scope, depth) if isinstance(node, ast.Call) else NONE


def _of_name(node: ast.Name, scope: CallerScope, depth: int) -> Any:
    before = [value for value in scope.assigned.get(node.id, ()) if (value.end_lineno or value.lineno) < node.lineno]
    if before:
        found = meant(before[-1], scope, depth + 1)
        if found is not NONE:
            return found
    if node.id in scope.constants:
        return scope.constants[node.id]
    if node.id in scope.known and not before:
        return {"@": "named", "name": scope.known[node.id]}
    return {"@": "hint", "name": node.id}


def _of_call(node: ast.Call, scope: CallerScope, depth: int) -> Any:
    called = node.func
    if isinstance(called, ast.Name) and called.id in _CASTS and called.id not in scope.known:
        return meant(node.args[0], scope, depth + 1) if len(node.args) == 1 else NONE
    if isinstance(called, ast.Name) and called.id == "len" and len(node.args) == 1:
        return {"@": "len", "of": meant(node.args[0], scope, depth + 1)}
    name = _dotted(called, scope)
    if isinstance(called, ast.Attribute) and name is None:
        return meant(called.value, scope, depth + 1) if called.attr in _AS_IT_IS else NONE
    arguments = list(node.args)
    partial = name == "functools.partial"
    if partial and arguments:
        name, called = _dotted(arguments[0], scope), arguments.pop(0)
    made: dict[str, Any] = {"@": "call"}
    if name:
        made["name"] = name
    else:
        of = meant(called, scope, depth + 1)
        if not isinstance(of, dict) or of.get("@") != "call":
            return NONE
        made["of"] = of
    given = [_by_place(item, scope, depth + 1) for item in arguments]
    named = {keyword.arg: meant(keyword.value, scope, depth + 1) for keyword in node.keywords if keyword.arg}
    if NONE in given:
        return NONE
    made["args"] = given
    made["kwargs"] = {key: value for key, value in named.items() if value is not NONE}
    return {**made, "partial": True} if partial else made


def _by_place(node: ast.expr, scope: CallerScope, depth: int) -> Any:
    """What is passed by its place, or held by a key, with the name that it goes by in case that its value is not
    known."""
    found = meant(node, scope, depth)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    if not name or (found is not NONE and not isinstance(found, dict | list)):
        return found
    return {"@": "or", "first": {"@": "hint", "name": name} if found is NONE else found, "name": name}


def _dotted(node: ast.expr, scope: CallerScope) -> str | None:
    """The dotted name of something imported or defined in the file."""
    if isinstance(node, ast.Name):
        return scope.known.get(node.id) if node.id not in scope.assigned else None
    if isinstance(node, ast.Attribute) and (base := _dotted(node.value, scope)):
        return f"{base}.{node.attr}"
    return None


def hinted(value: Any) -> Iterator[str]:
    """What goes by a name in a description."""
    if isinstance(value, dict) and value.get("@") == "hint":
        yield value["name"]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from hinted(inner)


def settled(value: Any, values: Mapping[str, list[Any]]) -> Any:
    """A description with what goes by a name as the project's value of that name; where it has none, `NONE`, or
    `{"@": "unknown"}` with that name for what is passed by its place or held in a dictionary."""
    if isinstance(value, list):
        items = [settled(item, values) for item in value]
        return NONE if NONE in items else items
    if not isinstance(value, dict):
        return value
    if value.get("@") == "hint":
        held = values.get(value["name"])
        return held[0] if held else NONE
    if value.get("@") == "or":
        found = settled(value["first"], values)
        return {"@": "unknown", "name": value["name"]} if found is NONE else found
    if value.get("@") == "config":
        known = {name: settled(item, values) for name, item in value["values"].items()}
        return {"@": "config", "values": {name: item for name, item in known.items() if item is not NONE}}
    if value.get("@") == "len":
        of = settled(value["of"], values)
        return len(of) if isinstance(of, list | str) else NONE
    if value.get("@") == "call":
        made = dict(value)
        if "of" in value and (of := settled(value["of"], values)) is not NONE:
            made["of"] = of
        elif "of" in value:
            return NONE
        given = settled(value.get("args", []), values)
        named = {name: settled(item, values) for name, item in value["kwargs"].items()}
        if given is NONE:
            return NONE
        return {**made, "args": given, "kwargs": {key: item for key, item in named.items() if item is not NONE}}
    inner = {name: settled(item, values) for name, item in value.items()}
    return NONE if NONE in inner.values() else inner


__all__ = ["NONE", "CallerScope", "calls", "dotted", "hinted", "meant", "scope", "settled"]
