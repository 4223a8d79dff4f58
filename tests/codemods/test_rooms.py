"""Which rooms know of which: the arrows of the house, and the families that still ask one another."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

import codemods
import fixer
import verify

ROOT = Path(codemods.__file__).parent
WORDS = {"codemods.finding", "codemods.rule"}
MAY = {
    "code": {"codemods.code", "codemods.finding"},
    "lightning": {"codemods.code", "codemods.lightning", *WORDS},
    "rewrite": {"codemods.code", "codemods.lightning", "codemods.rewrite", *WORDS},
    "engine": {"codemods", "codemods.code", "codemods.lightning", "codemods.rewrite", "codemods.engine", *WORDS},
}
"""What each room may import: what lies below it, and the words in which rules speak."""
FAMILIES = {
    ("backward", "loops"), ("loops", "backward"), ("configs", "metrics"), ("configs", "names"), ("configs", "trainer"),
    ("modules", "names"), ("names", "metrics"), ("hooks", "optimizers"), ("hooks", "tbptt"), ("optimizers", "hooks"),
    ("optimizers", "tbptt"), ("tbptt", "hooks"),
}  # fmt: skip
"""Families that still ask another one; no more may come."""


@functools.cache
def is_module(name: str) -> bool:
    place = ROOT.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").exists()


@functools.cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """What of a file imports, or is a class."""
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return tuple(node for node in found if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef))


def imported(path: Path, package: str) -> set[str]:
    """The modules of a package that a file imports, inside of functions too."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{each.name}" for each in node.names}
            found |= {name if is_module(name) else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == package}


@pytest.mark.parametrize("room", MAY)
def test_a_room_knows_what_lies_below_it_alone(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert len(files) > 1
    wrong = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in files
        for name in imported(path, "codemods")
        if not any(name == known or (known != "codemods" and name.startswith(f"{known}.")) for known in MAY[room])
    }
    assert wrong == set()


def test_a_family_asks_no_other_one_but_those_that_are_listed() -> None:
    rules = ROOT / "rules"
    found = set()
    for path in rules.rglob("*.py"):
        family = path.relative_to(rules).parts[0]
        names = [name.split(".") for name in imported(path, "codemods") if name.startswith("codemods.rules.")]
        found |= {(family, other) for _, _, other, *_ in names if other != family}
    assert found == FAMILIES


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for package in (codemods, fixer, verify):
        root = Path(package.__file__ or "").parent
        for path in sorted(root.rglob("*.py")):
            for node in nodes(path):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name.lstrip("_"), []).append(path.relative_to(root.parent).as_posix())
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_what_runs_beside_the_project_knows_nothing_else_of_ours() -> None:
    files = sorted((Path(verify.__file__).parent / "harness").glob("*.py"))
    assert len(files) > 30
    assert [(path.name, imported(path, "verify")) for path in files if imported(path, "verify")] == []


def test_no_package_knows_of_the_tool() -> None:
    for package, other in (("codemods", "verify"), ("verify", "codemods")):
        files = sorted((ROOT.parent / package).rglob("*.py"))
        assert len(files) > 100
        assert not [path for path in files if imported(path, other) or imported(path, "fixer")]
