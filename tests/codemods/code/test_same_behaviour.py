"""Programs that a plainer form must not change: each is run, and so is its normal form."""

from __future__ import annotations

import ast

import pytest

from codemods.code.normal import normal

GIVE = """\
def give(*args, **words):
    told.append((args, words))
    return args
"""
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
    "a base that another class is put in front of": """
class A:
    def f(self):
        give("a")
class B(A):
    def f(self):
        A.f(self)
        give("b")
class C(A):
    def f(self):
        give("c")
class D(B, C):
    pass
D().f()
""",
    "an item that a method of the list takes": """
def f():
    rows = [give(1), give(2)]
    last = rows.pop()
    give(last, rows)
f()
""",
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
    "a keyword that is overridden and does something": """
from functools import partial
partial(give, a=give(1))(a=2)
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
    "a function that is bound again by `globals`": """
import sys
def flag():
    return 1
globals()["flag"] = lambda: 2
give(flag())
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
    "a key that a dictionary has twice": """
give(**{"a": 1, "a": 2})
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
    "a class with one below it": """
class Half:
    flag = False
    def step(self):
        give(self.flag)
        return super().__init__()
class Whole(Half):
    'Doc.'
    def __init__(self):
        super().__init__()
        give("made")
w = Whole()
w.step()
give(Whole.__doc__)
""",
    "a class mixed in before another": """
class Half:
    def step(self):
        give("half")
        return super().step()
class Base:
    def step(self):
        give("base")
class Whole(Half, Base):
    pass
Whole().step()
""",
    "a class mixed in after another": """
class Half:
    def step(self):
        give("half")
class Base:
    def step(self):
        give("base")
class Whole(Base, Half):
    pass
Whole().step()
""",
    "a class whose method one below passes on to": """
class Half:
    def step(self):
        give("half")
class Whole(Half):
    def step(self):
        give("whole")
        super().step()
Whole().step()
""",
    "a class whose method another of one below passes on to": """
class Half:
    def step(self):
        give("half")
class Whole(Half):
    def other(self):
        super().step()
Whole().other()
""",
    "a class with an attribute of the name of a global": """
size = 3
class Half:
    size = 4
class Whole(Half):
    double = size * 2
give(Whole.double, Whole.size)
""",
    "a class that is asked for elsewhere": """
class Half:
    pass
class Whole(Half):
    pass
give(isinstance(Whole(), Half))
""",
    "a class that tells of those above it": """
class Half:
    def f(self):
        return 1
class Whole(Half):
    pass
give([item.__name__ for item in Whole.__mro__])
""",
    "a class that is told of those below it": """
class Root:
    def __init_subclass__(cls):
        give(cls.__name__)
class Half(Root):
    def f(self):
        return 1
class Whole(Half):
    pass
""",
    "a class with a private name": """
class Half:
    def f(self):
        self.__x = 1
        return [name for name in self.__dir__() if "x" in name and name.startswith("_H")]
class Whole(Half):
    pass
give(Whole().f())
""",
    "classes above that meet": """
class Root:
    def f(self):
        give("root")
class One(Root):
    pass
class Other(Root):
    def f(self):
        give("other")
        super().f()
class Whole(One, Other):
    pass
Whole().f()
""",
    "a class below that is made otherwise": """
class Half:
    @classmethod
    def make(cls):
        return cls(3)
class Whole(Half):
    def __new__(cls, n):
        give(n)
        return object.__new__(cls)
Whole.make()
""",
    "a class with an attribute that one below sets": """
class Half:
    flag = True
    def f(self):
        give(self.flag)
class Whole(Half):
    flag = False
Whole().f()
""",
    "a function that a class takes for a method": """
def step(self, x=1):
    give(x, self.n)
class Whole:
    n = 3
    run = step
Whole().run()
Whole().run(2)
""",
    "a function that a class has by another name, which a method reads": """
n = 5
def step(self):
    give(n)
class Whole:
    n = 3
    run = step
Whole().run()
""",
    "a function that a class takes for a static method": """
def step(x):
    give(x)
class Whole:
    run = staticmethod(step)
Whole().run(1)
""",
    "a function that is called as well": """
def step(self):
    give(self)
class Whole:
    run = step
step(1)
""",
    "a function that a class is given behind": """
def step(self):
    give("given")
class Whole:
    pass
Whole.step = step
Whole().step()
""",
    "a function that a class is given too late": """
def step(self):
    give("given")
class Whole:
    def step(self):
        give("own")
Whole().step()
Whole.step = step
Whole().step()
""",
    "a class that a function makes": """
class Base:
    def f(self):
        give("base")
def make(base):
    class Whole(base):
        def g(self):
            self.f()
            give(Whole.__name__)
    return Whole
Whole = make(Base)
Whole().g()
""",
    "a class that a function makes twice": """
def make(n):
    class Whole:
        def f(self):
            give(n)
    return Whole
One = make(1)
Other = make(2)
One().f()
Other().f()
""",
    "a class that a function makes with a name that a method binds": """
def make(n):
    class Whole:
        def f(self, n):
            give(n)
    return Whole
Whole = make(1)
Whole().f(2)
""",
    "a class that a function makes of what is bound again": """
size = 1
def make(n):
    class Whole:
        def f(self):
            give(n)
    return Whole
Whole = make(size)
size = 2
Whole().f()
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
    "two instances, one in a class inside": """
class A:
    n = 1
    def f(this):
        class B:
            n = 2
            def g(it):
                return it.n + this.n
        return give(B().g())
A().f()
""",
    "a name of the class that its dictionary has not": """
class A:
    def f(self):
        try:
            give(vars(self)["__class__"])
        except KeyError:
            give("none")
A().f()
""",
    "what a base has that is given no instance": """
class Part:
    def __init__(self, whole):
        give(type(whole).__name__)
class Base:
    kind = Part
    @staticmethod
    def told(whole, x):
        give(type(whole).__name__, x)
class Whole(Base):
    def f(self):
        Base.told(self, 3)
        Base.kind(self)
Whole().f()
""",
}


def told_by(tree: ast.Module) -> list[object]:
    told: list[object] = []
    try:
        exec(compile(ast.fix_missing_locations(tree), "<program>", "exec"), {"told": told, "__name__": "program"})
    except Exception as error:
        told.append(repr(error))
    return told


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_normal_form_does_the_same(name: str) -> None:
    text = GIVE + PROGRAMS[name]
    plain = normal(ast.parse(text))
    expected = told_by(ast.parse(text))
    assert expected and told_by(plain) == expected, ast.unparse(plain)
