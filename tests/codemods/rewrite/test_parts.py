"""Edits of a part of a file give what the same edits of the whole file give."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from codemods.code.source import PythonFile, Source
from codemods.rewrite import locate
from codemods.rewrite.edits import add_method, spaced, statements
from codemods.rewrite.parts import parts_of
from codemods.rule import NodeEdit
from tests.codemods.support import of_standard_library

FILES = of_standard_library("json", "importlib", "wsgiref")
IMPORTS: tuple[tuple[tuple[str, str | None], ...], ...] = (
    (),
    (("torch", None),),
    (("torch.nn", "Module"), ("zlib", None)),
    (("os.path", "added"),),
)
STATEMENTS = ast.FunctionDef | ast.ClassDef | ast.If | ast.For | ast.Assign | ast.Expr | ast.Import | ast.ImportFrom

CLASS = """\
import os

class First:
    # about x
    x = 1

    def f(self):
        pass
        # inside f

    # above g
    def g(self):
        return 1
    # below g

# above y
y = 2
"""


def parsed(text: str) -> PythonFile:
    return PythonFile.parse(Source("file.py", "python", text.encode()))


def gone(_: Any) -> Any:
    return cst.RemovalSentinel.REMOVE


def twice(node: Any) -> Any:
    return cst.FlattenSentinel([node, node])


def bare(node: Any) -> Any:
    return node.with_changes(leading_lines=())


def longer(node: Any) -> Any:
    if isinstance(node, cst.ClassDef):
        return add_method(node, "def added(self):\n    return 1\n")
    if not isinstance(node.body, cst.IndentedBlock):
        return node
    return node.with_changes(body=node.body.with_changes(body=[*node.body.body, *statements("if a:\n    b = 1\n")]))


def edit(node: ast.AST, chance: random.Random) -> NodeEdit:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If | ast.For):
        return NodeEdit(
            node, chance.choice([gone, bare, spaced, longer, *([] if isinstance(node, ast.If) else [twice])])
        )
    return NodeEdit(node, chance.choice([gone, bare, spaced, twice]), line=True)


def whole(file: PythonFile, edits: list[NodeEdit], imports: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patched:
        patched.setattr(locate, "parts_of", lambda *_: None)
        return locate.apply_node_edits(file, edits, imports)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_parts_of_the_standard_library(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PythonFile.parse(Source(path.name, "python", path.read_bytes()))
    nodes = [node for node in ast.walk(file.tree) if isinstance(node, STATEMENTS)]
    chance = random.Random(path.name)
    for imports in IMPORTS if len(nodes) > 3 else ():
        edits = [edit(node, chance) for node in chance.sample(nodes, chance.choice([1, 1, 2, 3]))]
        try:
            expected = whole(file, edits, imports, monkeypatch)
        except (locate.NotLocated, cst.CSTValidationError, TypeError):
            continue
        assert locate.apply_node_edits(file, edits, imports) == expected


@pytest.mark.parametrize("change", [gone, twice, bare, spaced])
@pytest.mark.parametrize("last", ["y = 2\n", "y = 2", "y = 2\n# end\n\n", ""])
@pytest.mark.parametrize("tabs", [False, True])
def test_comments_beside_an_edit_belong_to_whom_they_belong_to_in_the_file(
    change: Callable[[Any], Any], last: str, tabs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = CLASS.replace("y = 2\n", last)
    file = parsed(text.replace("    ", "\t") if tabs else text)
    for node in [node for node in ast.walk(file.tree) if isinstance(node, ast.stmt)]:
        line = not isinstance(node, ast.FunctionDef | ast.ClassDef)
        edits = [NodeEdit(node, change, line=line)]
        assert locate.apply_node_edits(file, edits, ()) == whole(file, edits, (), monkeypatch)


def test_a_method_is_read_without_the_rest_of_the_file() -> None:
    file = parsed(CLASS.replace("        # inside f\n", ""))
    parts = parts_of(file, [file.classes[0].methods["g"].body[0]], False)
    assert parts is not None
    assert len(parts) == 1
    inside = "".join(file.lines[parts[0].start : parts[0].end])
    assert inside == "\n    # above g\n    def g(self):\n        return 1\n    # below g\n\n# above y\n"


def test_a_comment_that_belongs_to_the_statement_above_is_not_torn_from_it() -> None:
    file = parsed(CLASS)
    assert parts_of(file, [file.classes[0].methods["g"].body[0]], False) is None


@pytest.mark.parametrize("text", ["a = 1\r\nb = f(2)\r\n", "a = 1\f\nb = f(2)\n", "a = 1; b = f(2)\nc = 3\n"])
def test_what_is_laid_out_oddly_is_right_all_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = parsed(text)
    edits = [NodeEdit(file.calls[0].node, lambda node: node.with_changes(args=[]))]
    made = locate.apply_node_edits(file, edits, (("os", None),))
    assert made == whole(file, edits, (("os", None),), monkeypatch)
    assert "b = f()" in made
