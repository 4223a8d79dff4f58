"""Arguments that go, and the comments around them that stay."""

from __future__ import annotations

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.rewrite.edits import without_arguments, without_parameter
from tests.codemods.support import rewritten, rule

LINES = "Trainer(\n    max_steps=1,  # one\n{}    max_epochs=1,\n)"


def without(text: str, *names: str) -> str:
    call = cst.ensure_type(cst.parse_expression(text), cst.Call)
    return cst.Module([]).code_for_node(without_arguments(call, frozenset(names)))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (LINES.format("    gone=2,\n"), LINES.format("")),
        (LINES.format("    # a=2,\n    gone=2,  # two\n\n    # b\n"), LINES.format("    # a=2,\n\n    # b\n")),
        ("Trainer(max_steps=1, gone=2,\n    # b\n    b=1)", "Trainer(max_steps=1,\n    # b\n    b=1)"),
        ("Trainer(gone=2,\n    # b\n    b=1)", "Trainer(\n    # b\n    b=1)"),
        ("Trainer(gone=2,\n    b=1)", "Trainer(b=1)"),
        ("Trainer(\n    a=1,\n    # b=1\n    gone=2\n    # c=1\n)", "Trainer(\n    a=1\n    # b=1\n    # c=1\n)"),
        ("Trainer(\n    a=1,\n    # b=1\n    gone=2,\n    # c=1\n)", "Trainer(\n    a=1,\n    # b=1\n    # c=1\n)"),
        ("Trainer(\n    # a=1,\n    gone=2,\n    # c=1\n)", "Trainer(\n    # a=1,\n    # c=1\n)"),
        ("Trainer(\n    gone=2,\n)", "Trainer()"),
        ("Trainer(\n    a=1,  # one\n    gone=2)", "Trainer(\n    a=1,  # one\n    )"),
        ("Trainer(\n    a=1,  # one\n    gone=2\n)", "Trainer(\n    a=1  # one\n)"),
        ("Trainer()", "Trainer()"),
    ],
)
def test_what_is_left(text: str, after: str) -> None:
    assert without(text, "gone") == after


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=5), st.booleans())
def test_no_comment_on_a_line_of_its_own_is_lost(arguments: list[tuple[bool, bool, bool]], ends: bool) -> None:
    text, comments = "f(\n", 0
    for number, (goes, commented, blank) in enumerate(arguments):
        comments += commented
        text += "\n" * blank + f"    # c{number}\n" * commented
        comma = "," if ends or number < len(arguments) - 1 else ""
        text += f"    {'g' if goes else 'k'}{number}={number}{comma}\n"
    after = without(f"{text})", *(f"g{number}" for number in range(len(arguments))))
    assert after.count("#") == comments
    call = cst.ensure_type(cst.parse_expression(after), cst.Call)
    kept = [item.keyword.value for item in call.args if item.keyword]
    assert kept == [f"k{number}" for number, (goes, _, _) in enumerate(arguments) if not goes]


@pytest.mark.parametrize(
    "gone", ["    amp_backend='native',\n", "    # callbacks=[a], logger=b\n    amp_backend='native',  # goes\n"]
)
def test_what_speaks_of_others_is_no_reason_to_leave_an_argument(gone: str) -> None:
    head, next_one = "from pytorch_lightning import Trainer\n\n", "    # how long\n"
    after = rewritten({"train.py": head + LINES.format(gone + next_one) + "\n"}, rule("LIT110"))["train.py"]
    kept = "".join(f"{line}\n" for line in gone.splitlines() if line.strip().startswith("#"))
    assert after == head + LINES.format(kept + next_one) + "\n"


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("def step(self, batch, gone, /): ...\n", "def step(self, batch, /): ...\n"),
        ("def step(self, gone=None, /, batch=1): ...\n", "def step(self, /, batch=1): ...\n"),
        ("def step(gone, /, batch): ...\n", "def step(batch): ...\n"),
        ("def step(gone, /): ...\n", "def step(): ...\n"),
        ("def step(\n    self,\n    gone,\n    /,\n): ...\n", "def step(\n    self,\n    /,\n): ...\n"),
        ("def step(self, batch, /, gone=1): ...\n", "def step(self, batch, /): ...\n"),
        ("def step(self, batch, /, gone=1, **more): ...\n", "def step(self, batch, /, **more): ...\n"),
        ("def step(self, batch, /): ...\n", "def step(self, batch, /): ...\n"),
    ],
)
def test_parameters_by_place_go_as_others(head: str, after: str) -> None:
    function = cst.ensure_type(cst.parse_module(head).body[0], cst.FunctionDef)
    assert cst.Module([without_parameter(function, "gone")]).code == after
