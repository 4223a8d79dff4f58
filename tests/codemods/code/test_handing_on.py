"""What hands all that it gets on, and loops over one thing: what the normal form says of them, and hostile programs,
which are run with their normal forms."""

from __future__ import annotations

import ast

import pytest

from tests.codemods.normal_forms import must_do_the_same, shown

FORMS = {
    "one thing in a loop": ("def f(x):\n    for each in (x,):\n        each.step()", "def f(x):\n    x.step()"),
    "one pair in a loop": (
        "def f(x, y):\n    for a, b in [(x, y)]:\n        a.step(b)",
        "def f(x, y):\n    x.step(y)",
    ),
    "a constructor that hands all on": (
        "import t\n\nclass A(t.T):\n\n    def __init__(self, *args, **words):\n"
        "        super().__init__(*args, **words)\nf(A(1, b=2))",
        "import t\n\nclass A(t.T):\n    pass\nf(t.T(1, b=2))",
    ),
    "an empty class that is called": (
        "import t\n\nclass A(t.T):\n    pass\nf(A(b=2))",
        "import t\n\nclass A(t.T):\n    pass\nf(t.T(b=2))",
    ),
    "a method of a class alone": (
        "import t\n\nclass Make:\n\n    @classmethod\n    def made(cls, a):\n        return t.T(a=a)\nf(Make.made(1))",
        "import t\n\nclass Make:\n    pass\nf(t.T(a=1))",
    ),
    "an abstract method": (
        "import abc\nimport t\n\nclass Base(t.T, abc.ABC):\n\n    @abc.abstractmethod\n    def step(self):\n"
        "        ...\n\nclass Own(Base):\n\n    def step(self):\n        f(self)",
        "import abc\nimport t\n\nclass Own(t.T, abc.ABC):\n\n    def step(self):\n        f(self)",
    ),
    "words of a call behind others": (
        "def f(x):\n    a = {'k': 1}\n    g(h(x), **a)",
        "def f(x):\n    g(h(x), k=1)",
    ),
    "words of a method of what is computed": (
        "def f(x, y):\n    a = dict(k=1, n=y)\n    (x + g(x)).step(**a)",
        "def f(x, y):\n    (x + g(x)).step(k=1, n=y)",
    ),
    "words that are given later": (
        "def f(x):\n    a = {'k': 1}\n    for each in x:\n        g(each, **a)",
        "def f(x):\n    for each in x:\n        g(each, k=1)",
    ),
    "words of which one is taken out": (
        "def f(x):\n    a = {'k': x, 'n': 1}\n    a.pop('n')\n    a['m'] = 2\n    del a['m']\n    g(**a)",
        "def f(x):\n    g(k=x)",
    ),
    "a part of a part": (
        "def f(x):\n    a = x.made\n    b = a.parts[0][1]\n    g(b, b)",
        "def f(x):\n    b = x.made.parts[0][1]\n    g(b, b)",
    ),
    "a context that prints go through": (
        "import contextlib\nimport sys\n\ndef f(x):\n    with contextlib.redirect_stdout(sys.stdout):\n        g(x)",
        "import contextlib\nimport sys\n\ndef f(x):\n    g(x)",
    ),
    "what is printed at times": (
        "def f(x):\n    if len(str(x)) > 3:\n        print(x)\n    g(x)",
        "def f(x):\n    g(x)",
    ),
    "a text of an enumeration": (
        "from enum import Enum\n\nclass Kind(str, Enum):\n    ONE = 'ddp'\nf(Kind.ONE.value)",
        "from enum import Enum\n\nclass Kind(str, Enum):\n    ONE = 'ddp'\nf('ddp')",
    ),
    "a copy of a dictionary": ("def f(x):\n    a = {'k': x}\n    b = a.copy()\n    g(**b)", "def f(x):\n    g(k=x)"),
    "a dictionary put into another": (
        "def f(x):\n    a = {'k': x}\n    b = {**a, 'n': 1}\n    g(**b)",
        "def f(x):\n    g(k=x, n=1)",
    ),
    "a dictionary with a default": (
        "def f(x):\n    a = {'k': x}\n    a.setdefault('n', 1)\n    g(**a)",
        "def f(x):\n    g(k=x, n=1)",
    ),
    "a class that is given to a function": (
        "import t\n\ndef make(cls, *args, **words):\n    return cls(*args, **words)\nf(make(t.T, 1, b=2))",
        "import t\nf(t.T(1, b=2))",
    ),
}
KEPT = {
    "words of a name that the call binds": "def f(x):\n    a = {'k': x}\n    g((x := h()), **a)",
    "words of a name that is bound between": "def f(x):\n    a = {'k': x}\n    x = h()\n    g(x, **a)",
    "words that are given to two": "def f(x):\n    a = {'k': 1}\n    g(x, **a)\n    h(a)",
    "words of which one that is computed is taken out": (
        "def f(x):\n    a = {'k': h(x), 'n': 1}\n    a.pop('k')\n    g(**a)"
    ),
    "words of which one is taken that is not there": "def f(x):\n    a = {'k': 1}\n    a.pop('n')\n    g(**a)",
    "words of which one is taken and kept": "def f(x):\n    a = {'k': 1}\n    b = a.pop('k')\n    g(b, b, **a)",
    "what compares two names": "def f(x, y):\n    if x == y:\n        pass\n    g(x)",
    "what looks into something": "def f(x):\n    if 3 in x:\n        pass\n    g(x)",
    "an abstract hook": (
        "import abc\nimport t\n\nclass Base(t.T):\n\n    @abc.abstractmethod\n    def on_end(self):\n        ...\n\n"
        "class Own(Base):\n\n    def on_end(self):\n        f(self)"
    ),
    "an empty class that is asked for": "import t\n\nclass A(t.T):\n    pass\nf(A(b=2), A)",
    "an empty class whose name is read": "import t\n\nclass A(t.T):\n    pass\nf(A(b=2).__class__)",
    "an empty class of a base that is bound again": ("import t\n\nclass A(t.T):\n    pass\nt = given()\nf(A(b=2))"),
    "a constructor that passes on something else": (
        "import t\n\nclass A(t.T):\n\n    def __init__(self, *args, **words):\n"
        "        super().__init__(*args, b=1, **words)\nf(A(1))"
    ),
    "a constructor that keeps one": (
        "import t\n\nclass A(t.T):\n\n    def __init__(self, first, *args, **words):\n"
        "        super().__init__(*args, **words)\nf(A(1))"
    ),
    "a class that is given with a keyword of its own": (
        "import t\n\ndef make(cls, **words):\n    return cls(**words)\nf(make(t.T, cls=2))"
    ),
    "a class that is computed": (
        "import t\n\ndef make(cls, x, **words):\n    return cls(**words)\nf(make(g(), 1, a=h()))"
    ),
}
PROGRAMS = {
    "a method of a class that reads its class": """
class Make:
    kind = "one"
    @classmethod
    def made(cls, a):
        return give(cls.kind, a)
Make.made(1)
""",
    "words of a name that a nested function binds": """
def f(x):
    def bind():
        nonlocal x
        x = 2
        return 3
    words = {"k": x}
    give(bind(), **words)
f(1)
""",
    "words of a call in a lambda": """
def f():
    words = {"k": 1}
    later = lambda: give(**words)
    words = {"k": 2}
    later()
f()
""",
    "words that are filled in a loop": """
def f():
    words = {"k": 1}
    for each in (1, 2):
        give(each, **words)
        words["k"] = each
f()
""",
    "a part of what is changed between": """
class A:
    pass
def f(a):
    part = a.part
    a.part = [give(1)]
    other = part[0]
    give(other)
a = A()
a.part = ["first"]
f(a)
""",
    "a method of a class that is set behind": """
class Make:
    @staticmethod
    def made(a):
        return give("made", a)
Make.made = staticmethod(lambda a: give("set", a))
Make.made(1)
""",
    "a method of a class that is asked for by its name": """
class Make:
    @staticmethod
    def made(a):
        return give("made", a)
getattr(Make, "made")(1)
Make.made(2)
""",
    "a method of a class below": """
class Make:
    @classmethod
    def made(cls, a):
        return give("made", a)
class Below(Make):
    @classmethod
    def made(cls, a):
        return give("below", a)
Below.made(1)
""",
    "a method with a private name": """
__kind = "module"
_Make__kind = "class"
class Make:
    @staticmethod
    def made(a):
        return give(__kind, a)
Make.made(1)
""",
    "a method that is asked for above": """
class Base:
    def step(self):
        give("base")
class Own(Base):
    def step(self):
        super().step()
        give("own")
Own().step()
""",
    "a method that the base calls": """
class Base:
    def run(self):
        self.step()
    def step(self):
        give("base")
class Own(Base):
    def step(self):
        give("own")
Own().run()
""",
    "a property over a method": """
class Base:
    def step(self):
        return "base"
    def run(self):
        give(self.step)
class Own(Base):
    @property
    def step(self):
        return "own"
Own().run()
""",
    "a property that is set": """
class Base:
    @property
    def kind(self):
        return "base"
    @kind.setter
    def kind(self, value):
        give(value)
class Own(Base):
    def run(self):
        self.kind = 1
        give(self.kind)
Own().run()
""",
    "an enumeration with methods": """
import enum
class Kind(str, enum.Enum):
    ONE = "one"
    @property
    def value(self):
        return "other"
give(Kind.ONE.value, Kind.ONE + "x")
""",
    "an enumeration of texts": """
import enum
class Kind(str, enum.Enum):
    ONE = "one"
give(Kind.ONE.value, Kind.ONE == "one", f"{Kind.ONE!r}")
""",
    "a dictionary that is copied and changed": """
def f(x):
    a = {"k": x}
    b = a.copy()
    a["k"] = 2
    b["n"] = 3
    give(**a)
    give(**b)
f(1)
""",
    "a dictionary that is copied in another order": """
def f(x):
    a = {"k": give(1)}
    b = {**give_more(), **a}
    give(**b)
    a = {"k": give(2)}
    b = give_more() | a
    give(**b)
def give_more():
    give("more")
    return {"k": 0, "n": 1}
f(1)
""",
    "a dictionary with a default for what it has": """
def f(x):
    a = {"k": x}
    a.setdefault("k", give("default"))
    give(**a)
    b = {x: 1}
    b.setdefault("k", give("other"))
    give(**b)
    c = {"k": 1}
    c.setdefault(x, 2)
    give(**c)
f("k")
""",
    "a dictionary that is no dictionary": """
class Own(dict):
    def copy(self):
        return {"own": 1}
def f(dict):
    a = dict(k=1)
    b = a.copy()
    give(**b)
f(Own)
""",
    "a dictionary that is copied while it fails": """
def f(x):
    try:
        a = {"k": x}
        b = {**a, "n": x[5]}
    except IndexError:
        b = {}
    give(**a)
    give(**b)
f("ab")
""",
    "a loop over one that is bound again in it": """
def f(x):
    for each in (x,):
        x = 2
        give(each, x)
    give(each)
f(1)
""",
    "a loop over one that is left": """
def f(x):
    for each in [x]:
        if each:
            break
        give("whole")
    else:
        give("else")
    give(each)
f(1)
f(0)
""",
    "a loop over one that goes on": """
def f(x):
    for each in (x,):
        if each:
            continue
        give("whole")
f(1)
f(0)
""",
    "a loop over all of one": """
def f(x):
    for each in [*x]:
        give(each)
f("ab")
""",
    "a loop over one that fails": """
def f(x):
    for each in (x[0],):
        give("in")
try:
    f("")
except IndexError as error:
    give(str(error))
""",
    "a loop over one that a function keeps": """
def f(x):
    kept = []
    for each in (x,):
        kept.append(lambda: each)
    each = 3
    give(kept[0]())
f(1)
""",
    "a constructor of two bases": """
class One:
    def __init__(self, a):
        give("one", a)
        super().__init__()
class Two:
    def __init__(self):
        give("two")
class Both(One, Two):
    def __init__(self, *args, **words):
        super().__init__(*args, **words)
class Third(Both):
    def __init__(self, *args, **words):
        give("third")
        super().__init__(*args, **words)
Third(a=1)
""",
    "a constructor that is set after the class": """
class One:
    def __init__(self, a=0):
        give("one", a)
class Two(One):
    def __init__(self, *args, **words):
        super().__init__(*args, **words)
Two.__init__ = lambda self, a: give("set", a)
Two(a=1)
""",
    "a class that counts those below": """
class One:
    def __init_subclass__(cls):
        give(sorted(name for name in vars(cls) if name == "__init__"))
    def __init__(self, a=0):
        give("one", a)
class Two(One):
    pass
give(isinstance(Two(a=1), One))
""",
    "an empty class that something is put on": """
class One:
    kind = "one"
    def __init__(self, a=0):
        give(self.kind, a)
class Two(One):
    pass
Two.kind = "two"
Two(a=1)
""",
    "a class that is given to a function which is called elsewhere": """
class One:
    def __init__(self, a=0):
        give("one", a)
def make(cls, *args, **words):
    return cls(*args, **words)
def other(make):
    return make(One, 2)
other(lambda cls, a: give("other", a))
make(One, a=1)
""",
    "a class whose name a function has": """
class One:
    def __init__(self, a=0):
        give("one", a)
class Two(One):
    pass
def f(One):
    Two(a=2)
f(3)
""",
}


@pytest.mark.parametrize("name", FORMS)
def test_it_is_said_plainly(name: str) -> None:
    before, after = FORMS[name]
    assert shown(before) == ast.unparse(ast.parse(after))


@pytest.mark.parametrize("name", KEPT)
def test_it_stays(name: str) -> None:
    assert shown(KEPT[name]) == ast.unparse(ast.parse(KEPT[name]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_normal_form_does_the_same(name: str) -> None:
    must_do_the_same(PROGRAMS[name])
