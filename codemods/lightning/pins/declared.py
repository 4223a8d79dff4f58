"""setup.py and setup.cfg. A setup.py is parsed, never run: what it asks for is read where it is written as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import is_name
from codemods.lightning.pins.lines import logical_lines
from codemods.lightning.pins.pin import Pin, read
from codemods.lightning.pins.specifier import pep440

_LISTS = ("install_requires", "extras_require", "tests_require", "setup_requires")
_SECTIONS = {"options": ("install_requires", "tests_require", "setup_requires"), "options.extras_require": None}
_SETUP = ("setuptools.setup", "distutils.core.setup", "skbuild.setup", "numpy.distutils.core.setup", "setup")


def setup_py(text: str) -> Iterator[Pin]:
    """The requirements that a call of `setup` is given in lists of literals, through names and sums of lists."""
    try:
        file = PythonFile("setup.py", text, ast.parse(text), "utf-8", False)
    except (SyntaxError, ValueError, RecursionError):
        return
    values = _Values(file)
    for call in file.calls_near(["requires", "require", "setup", "install"]):
        target = call.scope.resolve(call.node.func) or ""
        if target not in _SETUP and not target.endswith(".setup"):
            continue
        for name, value in values.keywords(call.node):
            for group, node in values.grouped(value, "" if name == "install_requires" else name):
                for pin in _of_string(file, node) if name in _LISTS else ():
                    yield replace(pin, group=group)
            if name == "python_requires":
                for node in values.strings(value):
                    yield from _python(file, node)


class _Values:
    """The strings that expressions of a module are made of."""

    def __init__(self, file: PythonFile) -> None:
        self._file = file
        self._changes = [node for node in walk(file.tree) if isinstance(node, ast.AugAssign | ast.Assign | ast.Call)]

    def keywords(self, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        """The keywords of a call, those of a dict behind `**` included."""
        for keyword in call.keywords:
            if keyword.arg:
                yield keyword.arg, keyword.value
                continue
            for value in self._assigned(keyword.value):
                yield from self._entries(value)

    def _entries(self, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            for keyword in node.keywords:
                if keyword.arg:
                    yield keyword.arg, keyword.value

    def _assigned(self, node: ast.expr) -> Iterator[ast.expr]:
        """What a name is given, anywhere in the module; another expression is itself."""
        if not isinstance(node, ast.Name):
            yield node
            return
        for item in self._file.assignments_to(node.id):
            if item.node.value:
                yield item.node.value
        for change in self._changes:
            if isinstance(change, ast.AugAssign) and is_name(change.target, node.id):
                yield change.value
            elif isinstance(change, ast.Assign):
                if any(isinstance(item, ast.Subscript) and is_name(item.value, node.id) for item in change.targets):
                    yield change.value
            elif isinstance(change, ast.Call) and _adds_to(change.func, node.id):
                yield from change.args

    def grouped(self, node: ast.expr, name: str) -> Iterator[tuple[str, ast.Constant]]:
        """The string literals of an expression, with the key of the dict that they stand under."""
        for value in self._assigned(node):
            entries = list(self._entries(value))
            for key, inner in entries or [(name, value)]:
                yield from ((key, string) for string in self.strings(inner))
        if isinstance(node, ast.Name):
            yield from ((name, string) for string in self.strings(node))

    def strings(self, node: ast.expr) -> Iterator[ast.Constant]:
        """The string literals that an expression puts together, each once; names may lead back to themselves."""
        left, seen = [node], set()
        while left:
            item = left.pop()
            if item in seen:
                continue
            seen.add(item)
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                yield item
            left += reversed(self._parts(item))

    def _parts(self, node: ast.expr) -> list[ast.expr]:
        """What the strings of an expression come from."""
        if isinstance(node, ast.Name):
            return list(self._assigned(node))
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return node.elts
        if isinstance(node, ast.Dict):
            return node.values
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [node.left, node.right]
        if isinstance(node, ast.IfExp):
            return [node.body, node.orelse]
        if isinstance(node, ast.Starred | ast.Subscript):
            return [node.value]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            given = [*node.args] if node.func.id in ("list", "sorted", "set", "tuple") else []
            return given + ([item.value for item in node.keywords] if node.func.id == "dict" else [])
        return []


def _adds_to(function: ast.expr, name: str) -> bool:
    adds = isinstance(function, ast.Attribute) and function.attr in ("append", "extend", "update", "insert")
    return adds and isinstance(function, ast.Attribute) and is_name(function.value, name)


def _of_string(file: PythonFile, node: ast.Constant) -> Iterator[Pin]:
    """The requirement of one string, or those of a string of several lines."""
    offset = _inside(file, node)
    for start, line in logical_lines(str(node.value)):
        pin = read(line, start, len(line) - len(line.lstrip()))
        if pin:
            yield pin.at(offset)


def _python(file: PythonFile, node: ast.Constant) -> Iterator[Pin]:
    stated = str(node.value)
    try:
        requirement = f"python{pep440(stated)}"
    except ValueError:
        return
    yield Pin("python", requirement, 0, len(stated), stated, 0).at(_inside(file, node))


def _inside(file: PythonFile, node: ast.Constant) -> int | None:
    """Where the characters of a string stand; None where its text is not written as it is."""
    start, end = file.offsets(node)
    written, value = file.text[start:end], str(node.value)
    for quote in ('"""', "'''", '"', "'"):
        if written.endswith(quote) and len(written) >= 2 * len(quote):
            inner = len(written) - len(quote) - len(value)
            plain = written[inner:].startswith(value) and written[:inner].lstrip("rRuU") == quote
            return start + inner if plain else None
    return None


_SECTION = re.compile(r"\[([^\]]+)\]\s*$")
_OPTION = re.compile(r"([A-Za-z0-9_.-]+)\s*[=:]")


def setup_cfg(text: str) -> Iterator[Pin]:
    """The requirements of `[options]` and `[options.extras_require]`."""
    section, option, offset = "", "", 0
    for raw in text.splitlines(keepends=True):
        line, start = raw.rstrip("\r\n"), offset
        offset += len(raw)
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        indent = len(line) - len(line.lstrip())
        if not indent:
            if match := _SECTION.match(line):
                section, option = match.group(1).strip(), ""
                continue
            match = _OPTION.match(line)
            option = match.group(1).lower().replace("-", "_") if match else ""
            indent = match.end() if match else len(line)
            indent += len(line[indent:]) - len(line[indent:].lstrip())
        if section not in _SECTIONS or not line[indent:].strip():
            continue
        wanted = _SECTIONS[section]
        if section == "options" and option == "python_requires":
            yield from _python_line(line[indent:].strip(), start + indent)
        elif wanted is None or option in wanted:
            pin = read(re.sub(r"\s[#;].*$", "", line), start, indent)
            if pin:
                yield replace(pin, group="" if option == "install_requires" else option)


def _python_line(stated: str, offset: int) -> Iterator[Pin]:
    try:
        requirement = f"python{pep440(stated)}"
    except ValueError:
        return
    yield Pin("python", requirement, offset, offset + len(stated), stated, offset)
