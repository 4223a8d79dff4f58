"""Programs that a plainer form must not change: guards, loops, cases and contexts. Each is run, and so is its normal
form."""

from __future__ import annotations

import pytest

from tests.codemods.normal_forms import must_do_the_same

PROGRAMS = {
    "what a case takes in each other's place": """
def f(x, y):
    match (x, y):
        case (y, x):
            give(x, y)
f(1, 2)
""",
    "a case that is told by its kind": """
def f():
    match 1:
        case True:
            give("true")
        case _:
            give("one")
f()
""",
    "an item that a method of the list takes": """
def f():
    rows = [give(1), give(2)]
    last = rows.pop()
    give(last, rows)
f()
""",
    "a guard that is answered": """
def f(x):
    try:
        if x is None:
            raise ValueError
        give("a")
    except ValueError:
        give("b")
f(None)
""",
    "an assertion that is answered": """
def f(x):
    try:
        assert isinstance(x, int)
        give("a")
    except AssertionError:
        give("b")
f(None)
""",
    "a guard that the caller answers": """
def f(x):
    if x is None:
        raise ValueError
    give("a")
try:
    f(None)
except ValueError:
    give("b")
""",
    "a keyword that is overridden and does something": """
from functools import partial
partial(give, a=give(1))(a=2)
""",
    "a key that a dictionary has twice": """
give(**{"a": 1, "a": 2})
""",
    "a length that is asked for and answered": """
def f(x):
    try:
        len(x)
    except TypeError:
        give("none")
f(3)
""",
    "a length that is asked for, kept and answered": """
def f(x):
    try:
        _ = len(x)
    except TypeError:
        give("none")
f(3)
""",
    "a hash that is suppressed": """
import contextlib
def f(x):
    give(1)
    with contextlib.suppress(TypeError):
        hash(x)
        give("hashable")
f([])
""",
    "a warning that is answered": """
import warnings
def f():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            warnings.warn("x")
        except UserWarning:
            give("w")
f()
""",
    "a setting of a module that is put back": """
import os
def f():
    old = os.sep
    os.sep = "?"
    give(old)
    os.sep = old
    give(os.sep)
f()
""",
    "a generator that is gone over": """
class A:
    def f(self, xs):
        for x in self._each(xs):
            give(x)
    def _each(self, xs):
        yield from reversed(xs)
A().f([1, 2])
""",
    "a loop over numbers that nobody reads": """
def f(xs):
    for n, x in enumerate(xs):
        give(x)
f("ab")
""",
    "a loop over numbers that are read behind": """
def f(xs):
    for n, x in enumerate(xs):
        give(x)
    give(n)
f("ab")
""",
    "a loop over an iterator of its own": """
def iter(xs):
    return xs[1:]
def f(xs):
    for x in iter(xs):
        give(x)
f("ab")
""",
    "a guard that does something": """
class Kept:
    def step(self):
        give("step")
def f(rows):
    if hasattr(rows.pop(), "step"):
        rows.pop().step()
    give(len(rows))
f([Kept(), Kept(), Kept()])
""",
    "a guard for what may be None": """
class A:
    def __init__(self, log=None):
        self.log = log
    def f(self):
        if callable(self.log):
            self.log(1)
        give("end")
A().f()
""",
    "a guard by a function of its own": """
def hasattr(x, name):
    return give(False)[0]
class A:
    def step(self):
        give("step")
    def f(self):
        if hasattr(self, "step"):
            self.step()
A().f()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_normal_form_does_the_same(name: str) -> None:
    must_do_the_same(PROGRAMS[name])
