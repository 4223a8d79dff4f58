"""Which rooms of codemods know of which."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import codemods

ROOT = Path(codemods.__file__).parent
MAY = {
    "code": {"codemods.code", "codemods.nodes"},
    "lightning": {"codemods.code", "codemods.lightning", "codemods.nodes", "codemods.facts", "codemods.source",
                  "codemods.syntax", "codemods.scopes"},
}  # fmt: skip


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "codemods"}


@pytest.mark.parametrize("room", MAY)
def test_a_room_knows_what_lies_below_it_alone(room: str) -> None:
    files = sorted((ROOT / room).glob("*.py"))
    assert len(files) > 1
    for path in files:
        for name in imported(path):
            assert any(name == known or name.startswith(f"{known}.") for known in MAY[room]), (path, name)
