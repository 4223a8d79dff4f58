"""Which assignments may reach a reading, and who takes a name as a parameter."""

from __future__ import annotations

import ast

import pytest

from codemods.code.reaching import narrowed, reaching
from codemods.code.syntax import takes

WITH = "x = 1\nwith {0}:\n    x = 2\n    go()\nsee(x)\n"
RETURN = "def f():\n    x = 1\n    with {0}:\n        return go()\n    see(x)\n"


def values(text: str, surely: bool) -> set[object]:
    """The constants that may reach `see(x)`."""
    tree = ast.parse(text)
    space = tree.body[0] if isinstance(tree.body[0], ast.FunctionDef) else tree
    [use] = [node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "see"]
    found = reaching(space, "x", use, surely=surely)
    return {item.value.value for item in found if isinstance(item.value, ast.Constant)}


@pytest.mark.parametrize(
    ("text", "manager", "surely", "found"),
    [
        (WITH, "lock", False, {2}),
        (WITH, "lock", True, {1, 2}),
        (WITH, "suppress(E)", False, {1, 2}),
        (RETURN, "lock", False, set()),
        (RETURN, "lock", True, {1}),
        (RETURN, "suppress(E)", False, {1}),
    ],
)
def test_what_reaches_behind_a_with(text: str, manager: str, surely: bool, found: set[object]) -> None:
    assert values(text.format(manager), surely) == found


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e"])
def test_every_kind_of_parameter_is_one(name: str) -> None:
    assert takes(ast.parse("def f(a, /, b, *c, d=1, **e): ...").body[0], name)


def test_the_parameter_of_a_lambda_in_a_default_is_none_of_the_function() -> None:
    assert not takes(ast.parse("def f(a=lambda x: x): ...").body[0], "x")


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("y = [x for x in other]", {1}),
        ("y = {x: z for x, z in other}", {1}),
        ("y = [other for other in (x := 2,)]", {1, 2}),
        ("y = [(x := 2) for other in others]", {1, 2}),
        ("y = lambda x=2: x", {1}),
    ],
)
def test_the_names_of_a_comprehension_are_its_own(between: str, found: set[object]) -> None:
    assert values(f"x = 1\n{between}\nsee(x)\n", False) == found


@pytest.mark.parametrize(
    ("body", "some", "true"),
    [
        ("see(x)", False, False),
        ("if x:\n        see(x)", True, True),
        ("if not x:\n        return\n    see(x)", True, True),
        ("if x is not None:\n        see(x)", True, False),
        ("if x is None:\n        see(x)", False, False),
        ("if x:\n        go()\n    see(x)", False, False),
        ("if x or y:\n        see(x)", False, False),
        ("if x and y:\n        see(x)", True, True),
        ("if not x or y:\n        return\n    see(x)", True, True),
        ("if not (x and y):\n        see(x)", False, False),
        ("def drop():\n        nonlocal x\n        x = None\n    if x:\n        drop()\n        see(x)", False, False),
        ("while x:\n        see(x)", False, False),
    ],
)
def test_what_is_seen_of_a_parameter_before_it_is_read(body: str, some: bool, true: bool) -> None:
    function = ast.parse(f"def f(x=None):\n    {body}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    [use] = [
        node.args[0] for node in ast.walk(function) if isinstance(node, ast.Call) and ast.unparse(node.func) == "see"
    ]
    found = narrowed(function, "x", use)
    assert (found.some, found.true) == (some, true)
