"""Programs of which the normal form has to keep what looks idle: both forms are run."""

from __future__ import annotations

import ast

import pytest

from codemods.code.normal import normal

PROGRAMS = {
    "a flag that a break keeps": """
def f(items):
    found = False
    for i in items:
        found = True
        if i:
            break
        found = False
    return found
emit(f([0, 1, 0]))
""",
    "a flag that a continue keeps": """
def f(items):
    seen = 0
    for i in items:
        seen = i
        if i == 2:
            continue
        seen = 0
    return seen
emit(f([1, 2]))
""",
    "a generator that yields nothing": """
def f():
    if False:
        yield
emit(list(f()))
""",
    "a name that is local all the same": """
name = 3
def f():
    if False:
        name = 1
    try:
        return name
    except NameError:
        return 7
emit(f())
""",
    "a context that calls what it was given": """
class T:
    def __init__(self, fn):
        self.print = fn
    def __enter__(self):
        self.print("in")
    def __exit__(self, *a):
        self.print("out")
def f():
    with T(emit):
        emit(1)
f()
""",
    "a context that divides": """
class T:
    def __init__(self, n):
        self.r = 1 / n
    def __enter__(self):
        pass
    def __exit__(self, *a):
        pass
def f():
    try:
        with T(0):
            emit(1)
    except ZeroDivisionError:
        emit(2)
f()
""",
    "an unpacking that finally sees": """
def f(fn):
    a = 0
    try:
        a, b = 1, fn()
    finally:
        emit(a)
def fails():
    raise ValueError
try:
    f(fails)
except ValueError:
    pass
""",
    "a chain to what cannot be set": """
class O:
    @property
    def x(self):
        return 1
def f(o):
    y = 0
    try:
        o.x = y = 5
    except AttributeError:
        pass
    return y
emit(f(O()))
""",
    "an attribute that a constructor reads": """
class Q:
    y = 1
q = Q()
class K:
    def __init__(self):
        self.v = q.y
def f(o):
    o.y, b = 5, K()
    return b.v
emit(f(q))
""",
    "a closure over a parameter": """
class A:
    def h(self, k, out):
        out.append(lambda: k)
    def m(self):
        out = []
        i = 1
        self.h(i, out)
        i = 2
        return out[0]()
emit(A().m())
""",
    "a function that is handed a name which is bound again": """
def m():
    out = []
    def h(k):
        out.append(lambda: k)
    i = 1
    h(i)
    i = 2
    return out[0]()
emit(m())
""",
    "a text that is formatted": """
def f(form):
    if not form % ():
        return 1
    return 2
emit(f(""))
""",
    "a loop whose name is deleted": """
def f():
    for i in range(1):
        del i
    return 1
emit(f())
""",
    "a loop whose name locals gives": """
def f():
    for name in ["a"]:
        s = "%(name)s" % locals()
    return s
emit(f())
""",
    "filters of warnings": """
import warnings
def f():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
before = len(warnings.filters)
f()
emit(len(warnings.filters) - before)
""",
    "an unpacked argument of getattr": """
def f(p):
    return getattr(*p, "real") if len(p) == 1 else 0
emit(f([4]))
""",
    "a dictionary that is read later": """
def f():
    d = [0]
    g = (len(d) for _ in range(1))
    d = {}
    d["a"] = next(g)
    return d
emit(f())
""",
}


def said(tree: ast.Module) -> list[object]:
    found: list[object] = []
    exec(compile(ast.unparse(tree), "program", "exec"), {"emit": found.append})
    return found


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_it_does_the_same(text: str) -> None:
    tree = ast.parse(text)
    before = said(tree)
    assert before and said(normal(tree)) == before


def test_what_python_has_no_words_for_stays() -> None:
    for text in ("g(**{'class': 1})", f"x = float({'9' * 400})", "def f(p):\n    y = cast(int, *p)\n    return y"):
        tree = normal(ast.parse("from typing import cast\n" + text))
        ast.parse(ast.unparse(tree))
