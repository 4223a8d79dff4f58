"""The files that rules look at: text, and for Python the `ast` with names resolved and nodes indexed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from codemods.finding import Span
from codemods.nodes import CHILD_FIELDS
from codemods.scopes import Scope, bind

BOM = b"\xef\xbb\xbf"
_IGNORE = re.compile(r"#\s*fixer:\s*ignore\b(?:\[([A-Z0-9:,\s]+)\])?")


@dataclass(frozen=True)
class Source:
    """A tracked file as bytes. `kind` says which rules may look at it (`python`, `requirements`, ...)."""

    path: str
    kind: str
    data: bytes


class Unreadable(Exception):
    """A file that cannot be looked at; the text says why."""


@dataclass(frozen=True)
class TextFile:
    """A file that is not Python. `text` keeps its line endings; `encode` undoes `decode`."""

    path: str
    kind: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False

    @classmethod
    def decode(cls, source: Source) -> TextFile:
        """Raises Unreadable where the bytes are not UTF-8."""
        try:
            return cls(
                source.path,
                source.kind,
                source.data.decode("utf-8-sig"),
                "utf-8",
                source.data.startswith(BOM),
            )
        except UnicodeDecodeError as error:
            raise Unreadable(f"not UTF-8: {error.reason} at byte {error.start}") from None

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in the encoding, and with the byte order mark, of the file."""
        return (BOM if self.bom else b"") + text.encode(self.encoding)

    @cached_property
    def ignores(self) -> Mapping[int, frozenset[str]]:
        """The codes that a `# fixer: ignore[CODE]` comment switches off, by line; `*` stands for all."""
        lines = enumerate(self.text.split("\n"), 1)
        return {number: codes for number, line in lines if (codes := ignored_codes(line))}

    def span(self, start: int, end: int) -> Span:
        """The place of the characters `start:end`."""
        before, upto = self.text[:start], self.text[:end]
        return Span(
            before.count("\n") + 1,
            start - (before.rfind("\n") + 1) + 1,
            upto.count("\n") + 1,
            end - (upto.rfind("\n") + 1) + 1,
        )


@dataclass(frozen=True)
class ClassNode:
    """A class, the scope that its bases are read in, and its own methods by name (the last one wins)."""

    node: ast.ClassDef
    scope: Scope
    qualname: str

    @cached_property
    def methods(self) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
        return {
            child.name: child for child in self.node.body if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        }


class CallNode(NamedTuple):
    """A call, the scope of its names, and the functions and classes around it, outermost first."""

    node: ast.Call
    scope: Scope
    within: tuple[ast.AST, ...]


class AssignNode(NamedTuple):
    """An assignment statement, and the functions and classes around it, outermost first."""

    node: ast.Assign | ast.AnnAssign
    within: tuple[ast.AST, ...]


class _Outline:
    """What statements alone tell of a file, and the scope that each class and function opens."""

    def __init__(self, module: Scope) -> None:
        self.classes: list[ClassNode] = []
        self.assignments: list[AssignNode] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.scopes: dict[ast.AST, Scope] = {}
        self._add(module, (), "")

    def _add(self, scope: Scope, within: tuple[ast.AST, ...], prefix: str) -> None:
        node: Any
        for node in scope.statements:
            kind = type(node)
            if kind is ast.Assign or kind is ast.AnnAssign:
                self.assignments.append(AssignNode(node, within))
            elif kind is ast.Import or kind is ast.ImportFrom:
                self.imports.append(node)
            elif kind is ast.ClassDef:
                self.classes.append(ClassNode(node, scope, prefix + node.name))
                self._add(self._open(node, scope), (*within, node), f"{prefix}{node.name}.")
            elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                self._add(self._open(node, scope), (*within, node), prefix)

    def _open(self, node: ast.stmt, scope: Scope) -> Scope:
        self.scopes[node] = opened = bind(node, scope=scope)
        return opened


class _Expressions:
    """The calls and attributes of a file, in order: all, or those of the statements on whose lines one of `lines`
    is."""

    def __init__(self, module: Scope, scopes: Mapping[ast.AST, Scope], lines: Sequence[int] | None = None) -> None:
        self.calls: list[CallNode] = []
        self.attributes: list[ast.Attribute] = []
        self._scopes, self._lines = scopes, lines
        self._add(getattr(module.node, "body", []), module, ())

    def _add(self, nodes: Sequence[ast.AST], scope: Scope, within: tuple[ast.AST, ...]) -> None:
        stack: list[Any] = list(reversed(nodes))
        while stack:
            node = stack.pop()
            kind = type(node)
            fields = CHILD_FIELDS.get(kind)
            if fields is None or (self._lines is not None and kind in _STATEMENTS and not _holds(node, self._lines)):
                continue
            if kind is ast.Call:
                self.calls.append(CallNode(node, scope, within))
            elif kind is ast.Attribute:
                self.attributes.append(node)
            elif kind is ast.ClassDef:
                inside = [*node.bases, *node.keywords, *node.body, *node.decorator_list]
                self._add(inside, self._scopes[node], (*within, node))
                continue
            elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                self._add(node.body, self._scopes[node], (*within, node))
                stack.extend([*node.decorator_list, *node.args.defaults, *node.args.kw_defaults])
                continue
            for name in fields:
                value = getattr(node, name)
                if type(value) is list:
                    stack.extend(reversed(value))
                else:
                    stack.append(value)


_STATEMENTS = frozenset(kind for kind in CHILD_FIELDS if issubclass(kind, ast.stmt))


def _holds(node: Any, lines: Sequence[int]) -> bool:
    """Whether a statement stretches over one of some lines, which are in order."""
    decorators = getattr(node, "decorator_list", None)
    index = bisect_left(lines, decorators[0].lineno if decorators else node.lineno)
    return index < len(lines) and lines[index] <= node.end_lineno


@dataclass(frozen=True)
class PythonFile:
    """A Python file: its text, its `ast`, and an index made by one walk that all rules share."""

    path: str
    text: str
    tree: ast.Module
    encoding: str
    bom: bool

    @classmethod
    def parse(cls, source: Source) -> PythonFile:
        """Raises Unreadable, with the line, where the bytes are not Python of this interpreter."""
        data = source.data
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            text = data.decode(encoding)
            tree = ast.parse(text)
        except SyntaxError as error:
            place = f"line {error.lineno}: " if error.lineno else ""
            raise Unreadable(f"does not parse as Python 3: {place}{error.msg}") from None
        except (UnicodeDecodeError, LookupError, ValueError, RecursionError, MemoryError) as error:
            raise Unreadable(f"cannot be read as Python: {error}") from None
        bom = data.startswith(BOM)
        return cls(source.path, text, tree, "utf-8" if bom else encoding, bom)

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in the encoding, and with the byte order mark, of the file."""
        return (BOM if self.bom else b"") + text.encode(self.encoding)

    @cached_property
    def module(self) -> str:
        """The dotted name of the module, counted from the root of the tree."""
        return module_name(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines as `ast` counts them, with their ends."""
        return list(io.StringIO(self.text, newline=""))

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What the rules of a family worked out of the file, kept for one another under a name of theirs."""
        return {}

    @cached_property
    def scope(self) -> Scope:
        """The module's own names."""
        return bind(self.tree, self.path)

    @cached_property
    def _outline(self) -> _Outline:
        return _Outline(self.scope)

    @cached_property
    def _expressions(self) -> _Expressions:
        return _Expressions(self.scope, self._outline.scopes)

    @property
    def classes(self) -> list[ClassNode]:
        return self._outline.classes

    @property
    def calls(self) -> list[CallNode]:
        return self._expressions.calls

    def calls_near(self, words: Iterable[str]) -> list[CallNode]:
        """Every call that spells one of some words, and others that share a statement with one: of `calls`, those
        that can matter to who looks for the words, at a small part of the cost."""
        return self._near(words).calls

    def _near(self, words: Iterable[str]) -> _Expressions:
        if "_expressions" in vars(self):
            return self._expressions
        asked = frozenset(words)
        if asked not in self._walked:
            lines = sorted({line for word in asked for line in self._lines_with(word)})
            self._walked[asked] = _Expressions(self.scope, self._outline.scopes, lines)
        return self._walked[asked]

    @cached_property
    def _walked(self) -> dict[frozenset[str], _Expressions]:
        return {}

    def _lines_with(self, word: str) -> Iterator[int]:
        """The lines in which a word stands, counted as `ast` does."""
        text = self._plain
        line, start = 1, 0
        place = text.find(word)
        while place >= 0:
            line += text.count("\n", start, place)
            yield line
            start, place = place, text.find(word, place + 1)

    @cached_property
    def _plain(self) -> str:
        """The text with every line end as one character."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in self.text else self.text

    @property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        """The import statements, in whatever function they stand."""
        return self._outline.imports

    @property
    def assignments(self) -> list[AssignNode]:
        return self._outline.assignments

    def assignments_to(self, name: str) -> list[AssignNode]:
        """Every statement that assigns to the plain name."""
        return self._assigned.get(name, [])

    @cached_property
    def _assigned(self) -> dict[str, list[AssignNode]]:
        found: dict[str, list[AssignNode]] = {}
        for item in self._outline.assignments:
            targets = item.node.targets if isinstance(item.node, ast.Assign) else [item.node.target]
            for name in {target.id for target in targets if isinstance(target, ast.Name)}:
                found.setdefault(name, []).append(item)
        return found

    def attributes(self, name: str) -> list[ast.Attribute]:
        """Every `something.name` of the file."""
        return [node for node in self._near([name]).attributes if node.attr == name]

    def spellings(self, name: str) -> frozenset[str]:
        """The identifiers that may stand for something whose dotted name ends in `name`: it, and what it is
        imported as. Empty where the file does not hold the word."""
        if name not in self.text:
            return frozenset()
        aliases = (alias for node in self.imports for alias in node.names)
        renamed = (alias.asname for alias in aliases if alias.name.rpartition(".")[2] == name)
        return frozenset({name, *filter(None, renamed)})

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> Span:
        """The place of a node: 1-based, in code points (`ast` counts UTF-8 bytes)."""
        end_line = node.end_lineno or node.lineno
        end = node.end_col_offset if node.end_col_offset is not None else node.col_offset
        return Span(node.lineno, self._column(node.lineno, node.col_offset), end_line, self._column(end_line, end))

    def offsets(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> tuple[int, int]:
        """The 0-based offsets into the text between which a node stands."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column)

    def _offset(self, line: int, column: int) -> int:
        before = sum(len(text) for text in self.lines[: line - 1])
        return before + len(self.lines[line - 1].encode()[:column].decode())

    def head(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Span:
        """The place of the first line of a class or function: `def name(...):`."""
        line = self.lines[node.lineno - 1].rstrip()
        return Span(node.lineno, self._column(node.lineno, node.col_offset), node.lineno, len(line) + 1)

    def source_of(self, node: ast.AST) -> str:
        """The text of a node, without what surrounds it."""
        if not isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword) or node.end_lineno is None:
            return ""
        if node.lineno == node.end_lineno and (line := self.lines[node.lineno - 1]).isascii():
            return line[node.col_offset : node.end_col_offset]
        lines = [line.encode() for line in self.lines[node.lineno - 1 : node.end_lineno]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode(errors="replace")

    def _column(self, line: int, offset: int) -> int:
        if line > len(self.lines):
            return offset + 1
        return len(self.lines[line - 1].encode()[:offset].decode(errors="replace")) + 1

    @cached_property
    def ignores(self) -> Mapping[int, frozenset[str]]:
        """The codes that a `# fixer: ignore[CODE]` comment switches off, by line; `*` stands for all."""
        if "fixer:" not in self.text:
            return {}
        found: dict[int, frozenset[str]] = {}
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                if token.type == tokenize.COMMENT and (codes := ignored_codes(token.string)):
                    found[token.start[0]] = codes
        except (tokenize.TokenError, SyntaxError):
            return found
        return found


def ignored_codes(comment: str) -> frozenset[str]:
    """The codes that a comment switches off, `*` for all; none where it says nothing of it."""
    match = _IGNORE.search(comment)
    return frozenset(code.strip() for code in (match.group(1) or "*").split(",")) if match else frozenset()


def module_name(path: str) -> str:
    """`pkg/sub/__init__.py` is `pkg.sub`, `pkg/a.py` is `pkg.a`."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts and parts[-1] == "__init__" else parts)
