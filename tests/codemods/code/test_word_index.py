"""What stands near a word is found in a tree that no text gives as in the text that says the same."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile, Source
from codemods.code.word_index import SpokenInTree
from codemods.rule import all_rules


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


TEXTS = sorted({example.before for rule in all_rules() for example in rule.examples if _is_python(example.before)})


def _file(text: str) -> PythonFile:
    return PythonFile.parse(Source("a.py", "python", text.encode()))


def _words(node: ast.AST) -> set[str]:
    said = [getattr(node, name, None) for name in ("id", "attr", "arg", "name", "value")]
    return {word for word in said if isinstance(word, str) and word.isidentifier()}


@pytest.mark.parametrize("text", TEXTS[::7])
def test_finds_all_that_spell_a_word(text: str) -> None:
    file = _file(text)
    plain = replace(file, plain=True)
    every = list(every_node(file.tree))
    for word in set().union(*map(_words, every)):
        found = dict(plain.nodes_near([word]))
        assert {node for node in every if word in _words(node)} <= found.keys()
        assert found.items() <= dict(plain.nodes_near(["if"])).items()
        calls = [call for call in plain.calls_near([word]) if any(word in _words(each) for each in ast.walk(call.node))]
        near = [call for call in file.calls if any(word in _words(each) for each in ast.walk(call.node))]
        assert {call.node for call in near} <= {call.node for call in calls}


def test_looks_at_nothing_else() -> None:
    file = replace(_file("def one():\n    first()\n\ndef two():\n    second()\n    third()\n"), plain=True)
    found = [ast.unparse(node) for node, _ in file.nodes_near(["second"]) if isinstance(node, ast.Call)]
    assert found == ["second()"]
    assert [ast.unparse(call.node) for call in file.calls_near(["second"])] == ["second()"]


def test_a_statement_that_stands_twice_is_always_looked_at() -> None:
    tree = ast.parse("def one():\n    pass\n\ndef two():\n    pass\n\nsaid()\n")
    one, two, said = tree.body
    assert isinstance(one, ast.FunctionDef) and isinstance(two, ast.FunctionDef)
    one.body = two.body = [said]
    spoken = SpokenInTree(tree)
    assert all(spoken.holds(said, spoken.on(["nothing", word])) for word in ("said", "one"))
    assert spoken.holds(one, spoken.on(["said"])) and spoken.holds(two, spoken.on(["said"]))


@pytest.mark.parametrize("word", ["with", "torch.nn", "a b", ""])
def test_what_no_single_node_spells_may_be_anywhere(word: str) -> None:
    spoken = SpokenInTree(ast.parse("with a:\n    torch.nn.x()\n"))
    assert spoken.on([word]) == [0, 1, 2]
