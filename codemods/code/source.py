"""The files that rules look at: text, and for Python the `ast` with names resolved and nodes indexed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

from codemods.code.nodes import CHILD_FIELDS, STATEMENTS, every_node
from codemods.code.normal import normal
from codemods.code.outline import AssignNode as AssignNode
from codemods.code.outline import CallNode as CallNode
from codemods.code.outline import ClassNode as ClassNode
from codemods.code.outline import Expressions, Outline, Within
from codemods.code.scopes import Scope, bind, module_name
from codemods.code.syntax import says
from codemods.code.tree_copies import DEFINING
from codemods.code.unlike import statements_unlike
from codemods.code.word_index import SpokenInText, SpokenInTree
from codemods.finding import Span

BOM = b"\xef\xbb\xbf"
RECENT = 24
"""How many trees are kept for who asks for the same text again."""
_ESCAPED = re.compile(rb"""\\(?:u([0-9a-fA-F]{4})|(.))|",\s*"(?![^"\\]*(?:\\.[^"\\]*)*"\s*:)|(")""")
"""What JSON spells otherwise than a cell has it; what stands between two strings of a list; a string's begin or end."""
_PICTURE = re.compile(rb"[A-Za-z0-9+/=\\]{400,}")
"""A picture among the outputs of a notebook, which are most of many a notebook."""
_LETTERS = {b"n": b"\n", b"r": b"\n", b"t": b"\t", b"b": b" ", b"f": b" "}
_FILLED = re.compile(
    rb"""setattr(?:__)?\(\s*(?:[\w.]+\.)?(\w+)\s*,(?!\s*["'])"""
    rb"""|\bvars\(\s*(?:[\w.]+\.)?(\w+)\s*\)\s*(?:\.update\b|\[(?!\s*["']))"""
    rb"""|\b(\w+)\.__dict__\s*(?:\.update\b|\[(?!\s*["']))"""
)
_WORD = re.compile(r"\w+")
IMPORT = re.compile(rb"^[ \t]*(?:from\s+[\w.]+\s+)?import\s+(?:\([^)]*\)|(?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL)
"""An import, on several lines where it has brackets or ends in a backslash."""
_IGNORE = re.compile(r"#\s*fixer:\s*ignore\b(?:\[([^\]]*)\])?")


@dataclass(frozen=True)
class Source:
    """A tracked file as bytes. `kind` says which rules may look at it (`python`, `requirements`, ...)."""

    path: str
    kind: str
    data: bytes

    @cached_property
    def unescaped(self) -> bytes:
        """The bytes to look for text in: of a notebook with the lines as its cells have them, not its JSON, and
        without the pictures in it."""
        return self.data if self.kind != "notebook" else _ESCAPED.sub(_plain, _PICTURE.sub(b"", self.data))

    @cached_property
    def filled(self) -> frozenset[bytes]:
        """The last names of what gets attributes by names that the text does not say there."""
        return frozenset(word for found in _FILLED.findall(self.unescaped) for word in found if word)

    @cached_property
    def imported(self) -> tuple[bytes, ...]:
        """What the text's imports say behind that word."""
        return tuple(found[0].partition(b"import")[2] for found in IMPORT.finditer(self.unescaped))

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What was found out of the text alone, by what was asked: it outlives a look at the tree."""
        return {}


def _plain(found: re.Match[bytes]) -> bytes:
    code, letter, edge = found.groups()
    if code:
        return chr(int(code, 16)).encode(errors="replace")
    if edge:
        return b"\n"
    return _LETTERS.get(letter, letter) if letter else b""


class Unreadable(Exception):
    """A file that cannot be looked at; the text says why."""


@dataclass(frozen=True)
class Ignore:
    """A `# fixer: ignore[CODE]` comment on a line, between the 0-based offsets `start:end` of that line. Its `codes`
    are as they are written, in capitals; `*` alone stands for all."""

    line: int
    start: int
    end: int
    codes: tuple[str, ...]


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
        return {item.line: frozenset(item.codes) for item in self.ignore_comments}

    @cached_property
    def ignore_comments(self) -> list[Ignore]:
        """The comments that switch codes off."""
        lines = enumerate(self.text.split("\n"), 1) if "fixer:" in self.text else ()
        return [found for number, line in lines if (found := _ignore(line, number, 0))]

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
class PythonFile:
    """A Python file: its text, its `ast`, and an index made by one walk that all rules share. `plain` says that the
    tree is the normal form of what the text says, at the places of the text; `made` are nodes of it that the text does
    not spell."""

    path: str
    text: str
    tree: ast.Module
    encoding: str
    bom: bool
    plain: bool = field(default=False, kw_only=True)
    made: frozenset[ast.AST] = field(default=frozenset(), kw_only=True)

    @classmethod
    def parse(cls, source: Source) -> PythonFile:
        """Raises Unreadable, with the line, where the bytes are not Python of this interpreter."""
        data = source.data
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            text = data.decode(encoding)
            tree = _parsed(text)
        except SyntaxError as error:
            place = f"line {error.lineno}: " if error.lineno else ""
            raise Unreadable(f"does not parse as Python 3: {place}{error.msg}") from None
        except (UnicodeDecodeError, LookupError, ValueError, RecursionError, MemoryError) as error:
            raise Unreadable(f"cannot be read as Python: {error}") from None
        bom = data.startswith(BOM)
        return cls(source.path, text, tree, "utf-8" if bom else encoding, bom)

    def again(self) -> PythonFile:
        """The file with all that its text alone says of it, for whoever looks at it with other facts."""
        made = replace(self)
        known = dict(vars(self))
        known["memo"] = {name: value for name, value in self.memo.items() if name != "facts"}
        plain: PythonFile | None = known.get("normal")
        vars(made).update(known, **({"normal": plain.again()} if plain else {}))
        return made

    def let_go(self) -> None:
        """Forgets what may lead back to the file or its normal form, which would then never be freed."""
        self.memo.clear()
        if normal := vars(self).get("normal"):
            normal.let_go()

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in the encoding, and with the byte order mark, of the file."""
        return (BOM if self.bom else b"") + text.encode(self.encoding)

    @cached_property
    def normal(self) -> PythonFile | None:
        """The file with the normal form of its tree; None where the tree is in that form."""
        tree = _normal(self.tree)
        return None if tree is self.tree or self.plain else replace(self, tree=tree, plain=True)

    @cached_property
    def unlike(self) -> str:
        """The text of the statements of the module that are not in normal form, with what binds the names that these
        read; all of it where one of them is no definition."""
        gone = statements_unlike(self.tree, self.normal.tree) if self.normal is not None else []
        if gone is None:
            return self.text
        return "".join("".join(self.lines[node.lineno - 1 : node.end_lineno]) for node in gone)

    @cached_property
    def module(self) -> str:
        """The dotted name of the module, counted from the root of the tree."""
        return module_name(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines as `ast` counts them, with their ends."""
        return list(io.StringIO(self.text, newline=""))

    @property
    def words(self) -> frozenset[str]:
        """The words of the text."""
        return _words_of(self.text)

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What the rules of a family worked out of the file, kept for one another under a name of theirs."""
        return {}

    @cached_property
    def scope(self) -> Scope:
        """The module's own names."""
        return bind(self.tree, self.path)

    def scope_within(self, within: Within) -> Scope:
        """The scope of what stands within some nodes: that of the innermost function or class, else the module's."""
        opened = self._outline.scopes
        return next((opened[node] for node in reversed(within) if node in opened), self.scope)

    @cached_property
    def _outline(self) -> Outline:
        return Outline(self.scope)

    @property
    def classes(self) -> list[ClassNode]:
        return self._outline.classes

    @property
    def calls(self) -> list[CallNode]:
        return self._everything.calls

    @cached_property
    def _everything(self) -> Expressions:
        return self._outline.all_expressions()

    def calls_near(self, words: Iterable[str]) -> list[CallNode]:
        """Every call that spells one of some words, and others that share a statement with one: of `calls`, those
        that can matter to who looks for the words, at a small part of the cost."""
        return self.near(words).calls

    def near(self, words: Iterable[str]) -> Expressions:
        """The expressions of the statements that spell one of some words: these alone, whatever was asked before."""
        asked = frozenset(words)
        if asked not in self._walked:
            places = self._spoken.on(self._respelled(asked))
            if isinstance(self._spoken, SpokenInTree):
                self._walked[asked] = self._outline.expressions_of(self._spoken.statements(places))
            else:
                self._walked[asked] = self._outline.expressions_on(places)
        return self._walked[asked]

    @cached_property
    def _walked(self) -> dict[frozenset[str], Expressions]:
        return {}

    def nodes_near(self, words: Iterable[str], space: ast.AST | None = None) -> Iterator[tuple[ast.AST, Within]]:
        """The nodes of the statements that spell one of some words, each with the nodes around it, outermost first; of
        the whole file or of a part of it."""
        places, holds = self._spoken.on(self._respelled(words)), self._spoken.holds
        stack: list[tuple[Any, Within]] = [(space or self.tree, ())]
        while stack and places:
            node, within = stack.pop()
            kind = type(node)
            if kind in STATEMENTS and not holds(node, places):
                continue
            yield node, within
            if (fields := CHILD_FIELDS.get(kind)) is None:
                continue
            inner = (*within, node)
            for name in fields:
                value = getattr(node, name)
                if type(value) is list:
                    stack += [(child, inner) for child in value if isinstance(child, ast.AST)]
                elif value is not None:
                    stack.append((value, inner))

    def _respelled(self, words: Iterable[str]) -> set[str]:
        """The words, and what the file imports things of these names as."""
        return {spelled for word in words for spelled in (word, *self._renamed.get(word, ()))}

    @cached_property
    def _renamed(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for node in self.imports if " as " in self.text else ():
            for alias in node.names:
                if alias.asname and alias.name not in alias.asname and isinstance(node, ast.ImportFrom):
                    found.setdefault(alias.name, []).append(alias.asname)
        return found

    @cached_property
    def _spoken(self) -> SpokenInText | SpokenInTree:
        return SpokenInTree(self.tree) if self.plain else SpokenInText(self.text)

    @property
    def statements(self) -> list[ast.stmt]:
        """Every statement of the file, those inside others after them."""
        return [node for node, _, _ in self._outline.statements]

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
        return [node for node in self.near([name]).attributes if node.attr == name]

    def spellings(self, name: str) -> frozenset[str]:
        """The identifiers that may stand for something whose dotted name ends in `name`: it, and what it is
        imported, or assigned, as. Empty where the file does not hold the word."""
        if name not in self.text:
            return frozenset()
        key = f"spellings.{name}"
        if key not in self.memo:
            aliases = (alias for node in self.imports for alias in node.names)
            renamed = (alias.asname for alias in aliases if alias.name.rpartition(".")[2] == name)
            self.memo[key] = frozenset({name, *filter(None, renamed), *_assigned_as(self.text, name)})
        known: frozenset[str] = self.memo[key]
        return known

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> Span:
        """The place of a node: 1-based, in code points (`ast` counts UTF-8 bytes)."""
        line, end_line = int(node.lineno), int(node.end_lineno or node.lineno)
        end = node.end_col_offset if node.end_col_offset is not None else node.col_offset
        return Span(line, self._column(line, node.col_offset), end_line, self._column(end_line, end))

    def offsets(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> tuple[int, int]:
        """The 0-based offsets into the text between which a node stands."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column)

    def _offset(self, line: int, column: int) -> int:
        return self._line_starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    @cached_property
    def _line_starts(self) -> list[int]:
        return list(accumulate(map(len, self.lines), initial=0))

    def head(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Span:
        """The place of the first line of a class or function: `def name(...):`."""
        line = self.lines[node.lineno - 1].rstrip()
        number = int(node.lineno)
        return Span(number, self._column(number, node.col_offset), number, len(line) + 1)

    def source_of(self, node: ast.AST) -> str:
        """The text of a node, without what surrounds it."""
        if not isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword) or node.end_lineno is None:
            return ""
        if self.made and any(item in self.made for item in every_node(node)):
            return ast.unparse(node)
        if self.plain and isinstance(node, DEFINING):
            return ast.unparse(node)  # parts of it may stand elsewhere in the text
        text = self._text_at(node)
        return text if not self.plain or says(text, node) else ast.unparse(node)

    def place_in(self, node: ast.expr, text: str) -> int | None:
        """The offset at which a text stands in a node as the file writes it; None where it does not stand there once,
        as in a node of the normal form that stands for a name."""
        written = self._text_at(node)
        return self.offsets(node)[0] + written.index(text) if written.count(text) == 1 else None

    def _text_at(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> str:
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
        return {item.line: frozenset(item.codes) for item in self.ignore_comments}

    @cached_property
    def ignore_comments(self) -> list[Ignore]:
        """The comments that switch codes off."""
        comments = self._comments.items() if "fixer:" in self.text else ()
        every = (_ignore(text, line, start) for line, (start, text) in comments)
        return [item for item in every if item]

    def has_comment(self, first: int, last: int) -> bool:
        """Whether a comment stands in the lines from one to another."""
        return any(self.comment(line) for line in range(first, last + 1))

    def comment(self, line: int) -> str:
        """The comment that stands in a line, with its sign; empty where there is none."""
        return self._comments[line][1] if "#" in self.lines[line - 1] and line in self._comments else ""

    @cached_property
    def _comments(self) -> Mapping[int, tuple[int, str]]:
        """The comments, by line, each with where it begins; where they cannot be told apart, what looks like one."""
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (tokenize.TokenError, SyntaxError):
            signs = ((number, line.find("#"), line) for number, line in enumerate(self.lines, 1) if "#" in line)
            return {number: (start, line[start:].rstrip()) for number, start, line in signs}
        return {token.start[0]: (token.start[1], token.string) for token in tokens if token.type == tokenize.COMMENT}


@lru_cache(maxsize=RECENT)
def _parsed(text: str) -> ast.Module:
    """The tree of a text, the same for the rules that look at it one after the other: none changes it."""
    return ast.parse(text)


@lru_cache(maxsize=RECENT)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


@lru_cache(maxsize=RECENT)
def _assigned_as(text: str, name: str) -> tuple[str, ...]:
    """The names to which a text assigns what has a name, in whatever form its file is looked at."""
    lines = "\n".join(line for line in text.split("\n") if name in line)
    return tuple(re.findall(rf"(\w+) *= *(?:\w+\.)*{name}\b(?![.(\w])", lines))


@lru_cache(maxsize=RECENT)
def _normal(tree: ast.Module) -> ast.Module:
    return normal(tree)


def _ignore(text: str, line: int, start: int) -> Ignore | None:
    """What a comment, or a line that may hold one, switches off; `start` is where the text begins on its line."""
    match = _IGNORE.search(text)
    written = "*" if match is None or match.group(1) is None else match.group(1).upper()
    codes = tuple(code for part in written.split(",") if (code := part.strip()))
    return Ignore(line, start + match.start(), start + match.end(), codes) if match and codes else None
