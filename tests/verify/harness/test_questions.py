"""What a script asks at its terminal, and what it is answered."""

from __future__ import annotations

import builtins
import getpass
import linecache
from pathlib import Path
from typing import Any

import pytest

from verify.harness import questions


def answered(root: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[dict[str, Any], list[str]]:
    """The names that a script of the project ends with, and what is told of its questions."""
    script = root / "train.py"
    script.write_text(text)
    linecache.checkcache(str(script))
    for module, name in ((builtins, "input"), (getpass, "getpass")):
        monkeypatch.setattr(module, name, getattr(module, name))
    monkeypatch.chdir(root)
    asked: dict[str, None] = {}
    questions.answer(asked)
    names: dict[str, Any] = {}
    exec(compile(text, str(script), "exec"), names)
    return names, list(asked)


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        ("x = input('Number of epochs: ')", "1"),
        ("x = input('Name of the run: ')", ""),
        ("x = input('Continue [y/n]? ')", "y"),
        ("x = input('Continue (Yes, No)? ')", "y"),
        ("x = input('Which one? ')\ny = int(x)", "1"),
        ("x = int(\n    input('Which one? ')\n)", 1),
        ("x = input('Go on? ')\nif x.strip() != 'YES':\n    raise SystemExit", "YES"),
        ("x = input('Stop? ')\nif x in ('n', 'no'):\n    raise SystemExit", "y"),
        ("x = input('Data set (mnist, cifar)? ')\nif x == 'mnist':\n    y = 1\nelif x == 'cifar':\n    y = 2", "mnist"),
        ("import getpass\nx = getpass.getpass('Key: ')", "fixer"),
    ],
)
def test_an_answer_is_by_what_is_done_with_it(
    asks: str, answer: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, told = answered(tmp_path, monkeypatch, asks)
    assert names["x"] == answer
    assert len(told) == 1 and told[0].endswith(f": {answer or 'nothing'}")


def test_who_asks_for_ever_comes_to_the_end_of_all_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EOFError):
        answered(tmp_path, monkeypatch, "while input('Command: ') != 'stop' or True:\n    pass\n")


def test_what_is_not_the_projects_is_not_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "input", lambda prompt="": "as ever")
    answered(tmp_path, monkeypatch, "x = 1\n")
    assert input("?") == "as ever"
