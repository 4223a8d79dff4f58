"""The names of comprehensions beside those of what is around them."""

from __future__ import annotations

import ast

import pytest

from codemods.code.imports import ModuleNames
from codemods.code.own_names import plain_own_names

SHADOWING = [
    "def f(x, ys):\n    z = x + 1\n    return z, [z for z in ys if z], x\n",
    "def f(x, ys):\n    return [[x + 1 for x in [x, 1]] for x in ys], x\n",
    "def f(x, ys):\n    return {x: [y for y in range(x)] for x in ys}, x\n",
    "def f(x, ys):\n    return [x + y for x in [x] for y in ys if x], x\n",
    "def f(x, ys):\n    return sum(x * y for x, y in zip([x, x], ys)), x, ys\n",
    "def f(x, ys):\n    return [g(x) for x in ys for g in [lambda y: x + y]], x\n",
]
SHADOWING += [
    "def f(x, ys):\n    return [(lambda x: x)(x) for x in ys], x\n",
    "def f(x, ys):\n    return sorted(ys, key=lambda x: -x), x\n",
    "def f(x, ys):\n    return [(lambda x=x: x)()], [x for x in ys], x\n",
]
IMPORTED = [
    "import math as x\ndef f(y, ys):\n    return sorted(ys, key=lambda x: -x), [x for x in ys], x.pi\n",
    "from math import pi as x\ndef f(y, ys):\n    return [x for x in ys], x\n",
    "import math as x\npick = lambda x: x\ndef f(y, ys):\n    return pick(ys), x.pi\n",
]
PLAIN = [
    "def f(x, ys):\n    return x, [y for y in ys]\n",
    "def f(x, ys):\n    x = 1\n    return [x for x in ys], x\n",
    "def f(x, ys):\n    return (lambda x: x)(x=ys), x\n",
    "def f(x, ys):\n    return [(x := y) for y in ys], x\n",
    "def f(x, ys):\n    def g():\n        return [x for x in ys]\n    return g(), x\n",
]


def told_apart(text: str) -> ast.Module:
    tree = ast.parse(text)
    return plain_own_names(tree, ModuleNames(tree))


def answer(tree: ast.Module) -> str:
    space: dict[str, object] = {}
    exec(compile(ast.unparse(tree), "f", "exec"), space)
    given = space["f"](2, [3, 0])  # type: ignore[operator]
    return repr([[item(1) for item in part] if callable((part or [0])[0]) else part for part in map(as_list, given)])


def as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("text", [*SHADOWING, *IMPORTED])
def test_what_shadows_is_called_otherwise_and_does_the_same(text: str) -> None:
    tree = told_apart(text)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    assert any(name.endswith("__inside") for name in names)
    assert [name for name in names if name == "x"]
    assert answer(tree) == answer(ast.parse(text))


@pytest.mark.parametrize("text", PLAIN)
def test_what_shadows_nothing_stays(text: str) -> None:
    tree = ast.parse(text)
    assert plain_own_names(tree, ModuleNames(tree)) is tree
