"""Programs whose text is edited, and what the edits ask of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Edited = Iterator[tuple[int, str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Program:
    """A text with its tree; `functions` are those around each statement, innermost last."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", ast.parse(self.text))
        object.__setattr__(self, "lines", self.text.splitlines(keepends=True))

    tree: ast.Module = None  # type: ignore[assignment]
    lines: list[str] = None  # type: ignore[assignment]

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def blocks(self) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
        """Each block with the function, class or module that it belongs to."""
        stack: list[tuple[ast.AST, ast.AST]] = [(self.tree, self.tree)]
        while stack:
            node, owner = stack.pop(0)
            for field in BLOCKS:
                block = getattr(node, field, None)
                if isinstance(block, list) and block:
                    yield owner, block
                    stack += [(item, item if isinstance(item, SCOPES) else owner) for item in block]
            stack += [(item, owner) for item in getattr(node, "handlers", ())]

    def is_alone(self, node: ast.stmt) -> bool:
        """Whether a statement has lines of its own."""
        first, last = self.lines[node.lineno - 1], self.lines[(node.end_lineno or 0) - 1]
        before = first.encode()[: node.col_offset].decode()
        after = last.encode()[node.end_col_offset :].decode()
        return not before.strip() and not after.split("#")[0].strip()

    def indent(self, node: ast.stmt) -> str:
        return " " * node.col_offset

    def put(self, line: int, *new: str) -> str:
        """The text with lines behind the line of that number."""
        return "".join([*self.lines[:line], *(f"{item}\n" for item in new), *self.lines[line:]])

    def offset(self, line: int, column: int) -> int:
        before = sum(len(item) for item in self.lines[: line - 1])
        return before + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: Any) -> tuple[int, int]:
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def source(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def replace(self, *changes: tuple[ast.AST, str]) -> str:
        """The text with other text where some nodes stand."""
        text = self.text
        for node, new in sorted(changes, key=lambda item: self.span(item[0]), reverse=True):
            start, end = self.span(node)
            text = text[:start] + new + text[end:]
        return text


def assignments(program: Program) -> Iterator[tuple[ast.AST, ast.Assign, str]]:
    """Each `name = value` of a function or the module that has a line of its own, with what it belongs to."""
    for owner, block in program.blocks():
        if isinstance(owner, ast.ClassDef):
            continue
        for node in block:
            plain = isinstance(node, ast.Assign) and len(node.targets) == 1 and program.is_alone(node)
            target = node.targets[0] if plain and isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and not is_shared(owner, target.id):
                yield owner, node, target.id


def is_shared(owner: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in ast.walk(owner))


def parameters(program: Program) -> Iterator[tuple[Function, list[str]]]:
    for function in program.functions():
        every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        yield function, [item.arg for item in every if item.arg not in ("self", "cls")]


def first_statement(function: Function) -> ast.stmt:
    """The first statement behind the docstring."""
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    return body[1] if documented else body[0]


def with_import(text: str, top: str) -> str:
    """The text with a line behind its docstring and its imports from the future."""
    if not top or re.search(rf"^{re.escape(top)}$", text, re.MULTILINE):
        return text
    tree = ast.parse(text)
    line = 0
    for node in tree.body:
        documented = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if documented or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            line = node.end_lineno or 0
            continue
        break
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:line], f"{top}\n", *lines[line:]])


def is_head(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)


def above(text: str, *lines: str) -> str:
    """The text with lines in front of its first definition."""
    program = Program(text)
    head = next((node for node in program.tree.body if not is_head(node)), program.tree.body[-1])
    first = min([head.lineno, *(item.lineno for item in getattr(head, "decorator_list", ()))])
    return program.put(first - 1, *lines, "", "")


def is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef)


def is_plain(node: ast.expr) -> bool:
    """Whether a value stays what it is in a lambda, in brackets or as an argument."""
    odd = (ast.Yield, ast.YieldFrom, ast.Await, ast.Tuple, ast.Starred, ast.NamedExpr)
    return not any(
        isinstance(item, odd) or (isinstance(item, ast.Name) and item.id == "super") for item in ast.walk(node)
    )


def stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def first_line(node: ast.stmt) -> int:
    """The line that a statement begins in, with its decorators."""
    first: int = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    return first


def says(node: ast.AST, *names: str) -> bool:
    """Whether one of some names stands below a node."""
    return any(isinstance(item, ast.Name) and item.id in names for item in ast.walk(node))


def has_long(tree: ast.AST) -> bool:
    """Whether a string goes over several lines."""
    strings = (item for item in ast.walk(tree) if isinstance(item, ast.Constant | ast.JoinedStr))
    return any(item.lineno != item.end_lineno for item in strings)
