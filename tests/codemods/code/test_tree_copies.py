"""Which parsed files are kept, and which nodes a look around some words finds."""

from __future__ import annotations

import ast
import pickle

import pytest

from codemods.code.parsed_files import ParsedFiles
from codemods.code.source import PythonFile, Source, Unreadable

TEXTS = {f"{name}.py": f"{name} = 1\n" for name in "abc"}


def _trees(room: int) -> ParsedFiles:
    return ParsedFiles({path: Source(path, "python", text.encode()) for path, text in TEXTS.items()}, room)


def test_a_file_is_parsed_once_while_there_is_room() -> None:
    trees = _trees(100)
    first = [trees.open(path) for path in TEXTS]
    assert all(trees.open(path) is file for path, file in zip(TEXTS, first, strict=True))


def test_what_was_used_last_stays() -> None:
    trees = _trees(12)
    a, b = trees.open("a.py"), trees.open("b.py")
    assert trees.open("a.py") is a
    trees.open("c.py")
    assert trees.open("a.py") is a
    assert trees.open("b.py") is not b


def test_what_is_held_stays_until_it_is_released() -> None:
    trees = _trees(6)
    a = trees.open("a.py")
    trees.hold("a.py")
    assert not trees.has_room
    trees.open("b.py")
    assert trees.open("a.py") is a
    trees.release("a.py")
    assert trees.has_room
    trees.open("b.py")
    assert trees.open("a.py") is not a


def test_another_process_starts_with_nothing() -> None:
    trees = _trees(100)
    a = trees.open("a.py")
    assert pickle.loads(pickle.dumps(trees)).open("a.py") is not a


def test_a_broken_file_is_said_to_be_so_again() -> None:
    trees = ParsedFiles({"a.py": Source("a.py", "python", b"def (")})
    for _ in range(2):
        with pytest.raises(Unreadable, match="line 1"):
            trees.open("a.py")


TEXT = '''\
@decorated(
    word,
)
def one():
    other = 1


class Two:
    def three(self, word):
        with open("x") as file:
            pass
        return f"""
            {file}
            {word.name}
        """
'''


def test_the_nodes_near_a_word_are_all_that_spell_it() -> None:
    file = PythonFile.parse(Source("a.py", "python", TEXT.encode()))
    near = list(file.nodes_near(["word"]))
    found = [node for node, _ in near]
    spelled = [
        node for node in ast.walk(file.tree) if "word" in (getattr(node, "id", None), getattr(node, "arg", None))
    ]
    assert len(spelled) == 3
    assert all(any(node is each for each in found) for node in spelled)
    assert not any(isinstance(node, ast.Assign | ast.With) for node in found)
    assert all(around[0] is file.tree and node in ast.iter_child_nodes(around[-1]) for node, around in near[1:])


def test_the_nodes_near_a_word_can_be_those_of_a_function() -> None:
    file = PythonFile.parse(Source("a.py", "python", TEXT.encode()))
    found = [node for node, _ in file.nodes_near(["word"], file.tree.body[0])]
    assert {node.id for node in found if isinstance(node, ast.Name)} == {"decorated", "word"}
