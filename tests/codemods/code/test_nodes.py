"""The nodes of a tree are found in the order that others rely on, however quickly."""

from __future__ import annotations

import ast

import pytest

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node, walk, walked
from codemods.code.syntax import is_spelled
from tests.codemods.code.test_word_index import TEXTS

BARE = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
"""What is no node of its own: the same object may stand in many places."""


@pytest.mark.parametrize("text", TEXTS[::7])
def test_walks_as_ast_does(text: str) -> None:
    tree = ast.parse(text)
    expected = [node for node in ast.walk(tree) if not isinstance(node, BARE)]
    assert list(walk(tree)) == expected
    assert walked(tree) == tuple(expected)


def test_what_a_case_is_compared_with_is_no_node() -> None:
    tree = ast.parse("match x:\n    case True | None:\n        f()")
    assert all(isinstance(node, ast.AST) for node in every_node(tree))
    assert sum(isinstance(node, ast.MatchSingleton) for node in every_node(tree)) == 2


@pytest.mark.parametrize("text", TEXTS[::7])
def test_nodes_of_a_kind_stand_as_in_one_walk(text: str) -> None:
    tree = ast.parse(text)
    known = ModuleNames(tree)
    changed = ast.Module([*tree.body[1:], ast.Pass()], [])
    for each, of in ((tree, known), (changed, known.of(changed))):
        kinds = {type(node) for node in every_node(each)} - {ast.Module}
        assert all(of.nodes[kind] == [node for node in every_node(each) if type(node) is kind] for kind in kinds)


@pytest.mark.parametrize("text", ["a", "a.b", "self.a.b", "f(x).b", "(a or b).c", "a[0].b", "a[0]", "a + a.b", "1"])
@pytest.mark.parametrize("spelled", ["a", "a.b", "b", "self.a.b", "f(x).b", "(a or b).c", "a[0].b"])
def test_a_name_is_told_by_its_spelling(text: str, spelled: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert is_spelled(node, spelled) == (ast.unparse(node) == spelled)
