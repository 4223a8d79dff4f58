"""What a file says by itself is asked once, as long as its text and the form in which it is looked at are the same."""

from dataclasses import replace

from codemods.code.parsed_files import ParsedFiles
from codemods.code.source import PythonFile, Source
from codemods.lightning.facts import Facts
from codemods.lightning.said_by_files import said_by

TEXT = "import torch\n\nif True:\n    steps = 1\n"


class Asked:
    """A question that counts how often a file was asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, file: PythonFile, kind: str = "If") -> tuple[int, bool]:
        self.times += 1
        return self.times, any(type(node).__name__ == kind for node in file.tree.body)


def _facts(text: str = TEXT, room: int = 0) -> Facts:
    sources = {path: Source(path, "python", text.encode()) for path in ("a.py", "b.py")}
    return Facts({}, sources=sources, trees=ParsedFiles(sources, room))


def test_a_file_that_was_let_go_is_not_asked_again() -> None:
    facts, ask = _facts(), Asked()
    assert said_by(facts, "a.py", ask) == (1, True)
    assert facts.open("b.py")  # for which there is room only without the other
    assert said_by(facts, "a.py", ask) == (1, True)
    assert said_by(replace(facts), "a.py", ask) == (1, True)


def test_another_question_is_asked() -> None:
    facts, ask = _facts(), Asked()
    assert said_by(facts, "a.py", ask, "If") == (1, True)
    assert said_by(facts, "a.py", ask, "For") == (2, False)


def test_the_normal_form_is_asked_for_itself() -> None:
    facts, ask = _facts(), Asked()
    plain = replace(facts, trees=facts.trees.plain)
    assert said_by(facts, "a.py", ask) == (1, True)
    assert said_by(plain, "a.py", ask) == (2, False)
    assert said_by(facts, "a.py", ask) == (1, True)


def test_a_file_that_stands_for_another_is_always_asked() -> None:
    facts, ask = _facts(), Asked()
    other = PythonFile.parse(Source("a.py", "python", b"steps = 1\n"))
    beside = replace(facts, trees=facts.trees.plain_beside(other))
    assert said_by(facts, "a.py", ask) == (1, True)
    assert said_by(beside, "a.py", ask) == (2, False)
    assert said_by(beside, "a.py", ask) == (3, False)
    assert said_by(replace(facts, trees=facts.trees.plain), "a.py", ask) == (4, False)


def test_another_text_is_asked_anew() -> None:
    ask = Asked()
    assert said_by(_facts(), "a.py", ask) == (1, True)
    assert said_by(_facts("steps = 1\n"), "a.py", ask) == (2, False)


def test_what_cannot_be_read_says_nothing() -> None:
    ask = Asked()
    assert said_by(_facts("if True\n"), "a.py", ask) is None
    assert said_by(_facts(), "c.py", ask) is None
    assert ask.times == 0
