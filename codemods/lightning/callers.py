"""Where the functions and classes of a project are called, or read otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.instance_types import ReadingPlace, methods_of, shape_of, times_spoken

_CODE = ("python", "notebook")
_CONFIGS = ("yaml", "json", "toml")
Use = tuple[PythonFile, ast.expr, CallNode | None]
"""A reading of a name, with the call that it is called by."""
Given = tuple[PythonFile, ast.expr, CallNode | None, ast.expr | bool | None]
"""The same with what the call gives: an expression, False where it leaves it to the default, None where it is not
seen."""

MANY = 40
"""Of a function whose name the project speaks of more often, calls in other files are not looked for."""


class Callers:
    """The readings of functions and classes, looked for in the files that hold their names; `file` may be newer than
    the facts."""

    def __init__(self, facts: Facts, file: PythonFile, opened: Callable[[str], PythonFile | None]) -> None:
        self.facts, self.file, self.open = facts, file, opened

    def of(self, file: PythonFile, owner: object, name: str) -> list[Use]:
        """The readings of a function or class, looked for once."""
        made: dict[object, list[Use]] = memo_of(self.file, self.facts).setdefault("uses", {})
        asked = file.path, owner, name
        if asked not in made:
            made[asked] = list(self._uses(file, owner, name))
        return made[asked]

    def given(self, file: PythonFile, within: tuple[ast.AST, ...], name: str) -> Iterator[Given]:
        """What is given for a parameter of the innermost function at each reading of it."""
        function: ast.FunctionDef | ast.AsyncFunctionDef = within[-1]  # type: ignore[assignment]
        owner = within[-2] if len(within) > 1 else None
        position = _position(function, name) - (1 if owner is not None else 0)
        for other, use, call in self.of(file, owner, called_name(function, owner)):
            yield other, use, call, _argument(call.node, name, position) if call else None

    def configured(self, name: str) -> str | None:
        """A configuration that names a function or class by its dotted name, and may give it anything."""
        known: dict[str, str | None] = self.facts.of_sources.setdefault("configured", {})
        if name not in known:
            spoken, word = name.encode(), re.compile(rb"\w\." + name.encode() + rb"\b(?!\()")
            others = ((path, source) for path, source in sorted(self.facts.sources.items()) if source.kind in _CONFIGS)
            known[name] = next((path for path, one in others if spoken in one.data and word.search(one.data)), None)
        return known[name]

    def _uses(self, file: PythonFile, owner: object, name: str) -> Iterator[Use]:
        """The readings of a function or class anywhere in the project, each with the call that it is called by."""
        dotted = f"{file.module}.{name}"
        method = isinstance(owner, ast.ClassDef) and owner.name != name
        for other in self._speaking(name):
            names = {name, *(() if method else _other_names(other, name))}
            near = other.near(sorted(names))
            calls = {id(call.node.func): call for call in near.calls}
            found: list[ast.expr] = [item for item in near.attributes if item.attr == name]
            spoken = (node for node, _ in other.nodes_near(sorted(names)) if isinstance(node, ast.Name))
            found += [node for node in spoken if node.id in names]
            for use in found:
                if not isinstance(use.ctx, ast.Load):  # type: ignore[attr-defined]
                    continue
                call = calls.get(id(use))
                if method:
                    if isinstance(use, ast.Attribute):
                        yield other, use, call
                    continue
                scope = call.scope if call else other.scope
                meant = scope.resolve(use)
                if meant == dotted or (meant and self._is(meant, other, file, name)):
                    yield other, use, call
                elif meant is None and isinstance(use, ast.Name) and (other is file or other.scope.stars):
                    yield other, use, None

    def _is(self, dotted: str, near: PythonFile, file: PythonFile, name: str) -> bool:
        """Whether a dotted name stands for what a file defines under a name."""
        found = self.facts.find_definition(dotted, near.path)
        return found is not None and found[0].path == file.path and found[1].name == name

    def _speaking(self, name: str) -> Iterator[PythonFile]:
        known: dict[str, list[str]] = self.facts.of_sources.setdefault("speaking", {})
        if name not in known:
            spoken, word = name.encode(), re.compile(rb"\b" + name.encode() + rb"\b")
            known[name] = sorted(
                path
                for path, source in self.facts.sources.items()
                if source.kind in _CODE and spoken in source.unescaped and word.search(source.unescaped)
            )
        for path in known[name]:
            if (opened := self.open(path)) is not None:
                yield opened


def _other_names(file: PythonFile, name: str) -> Iterator[str]:
    """The names that a file imports a function or class under instead of its own."""
    for node in file.imports:
        yield from (item.asname for item in node.names if item.asname and item.name.rpartition(".")[2] == name)


def called_name(function: ast.FunctionDef | ast.AsyncFunctionDef, owner: object) -> str:
    """The name by which a function is called; the constructor of a class by that of the class."""
    return owner.name if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function.name


def _position(function: Function, name: str) -> int:
    names = [item.arg for item in [*function.args.posonlyargs, *function.args.args]]
    return names.index(name) if name in names else -100


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | bool | None:
    """What a call gives a parameter: an expression, False where it leaves it to the default, None where it is not
    seen."""
    for item in call.keywords:
        if item.arg == name:
            return item.value
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        return None
    return call.args[position] if 0 <= position < len(call.args) else False


def calls_of(at: ReadingPlace, facts: Facts, function: Function) -> Iterator[tuple[ReadingPlace, ast.Call, bool]]:
    """The calls that may be of a function of a file, wherever they stand, and whether it is a method."""
    for call in at.file.calls_near([function.name]):
        if isinstance(call.node.func, ast.Name) and call.node.func.id == function.name:
            yield ReadingPlace.of(at.file, call), call.node, False
    owner = next((item.node for item in at.file.classes if function in item.methods.values()), None)
    name = called_name(function, owner)
    if (owner is None and function not in at.file.tree.body) or times_spoken(facts, name) > MANY:
        return
    callers = Callers(facts, at.file, lambda path: at.file if path == at.file.path else facts.open(path))
    for file, _, found in callers.of(at.file, owner, name):
        there = ReadingPlace.of(file, found) if found and (owner or file is not at.file) else None
        if found and there and (owner is None or owner.name == name or _may_be_of(there, facts, found.node, function)):
            yield there, found.node, owner is not None


def _may_be_of(at: ReadingPlace, facts: Facts, call: ast.Call, method: Function) -> bool:
    """Whether a call of a method of that name may be of this one."""
    shape = shape_of(at, facts, call.func.value) if isinstance(call.func, ast.Attribute) else None
    return shape is None or any(found is method for *_, found in methods_of(facts, *shape, method.name))
