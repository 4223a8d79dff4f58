"""Every node that a rule can point at is found again in LibCST, at the same place, in any file."""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.code.source import PythonFile, Source
from codemods.rewrite.locate import KINDS, NotLocated, apply_node_edits, apply_text_edits, locate
from codemods.rule import NodeEdit, TextEdit
from tests.codemods.support import of_standard_library

FILES = of_standard_library("json", "importlib", "concurrent/futures")


def parse(text: str) -> PythonFile:
    return PythonFile.parse(Source("file.py", "python", text.encode()))


def in_fstring(tree: ast.AST) -> set[ast.AST]:
    """Positions inside f-strings are wrong before Python 3.12."""
    if sys.version_info >= (3, 12):
        return set()
    return {inner for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}


def check_all(file: PythonFile) -> int:
    """Locates every node of the file, and checks that each is the same code; returns how many."""
    left_out = in_fstring(file.tree)
    nodes = [node for node in ast.walk(file.tree) if type(node) in KINDS and node not in left_out]
    module = cst.parse_module(file.text)
    located = locate(file, module, nodes)
    for node, found in located.items():
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            assert found.name.value == node.name
        elif isinstance(node, ast.expr | ast.Expr | ast.Return | ast.Assign):
            code = module.code_for_node(found)
            there = ast.parse(textwrap.dedent(code) if isinstance(node, ast.stmt) else f"({code})").body[0]
            here = node if isinstance(node, ast.stmt) else ast.Expr(node)
            assert ast.unparse(there) == ast.unparse(here)
    return len(located)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nodes_of_the_standard_library(path: Path) -> None:
    file = PythonFile.parse(Source(path.name, "python", path.read_bytes()))
    left_out = in_fstring(file.tree)
    nodes = sum(type(node) in KINDS for node in ast.walk(file.tree) if node not in left_out)
    assert check_all(file) == nodes


NAMES = st.sampled_from(["x", "größe", "名前", "model", "a1"])
STRINGS = st.text(st.characters(codec="utf-8", exclude_characters="\\'\"\r\n\0{}"), max_size=6).map(repr)
EXPRESSIONS = st.recursive(
    NAMES | STRINGS,
    lambda inner: st.one_of(
        st.tuples(NAMES, inner, inner).map(lambda p: f"{p[0]}({p[1]}, key={p[2]})"),
        st.tuples(NAMES, NAMES).map(lambda p: f"{p[0]}.{p[1]}"),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, inner).map(lambda p: f"[{p[0]} , {p[1]}]"),
        st.tuples(NAMES, inner).map(lambda p: f"{p[0]}( * {p[1]},\n  )"),
        inner.map(lambda text: f"f((yield_ for yield_ in {text}))"),
    ),
    max_leaves=8,
)


@given(st.lists(st.tuples(NAMES, EXPRESSIONS), min_size=1, max_size=4))
def test_nodes_of_generated_code(lines: list[tuple[str, str]]) -> None:
    text = "class K:\n    def m(self, größe=1):\n" + "".join(f"        {name} = {value}\n" for name, value in lines)
    file = parse(text + "        return x\n")
    assert check_all(file) >= 4 + len(lines)


def test_two_calls_that_start_at_the_same_place() -> None:
    file = parse("a(1)(2)(3)\n")
    calls = [node for node in ast.walk(file.tree) if isinstance(node, ast.Call)]
    located = locate(file, cst.parse_module(file.text), calls)
    assert len({id(node) for node in located.values()}) == 3


def test_a_tree_of_another_text_is_refused_loudly() -> None:
    file = parse("a = f(1)\n")
    calls = [node for node in ast.walk(file.tree) if isinstance(node, ast.Call)]
    with pytest.raises(NotLocated, match=r"file\.py:1"):
        locate(file, cst.parse_module("a =  f(1)\n"), calls)


@given(st.text("ab \n", max_size=20))
def test_no_edits_change_no_byte(comment: str) -> None:
    text = (
        "import os\n\n\n" + "".join(f"# {line}\n" for line in comment.splitlines()) + "x = os.path . join( 'a' )  # ü\n"
    )
    assert apply_node_edits(parse(text), [], []) == text


@pytest.mark.parametrize("text", ["x = 1\r", "x = 1\ry = 2\r", "x = 1\r\n", "def f():\r\tpass\r", "x = 1\r\n\r"])
def test_no_edits_change_no_line_ending(text: str) -> None:
    assert apply_node_edits(parse(text), [], []) == text


def test_edits_of_outer_and_inner_nodes_meet() -> None:
    file = parse("outer(inner(1))\n")
    calls = [node for node in ast.walk(file.tree) if isinstance(node, ast.Call)]

    def rename(call: cst.Call) -> cst.Call:
        assert isinstance(call.func, cst.Name)
        return call.with_changes(func=cst.Name(call.func.value.upper()))

    assert apply_node_edits(file, [NodeEdit(call, rename) for call in calls], []) == "OUTER(INNER(1))\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    gone()\n\n    x = 1\n", "    x = 1\n"),
        ("    gone()\n\n    # why\n\n    x = 1\n", "    # why\n\n    x = 1\n"),
        ("\n    gone()\n\n    x = 1\n", "\n    x = 1\n"),
        ("    x = 1\n\n    gone()\n\n    y = 1\n", "    x = 1\n\n    y = 1\n"),
        ("\n    x = 1\n    gone()\n", "\n    x = 1\n"),
    ],
)
def test_no_empty_line_is_left_at_the_top_of_a_block(before: str, after: str) -> None:
    file = parse(f"def f():\n{before}")
    (call,) = [item.node for item in file.calls]
    edit = NodeEdit(next(node for node in ast.walk(file.tree) if getattr(node, "value", None) is call), gone, True)
    assert apply_node_edits(file, [edit], []) == f"def f():\n{after}"


def gone(node: cst.CSTNode) -> cst.RemovalSentinel:
    return cst.RemoveFromParent()


def test_overlapping_text_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_text_edits("abcdef", [TextEdit(0, 3, "x"), TextEdit(2, 4, "y")])


SET = "import os\n\nos.environ['WORLD_SIZE'] = '1'\n"
THREE, BOTH = "from pkg.other import three\n", "from pkg.tools import one, two\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\nimport pkg\n", f"import os\nimport pkg\n{THREE}{BOTH}"),
        (f"{SET}import pkg\n", f"{SET}import pkg\n{THREE}{BOTH}"),
        (f"{SET}from pkg import a\nimport sys\n", f"{SET}from pkg import a\n{THREE}{BOTH}import sys\n"),
        (f"{SET}from pkg.tools import a  # why\n", f"{SET}from pkg.tools import a, one, two  # why\n{THREE}"),
        (f"{SET}from pkg.tools import (\n    a,\n)\n", f"{SET}from pkg.tools import (\n    a,\n)\n{THREE}{BOTH}"),
        (f"{SET}from pkg.tools import *\n", f"{SET}from pkg.tools import *\n{THREE}{BOTH}"),
        (f"{SET}from .pkg import a\n", f"import os\n{THREE}{BOTH}{SET[10:]}from .pkg import a\n"),
        ("import pkg\nimport sys\n\nimport mine\n", f"import pkg\nimport sys\n{THREE}{BOTH}\nimport mine\n"),
        ("from pkg import a\nfrom mine import b\n", f"from pkg import a\n{THREE}{BOTH}from mine import b\n"),
    ],
)
def test_an_import_stands_behind_what_comes_before_its_package(before: str, after: str) -> None:
    file = parse(f"{before}\nprint()\nimport pkg\n")
    (call,) = [item.node for item in file.calls if ast.unparse(item.node) == "print()"]
    needed = [("pkg.tools", "one"), ("pkg.tools", "two"), ("pkg.other", "three")]
    made = apply_node_edits(file, [NodeEdit(call, lambda node: node)], needed)
    assert made == f"{after}\nprint()\nimport pkg\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\n\nimport mine\n", "import os\n\nimport mine\nimport pkg\n"),
        ("# Why.\nimport pkg.a as a\n\nimport mine\n", "# Why.\nimport pkg\nimport pkg.a as a\n\nimport mine\n"),
        ("import os, pkg.a\nimport mine\n", "import os, pkg.a\nimport pkg\nimport mine\n"),
        (f"{SET}from pkg import a\r\n", f"{SET}import pkg\nfrom pkg import a\r\n"),
        (f"{SET}import sys, pkg.a  # why\n", f"{SET}import sys, pkg.a  # why\nimport pkg\n"),
        ("import os\nif os:\n    import pkg.a\n", "import os\nimport pkg\n\nif os:\n    import pkg.a\n"),
    ],
)
def test_a_package_is_imported_where_it_is_imported_first(before: str, after: str) -> None:
    file = parse(f"{before}\nprint()\n")
    (call,) = [item.node for item in file.calls]
    assert apply_node_edits(file, [NodeEdit(call, lambda node: node)], [("pkg", None)]) == f"{after}\nprint()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import argparse\nimport json\n", "import argparse\nimport ast\nimport inspect\nimport json\n"),
        ("# Why.\nimport json\n\nimport mine\n", "# Why.\nimport ast\nimport inspect\nimport json\n\nimport mine\n"),
        (
            "import abc  # why\nfrom os import path\n",
            "import abc  # why\nimport ast\nimport inspect\nfrom os import path\n",
        ),
        ("import sys\nimport abc\n", "import sys\nimport abc\nimport ast\nimport inspect\n"),
        ("import abc; import sys\n", "import abc; import sys\nimport ast\nimport inspect\n"),
        ("import abc\n\nimport mine\n", "import abc\nimport ast\nimport inspect\n\nimport mine\n"),
        ("import abacus\n", "import abacus\nimport ast\nimport inspect\n"),
    ],
)
def test_imports_of_the_standard_library_stay_in_order(before: str, after: str) -> None:
    file = parse(f"{before}\nprint()\n")
    (call,) = [item.node for item in file.calls]
    made = apply_node_edits(file, [NodeEdit(call, lambda node: node)], [("ast", None), ("inspect", None)])
    assert made == f"{after}\nprint()\n"
