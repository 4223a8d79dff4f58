"""What is read of the files in which a project says what it needs, whatever is written in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.manifests import addresses_in, pins_in


@pytest.mark.parametrize(
    "text",
    [
        'project = "x"', "project = [1]", "[project]\ndependencies = 3", '[project]\ndependencies = "timm"',
        "[project]\noptional-dependencies = 3", "[project.optional-dependencies]\nall = 3", "tool = 1",
        "[tool]\npoetry = 1", "[tool.poetry]\ndependencies = true", "[project]\ndependencies = [1, [2], {a = 3}]",
        "= broken", "\x00",
    ],
)  # fmt: skip
def test_a_pyproject_that_holds_something_else_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "requirements.txt").write_text("numpy\n")
    assert pins_in(tmp_path) == ("numpy",)
    assert addresses_in(tmp_path) == ()
