"""Programs whose methods, properties and attributes a plainer form must not mix up: each is run, and so is its normal
form."""

from __future__ import annotations

import pytest

from tests.codemods.normal_forms import must_do_the_same

PROGRAMS = {
    "a method that is set under its first name": """
class A:
    def f(self):
        step = self.step
        self.step = lambda: give("new")
        step()
        step()
        self.step()
    def step(self):
        give("old")
A().f()
""",
    "an attribute read after what changes it, with a dictionary": """
class A:
    n = 0
    def nxt(self):
        self.n += 1
        return self.n
    def f(self):
        k = {"b": self.nxt()}
        return give(self.n, **k)
A().f()
""",
    "an attribute read after what changes it, with a list": """
class A:
    n = 0
    def nxt(self):
        self.n += 1
        return self.n
    def f(self):
        k = [self.nxt()]
        return give(self.n, *k)
A().f()
""",
    "a constant of another class": """
class A:
    _n = 1
class M:
    def __getattr__(self, k):
        return 5
class B(M):
    def f(self):
        give(a=self._n)
B().f()
""",
    "a property of another class": """
class A:
    @property
    def _n(self):
        return 1
class B:
    def __init__(self, **k):
        self.__dict__.update(k)
    def f(self):
        give(a=self._n)
B(_n=3).f()
""",
    "a static method with an object of another class": """
class A:
    @staticmethod
    def f(other):
        other._h(3)
    def _h(self, x):
        give("A")
class B:
    def __getattr__(self, n):
        return lambda *a: give("dyn", n)
A.f(B())
""",
    "a property with a setter": """
class A:
    @property
    def v(self): return give("get")
    @v.setter
    def v(self, x): give("set")
    def f(self):
        self.v = self.v
A().f()
""",
    "a private name outside a class": """
def part(self):
    give(self.__x)
class A:
    def __init__(self):
        vars(self)["__x"] = 3
    def f(self):
        part(self)
A().f()
""",
    "a method called in a function that takes the name": """
x = 1
class A:
    def f(self):
        def cb(x):
            self._h()
        cb(9)
    def _h(self):
        give(x)
A().f()
""",
    "a method called in a class inside": """
class B:
    def _x(self): pass
class A:
    def f(self):
        class C:
            def _k(self): give("C")
            def m(self):
                self._h()
            def __getattr__(self, n): return lambda: give("dyn")
        C().m()
    def _h(self):
        give("A")
A().f()
""",
    "a method called in a function that takes another object": """
class Other:
    def __getattr__(self, n):
        return lambda *a: give("other", n)
class A:
    def f(self):
        def cb(self):
            self._h()
        cb(Other())
    def _h(self):
        give("A")
A().f()
""",
    "another object under the name of the own": """
class A:
    def f(self):
        self = C()
        self._g()
    def _g(self):
        give("A")
class C:
    def __getattr__(self, n):
        return lambda: give("dyn")
A().f()
""",
    "a property that is asked for once": """
class A:
    n = 1
    def f(self):
        self.n = 2
        x = self._p
        self.n = 3
        return x
    @property
    def _p(self):
        give(self.n)
        return self.n
give(A().f())
""",
    "a method of one expression in a comprehension of its name": """
class A:
    def f(self, xs):
        return [self._g(x) for x in xs]
    def _g(self, y):
        return [x + y for x in (1, 2)]
give(A().f([10, 20]))
""",
    "a method of one expression that reads a name which its caller binds": """
n = 1
class A:
    def f(self):
        n = 2
        return self._g() + n
    def _g(self):
        return n
give(A().f())
""",
    "a method of one expression whose argument is bound again": """
class A:
    def f(self, x):
        y = self._g(x)
        x = 5
        return y() + x
    def _g(self, x):
        return lambda: x
give(A().f(1))
""",
    "a method of one expression that a class below has": """
class A:
    def f(self):
        if self._g():
            give("yes")
        else:
            give("no")
    def _g(self):
        return True
class B(A):
    def _g(self):
        return False
B().f()
""",
    "an attribute that goes by another, in front of an item": """
class A:
    def f(self):
        rows = [self.step()]
        give(self.n, rows[0])
    @property
    def n(self):
        return self.__dict__.get("_n", 0)
    def step(self):
        self._n = 1
        return 5
A().f()
""",
    "a method that is a property of another class": """
class A:
    def step(self):
        give("a")
class B:
    @property
    def step(self):
        give("asked")
        return lambda: give("called")
    def f(self):
        step = self.step
        give("begun")
        step()
        step()
B().f()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_normal_form_does_the_same(name: str) -> None:
    must_do_the_same(PROGRAMS[name])
