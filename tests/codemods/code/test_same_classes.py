"""Programs whose classes a plainer form must not mix up: each is run, and so is its normal form."""

from __future__ import annotations

import pytest

from tests.codemods.normal_forms import must_do_the_same

PROGRAMS = {
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_normal_form_does_the_same(name: str) -> None:
    must_do_the_same(PROGRAMS[name])
