"""What the normal form sees through where a value, a call, a method or a class is written in another form; and what
looks alike and is another thing."""

from __future__ import annotations

from tests.codemods.normal_forms import each_form, shown

CONTEXT = "import contextlib\n\n"
CHECKING = "from typing import TYPE_CHECKING\n"
NOTED = (
    "def noted(why):\n\n    def mark(function):\n        function.why = why\n        return function\n"
    "    return mark\n\n"
)
METHOD = "class A(B):\n\n    def f(self, x):\n        {0}"
FORMS = {
    "a case that is sure": ("match True:\n    case True:\n        g()\n    case _:\n        h()", "g()"),
    "a row of cases": ("match (1, 'a'):\n    case (1, _):\n        g()", "g()"),
    "what a case binds": (
        "def f(x):\n    match h(x):\n        case y:\n            g(y, y)", "def f(x):\n    y = h(x)\n    g(y, y)"
    ),
    "cases that do nothing": (
        "def f(x):\n    match x:\n        case None:\n            print(x)\n        case _:\n            pass\n"
        "    g(x)",
        "def f(x):\n    g(x)",
    ),
    "what no type checker reads": (f"{CHECKING}if not TYPE_CHECKING:\n    g()", f"{CHECKING}g()"),
    "imported in both cases": (
        f"{CHECKING}if TYPE_CHECKING:\n    from a import b\nelse:\n    from a import b\nb()",
        f"{CHECKING}from a import b\nb()",
    ),
    "nothing is nothing": ("if None is None:\n    g()", "g()"),
    "what never runs": (
        "def f(x):\n    y = h()\n    if False:\n        y = None\n    return y", "def f(x):\n    return h()"
    ),
    "a parameter that is never bound": ("def f(x):\n    if False:\n        x = None\n    g(x)", "def f(x):\n    g(x)"),
    "either way": (
        "def f(x):\n    if True:\n        y = h()\n    else:\n        y = None\n    g(y, y)",
        "def f(x):\n    y = h()\n    g(y, y)",
    ),
    "an empty list": ("f(list())", "f([])"),
    "the one of a list": ("f([g()].pop())", "f(g())"),
    "of its dictionary": (METHOD.format("return vars(self)['a'] + self.__dict__['b']"), None),
    "a name of two underscores": ("import a\nf(getattr(a, '__version__'))", "import a\nf(a.__version__)"),
    "by a default": ("def f(x):\n\n    def made(it=x.y()):\n        return it\n    z = made()\n    g(z, z)", None),
    "a default of a lambda": ("x = (lambda a=b: f(a))()", "x = f(b)"),
    "all handed on": ("f((lambda *a, **b: g(*a, **b))(x, y=z))", "f(g(x, y=z))"),
    "the first of all": ("f((lambda *a: a[0])(g()))", "f(g())"),
    "a row for one": ("def f(x):\n    y = [g(x)]\n    z = y[0]\n    h(z, z)", "def f(x):\n    z = g(x)\n    h(z, z)"),
    "a row that is asked in a call": (
        "def f(x):\n    y = dict(a=g(x))\n    h(1, b=y['a'])", "def f(x):\n    h(1, b=g(x))"
    ),
    "deleted behind": (
        "def f(x):\n    for y in x:\n        a = g(y)\n        z = a\n        del a\n        h(z, z)",
        "def f(x):\n    for y in x:\n        a = g(y)\n        h(a, a)",
    ),
    "onto itself beside": ("def f(x):\n    x, y = x, 1\n    g(x)", "def f(x):\n    g(x)"),
    "bound to what reads it": ("def f(x):\n    x, *_ = g(x), None\n    h(x, x)", None),
    "kept on the way": ("def f(x):\n    x.y = (z := g())", "def f(x):\n    x.y = g()"),
    "given by a context": (f"{CONTEXT}def f(x):\n    with contextlib.nullcontext(g()) as y:\n        h(y, y)", None),
    "a class that nobody reads": (
        "def f(x):\n\n    class A:\n        x: int = 0\n\n        def g(self):\n            return self.x\n    g(x)",
        "def f(x):\n    g(x)",
    ),
    "inside by defaults": (
        "def f(x):\n\n    def g(x=x):\n        y = h(x)\n        return y\n    return g()", "def f(x):\n    return h(x)"
    ),
    "looked at by defaults": (
        "def f(x):\n    y = h(x)\n\n    def g(it=y):\n        print(it)\n    g()\n    k(y, y)",
        "def f(x):\n    y = h(x)\n    k(y, y)",
    ),
    "the base by its name": (METHOD.format("B.f(self, x, y=1)"), METHOD.format("super().f(x, y=1)")),
    "another name for self": (METHOD.replace("self", "this").format("this.g(x)"), METHOD.format("self.g(x)")),
    "a method that is there": (
        METHOD.format("if hasattr(x, 'step'):\n            x.step()"), METHOD.format("x.step()")
    ),
    "a method that can be called": (
        METHOD.format("if callable(getattr(self, 'f', None)):\n            self.f()"), METHOD.format("self.f()")
    ),
    "a method under a name": (
        METHOD.format("step = self.f\n        g()\n        step(x)\n        step(1)"),
        METHOD.format("g()\n        self.f(x)\n        self.f(1)"),
    ),
    "a note on a method": (
        f"{NOTED}class A(B):\n\n    @noted('slow')\n    def f(self):\n        return g(self)",
        None,
    ),
}  # fmt: skip
PLAIN = {
    "of its dictionary": METHOD.format("return self.a + self.b"),
    "by a default": "def f(x):\n    z = x.y()\n    g(z, z)",
    "bound to what reads it": "def f(x):\n    x = g(x)\n    h(x, x)",
    "given by a context": f"{CONTEXT}def f(x):\n    y = g()\n    h(y, y)",
    "a note on a method": (f"{NOTED}class A(B):\n\n    def f(self):\n        return g(self)"),
}
LEFT = {
    "a case that may not be": "match x:\n    case 1:\n        g()",
    "a case of another kind": "match 1:\n    case True:\n        g()",
    "a case with a guard": "match True:\n    case True if g():\n        h()",
    "a case that is worked out": "match g():\n    case _:\n        h()",
    "names in each other's place": "def f(x, y):\n    match (x, y):\n        case [y, x]:\n            g(x, y)",
    "another case that binds": (
        "def f(x):\n    match 1:\n        case 1:\n            g()\n        case y:\n            h(y)\n    return y"
    ),
    "a case that asks an object": "def f(x):\n    match x:\n        case 1:\n            pass\n    g(x)",
    "a local that is never bound": "y = 1\n\ndef f():\n    if False:\n        y = 2\n    g(y)",
    "an import for a type checker": f"{CHECKING}if TYPE_CHECKING:\n    import a",
    "a list of what may change": "f(list(x))",
    "two of a list": "f([g(), h()].pop())",
    "a method of its dictionary": METHOD.format("return vars(self)['f']"),
    "the dictionary of something else": "def f(x):\n    return x.__dict__['a']",
    "a vars of its own": "def vars(x):\n    return h(x, x)\n\ndef f(self):\n    return vars(self)['a'] + vars(1)['b']",
    "by a default that changes": (
        "def f(x):\n\n    def made(it=x.y):\n        return it\n    x.y = 1\n    return made()"
    ),
    "handed on to what is set": (
        "class A(B):\n\n    def f(self, x):\n        return (lambda *a: self.g(*a))(self.h(x))\n\n"
        "    def h(self, x):\n        self.g = x\n        return x"
    ),
    "some handed on": "f((lambda *a, **b: g(*a))(x, y=z))",
    "one more handed on": "f((lambda *a: g(1, *a))(x))",
    "a row that is read twice": "def f(x):\n    y = [g(x)]\n    h(y[0], y)",
    "a row behind a call": "def f(x):\n    y = [g(x)]\n    h(k(), y[0])",
    "a row of the module": "y = [g()]\nz = y[0]",
    "deleted in front": "def f(x):\n    y = g(x)\n    del y\n    return lambda: y",
    "deleted on one way": "def f(x):\n    y = g(x)\n    if x:\n        del y\n    return h(y, y)",
    "bound to what another is bound to": "def f(x, y):\n    x, y = (y, x)\n    g(x, y)",
    "onto itself twice": "def f(x, y):\n    x, x = (y, x)\n    g(x)",
    "a class that does something": "def f(x):\n\n    class A:\n        y = h(x)\n    g(x)",
    "a class with a decorator": "def f(x):\n\n    @h\n    class A:\n        y = 1\n    g(x)",
    "a class of a class": "def f(x):\n\n    class A(B):\n        y = 1\n    g(x)",
    "a default that is bound anew": (
        "def f(x):\n\n    def g(y=x):\n        h(y)\n        return y\n    x = 1\n    k(x, x)\n    return g()"
    ),
    "a base that two classes share": "class A(B):\n\n    def f(self):\n        B.f(self)\n\nclass C(A, D):\n    pass",
    "one base of two": "class A(B, C):\n\n    def f(self):\n        B.f(self)",
    "a base of another instance": "class A(B):\n\n    def f(self, x):\n        B.f(x)",
    "a base in a function inside": (
        "class A(B):\n\n    def f(self, x):\n        x(lambda: B.f(self))\n        g(lambda: B.f(self))"
    ),
    "a self beside": "class A(B):\n\n    def f(this, self):\n        this.g(self)",
    "a self of the module": "class A(B):\n\n    def f(this):\n        this.g(self)",
    "a class for the instance": "class A(B):\n\n    @classmethod\n    def f(this):\n        this.g()",
    "an instance that is bound anew": (
        "class A(B):\n\n    def f(this):\n        this = g(this)\n        this.h()\n        this.k()"
    ),
    "a method that may be missing": METHOD.format("if hasattr(x, 'save'):\n            x.save()"),
    "a method of another": METHOD.format("if hasattr(x, 'step'):\n            self.step()"),
    "a method or another": (
        METHOD.format("if hasattr(x, 'step'):\n            x.step()\n        else:\n            g(x)")
    ),
    "an attribute under a name": METHOD.format("y = self.a\n        g()\n        y(x)\n        y(1)"),
    "a method that is set": (
        "class A(B):\n\n    def f(self, x):\n        step = self.f\n        self.f = x\n"
        "        step(x)\n        step(1)"
    ),
    "a method of what is bound anew": (
        "def f(x, y):\n    step = x.step\n    x = y\n    step(x)\n    step(1)"
    ),
    "a note that is read": (
        f"{NOTED}class A(B):\n\n    @noted('slow')\n    def f(self):\n        return g(self.f.why)"
    ),
    "a note that does something": (
        f"{NOTED.replace('function.why = why', 'TABLE[why] = function')}class A(B):\n\n    @noted('slow')\n"
        "    def f(self):\n        return g(self)"
    ),
}  # fmt: skip


@each_form({name: (text, plain or PLAIN[name]) for name, (text, plain) in FORMS.items()}, LEFT)
def test_form(text: str, plain: str) -> None:
    assert shown(text) == plain
