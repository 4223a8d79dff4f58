"""All that a project says for a name of a configuration, wherever it does: fields and attributes of classes, stores to
attributes and keys, keywords, options of a command line, comparisons, and its YAML, JSON and TOML files."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.calls import last_name
from codemods.code.literals import literal
from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.code.syntax import arms_of, targets_of
from codemods.lightning.configured_values import texts_in_configurations
from codemods.lightning.facts import Facts


def texts_given(facts: Facts, name: str) -> frozenset[str | None]:
    """The texts, and None, that are given to a name anywhere in the project; none where something else may be."""
    known: dict[str, frozenset[str | None]] = facts.of_sources.setdefault("texts given", {})
    if name not in known:
        known[name] = _all(facts, name)
    return known[name]


def _all(facts: Facts, name: str) -> frozenset[str | None]:
    found: set[str | None] = {value for _, value in texts_in_configurations(facts, name)}
    for path, source in facts.holding(name):
        file = facts.open(path) if source.kind in ("python", "notebook") else None
        for value in _given(file, name) if file else ():
            for arm in _arms(value):
                text = literal(arm)[1]
                if not literal(arm)[0] or not (text is None or isinstance(text, str)):
                    return frozenset()
                found.add(text)
    return frozenset(found)


def _given(file: PythonFile, name: str) -> Iterator[ast.expr]:
    """The expressions that a file gives to a name, but for what has the same name; `...` for what is not seen."""
    plain: set[int] = set()
    for node in every_node(file.tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            named = [target for target in targets_of(node) if _name(target) == name]
            plain.update(map(id, named))
            if named and node.value is not None and _name(node.value) != name:
                yield node.value
        elif isinstance(node, ast.keyword) and node.arg == name and _name(node.value) != name:
            yield node.value
        elif isinstance(node, ast.Dict):
            entries = zip(node.keys, node.values, strict=True)
            yield from (value for key, value in entries if key is not None and literal(key) == (True, name))
        elif isinstance(node, ast.Call):
            yield from _by_call(node, name)
        elif isinstance(node, ast.Compare) and name in map(_name, sides := [node.left, *node.comparators]):
            listed = (side.elts if isinstance(side, ast.List | ast.Tuple | ast.Set) else [side] for side in sides)
            yield from (side for each in listed for side in each if isinstance(side, ast.Constant))
        elif isinstance(node, ast.arguments):
            yield from _defaults(node, name)
    for node in every_node(file.tree):
        stored = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
        if stored and id(node) not in plain and _name(node) == name:
            yield ast.Constant(...)


def _by_call(node: ast.Call, name: str) -> Iterator[ast.expr]:
    """What an option of that name has by default and offers, and what no other call that says the name tells."""
    said = [literal(item)[1] for item in node.args]
    spoken = {item.lstrip("-").replace("-", "_") for item in said if isinstance(item, str)}
    called = last_name(node.func)
    if name not in spoken or called in ("getattr", "hasattr", "get", "pop", "print"):
        return
    given = {item.arg: item.value for item in node.keywords}
    if called != "add_argument" or {"action", "required", "nargs", "const"} & given.keys():
        yield ast.Constant(...)
        return
    choices = given.get("choices")
    yield given.get("default", ast.Constant(None))
    if isinstance(choices, ast.List | ast.Tuple):
        yield from choices.elts


def _defaults(node: ast.arguments, name: str) -> Iterator[ast.expr]:
    every = [*node.posonlyargs, *node.args]
    given = [*zip(every[len(every) - len(node.defaults) :], node.defaults, strict=True)]
    given += [(item, value) for item, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value]
    yield from (value for item, value in given if item.arg == name)


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Subscript):
        value = literal(node.slice)[1]
        return value if isinstance(value, str) else None
    return last_name(node) if isinstance(node, ast.expr) else None


def _arms(node: ast.expr) -> list[ast.expr]:
    """What a value may be, or the default of what is a field of a dataclass."""
    if isinstance(node, ast.Call) and last_name(node.func) == "field":
        return [item.value for item in node.keywords if item.arg == "default"] or [node]
    return arms_of(node)
