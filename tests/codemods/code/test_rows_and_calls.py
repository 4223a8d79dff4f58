"""What is gone over where it is written, and calls that stand for something plainer; and what looks alike."""

from __future__ import annotations

import pytest

from tests.codemods.normal_forms import each_form, must_do_the_same, shown

OPERATORS = "import operator\n"
FORMS = {
    "a method by its own method": ("def f(x):\n    x.log.__call__(1, a=2)", "def f(x):\n    x.log(1, a=2)"),
    "an item by its method": ("def f(x):\n    g(x.__getitem__(0))", "def f(x):\n    g(x[0])"),
    "an attribute by its method": (
        "class A(B):\n\n    def f(self):\n        g(self.__getattribute__('x'))",
        "class A(B):\n\n    def f(self):\n        g(self.x)",
    ),
    "a method of the class": (
        "class A(B):\n\n    def f(self, x):\n        type(self).log(self, x)\n        self.__class__.log(self, x)",
        "class A(B):\n\n    def f(self, x):\n        self.log(x)\n        self.log(x)",
    ),
    "an attribute that is asked for": (f"{OPERATORS}g(operator.attrgetter('a.b')(x))", f"{OPERATORS}g(x.a.b)"),
    "an item that is asked for": (f"{OPERATORS}g(operator.itemgetter('a')(x))", f"{OPERATORS}g(x['a'])"),
    "a method that is asked for": (
        f"{OPERATORS}operator.methodcaller('step', 1, a=2)(x)", f"{OPERATORS}x.step(1, a=2)"
    ),
    "a function of a module that is asked for": (
        f"{OPERATORS}import a.b\noperator.methodcaller('make', c.d, e=g())(a.b)",
        f"{OPERATORS}import a.b\na.b.make(c.d, e=g())",
    ),
    "a call by a function": (f"{OPERATORS}operator.call(x.step, 1)", f"{OPERATORS}x.step(1)"),
    "arithmetic by functions": (
        f"{OPERATORS}g(operator.add(operator.mul(x, 2), y) if operator.eq(x, 1) else operator.not_(x))",
        f"{OPERATORS}g(x * 2 + y if x == 1 else not x)",
    ),
    "one turn": ("g([h(y) for h in (x.step,)][0])", "g(x.step(y))"),
    "one turn of nothing": ("g([h(y) for _ in range(1)][0])", "g(h(y))"),
    "all values": (
        "def f(x):\n    a, b = {'a': g(x), 'b': 2}.values()\n    h(a, b)",
        "def f(x):\n    a = g(x)\n    h(a, 2)",
    ),
    "one pair": ("def f(x):\n    for _, a in zip(['k'], [g(x)]):\n        h(a)", "def f(x):\n    a = g(x)\n    h(a)"),
    "left at once": ("def f(x):\n    for a in (g(x),):\n        break\n    h(a)", "def f(x):\n    a = g(x)\n    h(a)"),
    "never run": ("for _ in ():\n    g()\nelse:\n    h()", "h()"),
    "keys by pairs": ("g(**dict(zip(['a'], [1])))", "g(a=1)"),
    "the same pairs": ("g(**{k: v for k, v in {'a': 1}.items()})", "g(a=1)"),
    "another mapping": ("import types\ng(**types.MappingProxyType({'a': 1}))", "import types\ng(a=1)"),
    "a namespace": ("import types\ng(**vars(types.SimpleNamespace(a=1)))", "import types\ng(a=1)"),
    "turn by turn": (
        "def f():\n    given = {}\n    for key, value in {'a': 1, 'b': 2}.items():\n        given[key] = value\n"
        "    g(**given)",
        "def f():\n    g(a=1, b=2)",
    ),
    "bound where it is called": (
        "def f(x):\n    (y := x.step)(1)\n    y(2)", "def f(x):\n    y = x.step\n    y(1)\n    y(2)"
    ),
    "bound for nobody": ("def f():\n    g(1, a=(b := h()))", "def f():\n    g(1, a=h())"),
    "all but looked at": (
        "def f(x):\n    print(x.a(), [x.b()], not x.c())\n    if x.d():\n        pass\n    e = x.e() is None",
        "def f(x):\n    x.a()\n    x.b()\n    x.c()\n    x.d()\n    x.e()",
    ),
    "a guard that holds": (
        "def f(x):\n    y = [g(x)]\n    if y is not None:\n        h(y, y)", "def f(x):\n    y = [g(x)]\n    h(y, y)"
    ),
    "a guard in front of what is given back": (
        "def f(x):\n    y = g(x)\n    if y is None:\n        return None\n    return y", "def f(x):\n    return g(x)"
    ),
    "none first": (
        "class A(B):\n\n    def f(self, x):\n        self.x = None\n        self.y = 1\n        self.x = g(x)",
        "class A(B):\n\n    def f(self, x):\n        self.y = 1\n        self.x = g(x)",
    ),
    "an instance that is none": (
        "class A(B):\n\n    def f(self, x):\n        if self is None:\n            return None\n        g(x)",
        "class A(B):\n\n    def f(self, x):\n        g(x)",
    ),
    "bases in a row": ("class A(*(B, C)):\n    pass", "class A(B, C):\n    pass"),
    "a module by its name": ("torch = __import__('torch')\ng(torch.a)", "import torch\ng(torch.a)"),
}  # fmt: skip
LEFT = {
    "a class by its method": "def f(x):\n    Own.__call__(x, 1)",
    "a method of the class that is set": (
        "class A(B):\n\n    def f(self, x):\n        self.log = x\n        type(self).log(self, x)"
    ),
    "a method of another's class": "class A(B):\n\n    def f(self, x):\n        type(x).log(self, x)",
    "what is asked for later": f"{OPERATORS}get = operator.attrgetter('a')\ng(get, get)",
    "a caller that is given something first": f"{OPERATORS}operator.methodcaller('step', g())(h())",
    "turns of two": "g([h(y) for h in (x.a, x.b)][0])",
    "a turn with a condition": "g([h(y) for h in (x.a,) if y])",
    "a turn that does something first": "g([h(k(), y) for y in (x.a(),)][0])",
    "keys that meet": "a, b = {'k': g(), 'k': h()}.values()",
    "a loop that says more": "for a in (1, 2):\n    g(a)",
    "a guard that does something": "def f(x):\n    y = g(x)\n    if y is not None:\n        h(y, y)",
    "a name that is none again": "def f(x):\n    y = [x]\n    y = x.get(y)\n    if y is not None:\n        h(y, y)",
    "none, and asked for": (
        "class A(B):\n\n    def f(self, x):\n        self.x = None\n        self.g()\n        self.x = x"
    ),
    "a function that is given none": "def f(self):\n    if self is None:\n        return 1\n    g(self)\n    h(self)",
    "a list whose end is used": "g(*[h(), *x])",
    "a name that others may import": "g((k := 4))",
    "a name that a function gives the module": "def f():\n    global k\n    g((k := 4))",
    "a function that is called like a class": (
        "from mine import Maybe\n\ndef f(x):\n    y = Maybe(x)\n    if y is not None:\n        h(y, y)"
    ),
}  # fmt: skip
PROGRAMS = {
    "a function of the class and one of the instance": """
class A:
    def f(self):
        give("class")
    def g(self):
        self.f = lambda: give("own")
        type(self).f(self)
        self.__class__.f(self)
A().g()
""",
    "a static method of the class": """
class A:
    @staticmethod
    def f(x, y=None):
        give(type(x).__name__, y)
    def g(self):
        type(self).f(self, 1)
A().g()
""",
    "a class that is called by its own method": """
class Kind:
    def __init__(self, x=None):
        give("made", x)
    def __call__(self, x):
        give("called", x)
class A:
    kind = Kind
    def g(self):
        self.kind.__call__(self.kind(), 1)
A().g()
""",
    "items in order": """
import operator
def make(x):
    give(x)
    return {"a": 1, 1: [1]}
give(operator.getitem(make(1), give(2)[0] - 1))
give(operator.itemgetter("a")(make(3)))
give(dict(zip([give(1)[0], give(2)[0]], [give(3), give(4)])))
give([v for v in (give(5),)][0], list({"a": give(6), "b": give(7)}.values())[1])
""",
    "a name that a turn hides": """
def f(x):
    give([x + 1 for x in (x,)][0], x)
    give([(x, y) for x, y in zip([1], [x])][0], x)
f(5)
""",
    "what a class hides from a turn": """
n = "outside"
class A:
    n = "inside"
    m = [give(n) for _ in range(1)][0]
give(A.m)
""",
    "what a loop leaves": """
def f():
    box = {}
    for k, v in {"a": 1, "b": 2}.items():
        box[k] = v
    give(box, k, v)
    for item in ():
        give("never")
    else:
        give("else")
    try:
        give(item)
    except UnboundLocalError:
        give("unbound")
f()
""",
    "a name that a loop makes local": """
x = "outside"
def f():
    for x in ():
        pass
    try:
        give(x)
    except UnboundLocalError:
        give("unbound")
f()
""",
    "values that the loop changes": """
def f(a, b):
    box = {}
    for k, v in zip(["a", "b"], [a, b]):
        box[k] = v
    a = box
    give(box["a"], box["b"])
f(1, 2)
""",
    "a loop that is left in its turns": """
def f(rows):
    for row in (rows,):
        for item in row:
            if item == 2:
                break
            give(item)
        return give("end")
    while True:
        for item in rows:
            if item:
                continue
        return 1
f([1, 2, 3])
""",
    "a property that is set twice": """
class A:
    @property
    def x(self):
        return 1
    @x.setter
    def x(self, value):
        give(value)
    def f(self):
        self.x = None
        self.x = 2
A().f()
""",
    "all that is set is told": """
class A:
    def __setattr__(self, name, value):
        give(name, value)
    def f(self):
        self.x = None
        self.x = 2
        self.__setattr__("y", 3)
A().f()
""",
    "what fails behind nothing": """
def f():
    try:
        pass
    except KeyError:
        give("caught")
    else:
        raise KeyError("else")
    finally:
        give("finally")
try:
    f()
except KeyError as error:
    give(str(error))
""",
    "a name that is bound on the way": """
def f(x):
    y = (z := give)(z is give)
    if (m := x) and m.get("a"):
        give(m)
    elif (n := give(2)):
        give(n)
    return (k := give(3)) and k
give(f({"a": 1}), f({}))
""",
    "none, then something, then none": """
def f(c):
    x = [1]
    if c:
        x = None
    if x is None:
        give("none")
    if x is not None:
        give("some")
f(True)
f(False)
""",
}


@each_form(FORMS, LEFT)
def test_form(text: str, plain: str) -> None:
    assert shown(text) == plain


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_normal_form_does_the_same(name: str) -> None:
    must_do_the_same(PROGRAMS[name])
