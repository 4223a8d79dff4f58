"""What the normal form sees through where imports, calls of methods and values are written in yet another way; and what
looks alike and is another thing."""

from __future__ import annotations

from codemods.code.source import PythonFile, Source
from tests.codemods.normal_forms import each_form, shown

GET = "def get():\n    from a import b\n    return b\n"
METHOD = "class A(B):\n\n    def f(self, x):\n        {0}"
OWN = f"{METHOD}\n\n    def g(self, x):\n        return x.h"
HANDED = f"{METHOD}\n\n    def _g(self, *args, **words):\n        return {{1}}"
MARK = "def mark(function):\n    {0}\n    return function\n\n@mark\ndef f(x):\n    return g(x)"
FORMS = {
    "an import by a function": (f"{GET}c = get()\nc.d()", f"{GET}from a import b as c\nc.d()"),
    "a method by the class": (OWN.format("return A.g(self, x)"), METHOD.format("return x.h")),
    "a method of every release by the class": (
        METHOD.format("A.manual_backward(self, x)"), METHOD.format("self.manual_backward(x)")
    ),
    "all that is handed on": (
        HANDED.format("return self._g(x, y=1)", "self.log(*args, **words)"), METHOD.format("return self.log(x, y=1)")
    ),
    "targets inside others": ("def f(x):\n    a, (b, c) = g(x), (1, 2)\n    h(a, b, c)",
                              "def f(x):\n    a = g(x)\n    h(a, 1, 2)"),
    "a name twice": ("def f(x):\n    for _, _ in [(0, 0)]:\n        g(x)", "def f(x):\n    g(x)"),
    "the dictionary of a module": ("import a\nvars(a)['b'](1)", "import a\na.b(1)"),
    "set by the class above": (METHOD.format("super().__setattr__('y', x)"), METHOD.format("self.y = x")),
    "a dictionary, or none": ("f(**({'a': 1} or {}))", "f(a=1)"),
    "or never": ("def f(x):\n    if x or False:\n        g(x)", "def f(x):\n    if x:\n        g(x)"),
    "a mark by a name": (
        MARK.format("NAMES.append(function.__name__)"),
        MARK.format("NAMES.append(function.__name__)").replace("@mark\n", ""),
    ),
    "a list anew": ("def f(x):\n    y = []\n    y = [*y, g(x)]\n    return y", "def f(x):\n    return [g(x)]"),
    "a dictionary anew": (
        "def f(x):\n    y = {'a': x}\n    y = {**y, 'b': 1}\n    return y", "def f(x):\n    return {'a': x, 'b': 1}"
    ),
    "each of a row": ("f([x for x in (a, b)])", "f([a, b])"),
    "a dictionary in order": (
        "from collections import OrderedDict\nf(OrderedDict([('a', x), ('b', 1)]))",
        "from collections import OrderedDict\nf({'a': x, 'b': 1})",
    ),
    "a lambda of the module": ("make = lambda: 16\nf(make())", "f(16)"),
    "a part by a name": (
        METHOD.format("y = self.z\n        return g(y.v(), h(x))"), METHOD.format("return g(self.z.v(), h(x))")
    ),
    "a part by two names": (
        METHOD.format("y = self.z\n        w = y\n        w.a()\n        g()\n        w.b()"),
        METHOD.format("y = self.z\n        y.a()\n        g()\n        y.b()"),
    ),
    "a part that a loop goes over": (
        METHOD.format("y = self.z\n        for w in y.v:\n            g(w)"),
        METHOD.format("for w in self.z.v:\n            g(w)"),
    ),
    "an annotation that admits anything": (
        "def f(x: 'object | None', y: object | int):\n    g(x)", "def f(x, y):\n    g(x)"
    ),
    "an annotation with notes": (
        "from typing import Annotated, Optional, Any\ndef f(x: Annotated[object, 1], y: Optional[Any]):\n    g(x)",
        "from typing import Annotated, Optional, Any\n\ndef f(x, y):\n    g(x)",
    ),
    "an import that may fail": (
        "try:\n    import contextlib\nexcept ImportError:\n    contextlib = None\n\n"
        "def f(x):\n    with contextlib.nullcontext():\n        g(x)",
        "try:\n    import contextlib\nexcept ImportError:\n    contextlib = None\n\ndef f(x):\n    g(x)",
    ),
}  # fmt: skip
LEFT = {
    "a getter with a parameter": "def get(x):\n    from a import b\n    return b\nc = get(1)",
    "a getter of something else": "def get():\n    from a import b\n    return c\nd = get()",
    "a getter that is bound anew": f"{GET}get = h\nc = get()",
    "a method of another instance": OWN.format("return A.g(x, self)"),
    "a method that a class below has too": f"{OWN.format('return A.g(self, x)')}\n\nclass C(A):\n\n"
    "    def g(self, x):\n        return 1",
    "a method of a class that is bound anew": f"{OWN.format('return A.g(self, x)')}\nA = C",
    "a method of nobody": METHOD.format("return A.g(self, x)"),
    "what is handed on besides": HANDED.format("return self._g(x)", "self.log(1, *args, **words)"),
    "what is handed on twice": HANDED.format("return self._g(x) + self._g(1)", "self.log(*args, **words)"),
    "what is handed on to what it is given": HANDED.format("return self._g(x)", "args[0](*args, **words)"),
    "targets inside others that are read": "def f(a):\n    a, (b, c) = (g(a), (a, 2))\n    h(a, b, c)",
    "the dictionary of an object": "from a import b\nvars(b)['c'](1)",
    "set by the class above another": METHOD.format(
        "super().__setattr__('y', x)\n\n    def __setattr__(self, name, value):\n        g(name)"
    ),
    "an empty dictionary, or another": "f(**{**x} or {'a': 1})",
    "a mark that keeps the function": MARK.format("TABLE[function.__name__] = function"),
    "a mark that calls the function": MARK.format("function(function.__name__)"),
    "a list of another": "def f(x):\n    y = g(x)\n    h()\n    y = [*y, x]\n    return y",
    "some of a row": "f([x for x in (a, b) if x])",
    "a dictionary of another order": "from mine import OrderedDict\nf(OrderedDict([('a', x)]))",
    "a lambda that is asked for twice": "make = lambda: 16\nf(make(), make())",
    "a part behind a call": METHOD.format("y = self.z\n        return g(h(x), y.w)"),
    "an annotation that says something": "def f(x: 'A | None', y: int | None):\n    g(x)",
    "an import that is something else": "try:\n    import contextlib\nexcept ImportError:\n    contextlib = mine\n\n"
    "def f(x):\n    with contextlib.nullcontext():\n        g(x)",
}


@each_form(FORMS, LEFT)
def test_form(text: str, plain: str) -> None:
    assert shown(text) == plain


def unlike(text: str) -> str:
    return PythonFile.parse(Source("a.py", "python", text.encode())).unlike


def test_what_is_not_in_normal_form_holds_what_its_names_are_bound_to() -> None:
    head = "import torch\nimport other\n\ntry:\n    import numpy as np\nexcept ImportError:\n    np = None\n\n"
    text = f"{head}load = torch.load\nkind = other.Kind\n\n\ndef f(path):\n    return load(path, np)\n"
    assert "torch.load" in unlike(text) and "import torch" in unlike(text) and "numpy" in unlike(text)
    assert "other" not in unlike(text)
    assert unlike("import torch\n\n\ndef f(path):\n    return torch.load(path)\n") == ""
