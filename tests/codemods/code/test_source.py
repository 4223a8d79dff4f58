"""What a file shows of itself: the part of it that a few words lead to is the same as in the whole."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codemods.code.source import CallNode, PythonFile, Source
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of

ROOT = Path(__file__).parents[3]
SHAPES = '''\
from lightning import Trainer as Coach

@register(Trainer(1))
class Model(make(Trainer)):
    """Trainer("in a string")"""

    def build(self, given=Trainer(2), *, other=Coach(3)):
        with open("f") as file:
            try:
                return wrap(
                    # Trainer
                    first(file),
                    Trainer(4),
                )
            except error(Trainer):
                Trainer (5)
        match given:
            case Model() if Trainer(6):
                pass

@decorated(
    Trainer(7)
)
async def later(): return await plain()

value = lambda: [Trainer(8) for _ in plain()]
'''


def parsed(text: str) -> PythonFile:
    return PythonFile.parse(Source("train.py", "python", text.encode()))


def words(call: CallNode) -> set[str]:
    """The identifiers of a call and all that is in it."""
    nodes = list(ast.walk(call.node))
    named = {getattr(node, field, None) for node in nodes for field in ("id", "attr", "arg")}
    return {name for name in named if name}


def shown(calls: list[CallNode]) -> list[tuple[str, str, int]]:
    return [(ast.dump(call.node), call.scope.path, len(call.within)) for call in calls]


def agrees(text: str, word: str) -> None:
    whole, part = parsed(text).calls, parsed(text).calls_near([word])
    spelled = [call for call in whole if word in words(call)]
    assert shown(spelled) == shown([call for call in part if word in words(call)])
    assert all(call in shown(whole) for call in shown(part))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("word", ["Trainer", "Coach", "plain", "first", "given", "absent"])
def test_calls_near_a_word(word: str, ends: str) -> None:
    agrees(SHAPES.replace("\n", ends), word)


@pytest.mark.parametrize("path", sorted(path.name for path in (ROOT / "fixer").glob("*.py")))
def test_calls_near_a_word_of_real_files(path: str) -> None:
    text = (ROOT / "fixer" / path).read_text()
    for word in ("path", "replace", "Result", "typer"):
        agrees(text, word)


def test_calls_far_from_a_word_are_left_out() -> None:
    file = parsed("one()\ntwo()\n\n\ndef f():\n    one()\n")
    assert [call.node.lineno for call in file.calls_near(["one"])] == [1, 6]


def test_attributes_are_found_with_and_without_the_whole() -> None:
    text = "def f(a):\n    a.fit\n    return a.other(\n        a.fit(1)\n    )\n"
    file = parsed(text)
    lines = [node.lineno for node in file.attributes("fit")]
    assert lines == [2, 4]
    assert file.calls and [node.lineno for node in file.attributes("fit")] == lines


def test_who_looks_with_other_facts_knows_what_the_text_says_and_not_what_the_facts_said() -> None:
    file = PythonFile.parse(Source("train.py", "python", b"[number] = numbers\n"))
    memos = [file.memo, file.normal.memo] if file.normal else [file.memo]
    for memo in memos:
        memo["words"] = ("number",)
    for form in (file, file.normal):
        if form is not None:
            memo_of(form, Facts({}))["kind"] = "module"
    other = file.again()
    assert other.memo == {"words": ("number",)} and other.memo is not file.memo and "facts" in file.memo
    assert other.normal is None or other.normal.memo == other.memo
