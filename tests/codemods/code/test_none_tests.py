"""What an arm of a choice cannot be, as running the choice shows."""

from __future__ import annotations

import ast

import pytest

from codemods.code.none_tests import left_out

VALUES = (None, 0, "", False, [], 1, "a", (0,))
CHOICES = (
    "x if x else other", "x if not x else other", "other if x else x", "other if not x else x", "x if not not x else 1",
    "x if x is None else other", "x if x is not None else other", "other if x is None else x",
    "None if x == None else x",
    "other if x != None else x", "x if None is not x else other", "other if None is x else x",
    "x if not x is None else other", "other if not x is None else x", "x if y else other", "y if x else other",
    "x if x is y else other", "x if x > 1 else other", "x if x in (None,) else other", "len(x) if x else other",
)  # fmt: skip


@pytest.mark.parametrize("text", CHOICES)
def test_what_is_left_out_never_comes(text: str) -> None:
    choice = ast.parse(text, mode="eval").body
    assert isinstance(choice, ast.IfExp)
    said = {id(arm): left_out(choice, arm) for arm in (choice.body, choice.orelse)}
    for arm in (choice.body, choice.orelse):
        seen = []
        for value in VALUES:
            for other in (None, 1):
                names = {"x": value, "y": other, "other": other, "len": lambda _: None}
                try:
                    taken = choice.body if eval(ast.unparse(choice.test), names) else choice.orelse
                    seen += [eval(ast.unparse(arm), names)] if taken is arm else []
                except TypeError:
                    continue
        if said[id(arm)] is True:
            assert all(seen)
        elif said[id(arm)] is False:
            assert None not in seen


def test_an_arm_that_is_asked_for_is_known() -> None:
    known = []
    for text in CHOICES:
        choice = ast.parse(text, mode="eval").body
        assert isinstance(choice, ast.IfExp)
        known += [said for arm in (choice.body, choice.orelse) if (said := left_out(choice, arm)) is not None]
    assert (known.count(True), known.count(False)) == (3, 6)
