"""Contexts of torch that an attribute keeps: seen where they are surely what is entered, and nowhere else."""

from __future__ import annotations

import ast

import pytest

from codemods.code.normal import normal

TEXT = """\
import contextlib
import torch


class Other:
    {other}


class Model:
    {default}

    def __init__(self, freeze):
        {made}

    def step(self, policy):
        {before}
        with {entered}:
            go()
"""
SEEN = "with torch.no_grad():"


def entered(other: str = "pass", default: str = "pass", made: str = "pass", before: str = "pass", by: str = "") -> str:
    text = TEXT.format(other=other, default=default, made=made, before=before, entered=by or "self.mode")
    return ast.unparse(normal(ast.parse(text)))


@pytest.mark.parametrize("where", ["made", "before"])
def test_what_an_instance_surely_has_is_seen(where: str) -> None:
    assert SEEN in entered(**{where: "self.mode = torch.no_grad()"})


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"made": "if freeze: self.mode = torch.no_grad()"}, id="at times"),
        pytest.param(
            {"made": "self.mode = torch.no_grad()", "default": "mode = contextlib.nullcontext()"}, id="a default too"
        ),
        pytest.param({"made": "self.mode = torch.no_grad()", "by": "policy.mode"}, id="of another object"),
        pytest.param({"other": "def __init__(self): self.mode = torch.no_grad()"}, id="of another class"),
        pytest.param({"before": "policy.mode = torch.no_grad()"}, id="put on another object"),
        pytest.param({"before": "if policy: self.mode = torch.no_grad()"}, id="in a branch before"),
    ],
)
def test_what_may_be_another_context_is_not(changes: dict[str, str]) -> None:
    assert SEEN not in entered(**changes)
