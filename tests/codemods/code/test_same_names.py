"""Programs whose names a plainer form must not mix up: each is run, and so is its normal form."""

from __future__ import annotations

import pytest

from tests.codemods.normal_forms import must_do_the_same

PROGRAMS = {
    "a default in a loop": """
def f(rows):
    found = []
    for row in rows:
        def later(it=row):
            return give(it)
        found.append(later)
    for each in found:
        each()
f([1, 2])
""",
    "a default in front of what it is read from": """
def f(x):
    def inner(y=x):
        give(y)
        return y
    x = 2
    give(x)
    return inner()
f(1)
""",
    "a name in two rows of names": """
def f(a, b):
    a, b, *c = b, a, a
    give(a, b, c)
    a, a = b, a
    give(a)
f(1, 2)
""",
    "a function whose name another takes for a parameter": """
def f(x):
    def inner():
        y = give(x)
        return y
    def cb(x):
        return inner()
    return cb(2)
f(1)
""",
    "a function of one return whose name another takes for a parameter": """
def f(x):
    def inner():
        return give(x)
    def cb(x):
        return inner()
    return cb(2)
f(1)
""",
    "a function in a lambda with a parameter of the name": """
def f(x):
    def inner():
        return give(x)
    return list(map(lambda x: inner(), [5]))
f(1)
""",
    "a function in a comprehension of the name": """
def f(x):
    def inner():
        return give(x)
    return [inner() for x in [7]]
f(1)
""",
    "a name that is global outside and local inside": """
n = 0
def f():
    global n
    def inner():
        n = 5
        give(n)
    inner()
f()
give(n)
""",
    "the name of an exception": """
def f(e):
    def inner():
        try:
            raise ValueError("a")
        except ValueError as e:
            give(str(e))
    inner()
    give(e)
f(1)
""",
    "the name of an exception that is global outside": """
e = 7
class A:
    def f(self):
        give(e)
        self._h()
    def _h(self):
        try:
            raise ValueError("a")
        except ValueError as e:
            give(str(e))
A().f()
""",
    "one of two names, read while the other is made": """
a = 1
def h():
    give(a)
    return 2
c = 9
a, b = c, h()
""",
    "a global name that changes while a helper runs": """
lim = 1
class A:
    def f(self):
        self._h(lim)
    def _h(self, v):
        bump()
        give(v)
def bump():
    global lim
    lim = 2
A().f()
""",
    "a name of a helper that the next turn would see": """
class A:
    def f(self):
        for i in range(2):
            self._h(i)
    def _h(self, i):
        try:
            if i == 0:
                y = 1
            give(y)
        except NameError:
            give("no")
A().f()
""",
    "a name that is local by its annotation": """
x = 1
def f():
    x: int
    give(x)
try:
    f()
except UnboundLocalError:
    give("u")
""",
    "a function that is bound again by `globals`": """
import sys
def flag():
    return 1
globals()["flag"] = lambda: 2
give(flag())
""",
    "a second name of what a loop binds, read after it": """
def f():
    kept = []
    for i in range(3):
        if i == 2:
            continue
        a = i
        kept.append(lambda: a)
    for each in kept:
        give(each())
f()
""",
    "what is unpacked onto itself": """
def f(x):
    both = x
    a, both = both
    give(a, both)
f((1, 2))
""",
    "what is unpacked": """
def f(x):
    both = give(*x)
    a, b = both
    give(b, a)
f((1, 2))
""",
    "a module that is imported by its name": """
import importlib
join = importlib.import_module("os.path").join
path = importlib.import_module("os.path")
give(join("a", "b"), path.basename("a/b"))
""",
    "a default that a name of an exception hides": """
def f(x):
    def inner(y=x):
        give(y)
        give("inner")
    try:
        raise ValueError("a")
    except ValueError as x:
        give("caught")
    inner()
f(1)
""",
    "a default that an import hides": """
def f(os):
    def inner(y=os):
        give(y)
        give("inner")
    import os
    give(os is None)
    inner()
f(1)
""",
    "a default that a case hides": """
def f(x, z):
    def inner(y=x):
        give(y)
        give("inner")
    match z:
        case {"a": x}:
            give(x)
    inner()
f(1, {"a": 2})
""",
    "a default of a global name that changes": """
z = 1
def change():
    global z
    z = 2
def f():
    def other():
        z = 5
        give(z)
    def inner(y=z):
        change()
        give(y)
        return y
    inner()
    other()
    other()
f()
""",
    "an argument that is read later": """
def f(x):
    later = (lambda a: lambda: a)(x)
    x = 2
    give(later(), x)
f(1)
""",
    "the name of an exception in what never runs": """
e = 5
def f():
    if False:
        try:
            give(1)
        except ValueError as e:
            give(2)
    try:
        give(e)
    except UnboundLocalError:
        give("unbound")
f()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_normal_form_does_the_same(name: str) -> None:
    must_do_the_same(PROGRAMS[name])
