"""Texts in their normal form."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest

from codemods.code.normal import normal

GIVE = """\
def give(*args, **words):
    told.append((args, words))
    return args
"""


def shown(text: str) -> str:
    """What a text says in its normal form."""
    return ast.unparse(normal(ast.parse(text)))


def each_form(forms: Mapping[str, tuple[str, str]], left: Mapping[str, str]) -> pytest.MarkDecorator:
    """Runs a test for each `text` with its `plain` form, which of what is left as it is is the text itself."""
    pairs = {**forms, **{f"{name}, which stays": (text, text) for name, text in left.items()}}
    return pytest.mark.parametrize(("text", "plain"), pairs.values(), ids=pairs)


def must_do_the_same(program: str) -> None:
    """Runs a program that says by `give` what it does, and its normal form, which has to do the same."""
    text = GIVE + program
    expected = _told_by(ast.parse(text))
    assert expected and _told_by(normal(ast.parse(text))) == expected, shown(text)


def _told_by(tree: ast.Module) -> list[object]:
    told: list[object] = []
    try:
        exec(compile(ast.fix_missing_locations(tree), "<program>", "exec"), {"told": told, "__name__": "program"})
    except Exception as error:
        told.append(repr(error))
    return told
