"""Arguments of calls are added as an owner would write them."""

from __future__ import annotations

import libcst as cst
import pytest

from codemods.rewrite.keywords import with_callback


@pytest.mark.parametrize(
    ("callbacks", "after"),
    [
        ("[a] + more", "[a] + more + [b]"),
        ("more + [a]", "more + [a, b]"),
        ("more + []", "more + [b]"),
        ("(more + [a])", "(more + [a, b])"),
        ("[a] + more + other", "[a] + more + other + [b]"),
        ("more + other", "[*more + other, b]"),
        ("more * [a]", "[*more * [a], b]"),
        ("[a]", "[a, b]"),
        ("[]", "[b]"),
        ("more", "[*more, b]"),
    ],
)
def test_a_callback_more_is_written_as_the_others_are(callbacks: str, after: str) -> None:
    made = with_callback(cst.ensure_type(cst.parse_expression(f"Trainer(callbacks={callbacks})"), cst.Call), "b")
    assert cst.Module([]).code_for_node(made) == f"Trainer(callbacks={after})"
