"""Classes that a function defines: which are the same in front of it, and that these do there what they did."""

from __future__ import annotations

import ast

import pytest

from codemods.code.imports import ModuleNames
from codemods.code.local_classes import plain_local_classes
from tests.codemods.normal_forms import each_form, must_do_the_same
from tests.codemods.support import rewritten, rule

CLASS = "class A(t.T):\n\n    def g(self, x):\n        return x.y"
HEAD = "import t\n\n"


def _inside(text: str, indent: str = "    ") -> str:
    return "\n".join(f"{indent}{line}" if line else "" for line in text.split("\n"))


USED = "    return run(A())"
FORMS = {
    "a class of a test": (
        f"{HEAD}def test_it():\n\n{_inside(CLASS)}\n{USED}",
        f"{HEAD}{CLASS}\n\ndef test_it():\n{USED}",
    ),
    "a class of a method": (
        f"{HEAD}class Tests(t.Case):\n\n    def test_it(self):\n\n{_inside(CLASS, '        ')}\n    {USED}",
        f"{HEAD}{CLASS}\n\nclass Tests(t.Case):\n\n    def test_it(self):\n    {USED}",
    ),
    "one below another": (
        f"{HEAD}def f():\n\n{_inside(CLASS)}\n\n    class B(A):\n        a = 1\n    return run(A(), B())",
        f"{HEAD}{CLASS}\n\nclass B(A):\n    a = 1\n\ndef f():\n    return run(A(), B())",
    ),
    "names that a method has itself": (
        f"{HEAD}def f(x):\n\n{_inside(CLASS)}\n    return run(A(), x)",
        f"{HEAD}{CLASS}\n\ndef f(x):\n    return run(A(), x)",
    ),
}
OTHER = "\n    return run(A(), x)"
TRAPS = {
    "a name of the function": "    class A(t.T):\n\n        def g(self):\n            return x",
    "a name of the function in a lambda": "    class A(t.T):\n\n        def g(self):\n            return lambda: x",
    "a default of the function": "    class A(t.T):\n\n        def g(self, x=x):\n            return x",
    "a base of the function": "    class A(x):\n\n        def g(self):\n            return 1",
    "a value of the function": "    class A(t.T):\n        kept = x",
    "what is made anew": "    class A(t.T):\n        kept = []",
    "what is asked when it is made": "    class A(t.T):\n        kept = t.ask()",
    "a keyword": "    class A(t.T, metaclass=t.M):\n        kept = 1",
    "what runs for those below": "    class A(t.T):\n\n        def __init_subclass__(cls):\n            t.seen(cls)",
    "a decorator": "    @t.registered\n    class A(t.T):\n        kept = 1",
    "a decorator that is made": "    @t.registered('a')\n    class A(t.T):\n        kept = 1",
    "what is set on it": "    class A(t.T):\n        kept = 1\n    A.kept = x",
    "what tells where it was made": "    class A(t.T):\n        kept = 1\n    run(A.__qualname__)",
    "one of two": "    class A(t.T):\n        kept = 1\n\n    class A(t.T):\n        kept = 2",
    "a name that is said": "    class A(t.T):\n        kept = 1\n    run('A')",
    "all that is there": "    class A(t.T):\n        kept = 1\n    run(locals())",
}
LEFT = {
    **{name: f"{HEAD}def f(x):\n\n{text}{OTHER}" for name, text in TRAPS.items()},
    "a base that comes later": "def f():\n\n    class A(B):\n        kept = 1\n    return run(A())\nB = find()",
    "a name that others read": "def f():\n\n    class A(t.T):\n        kept = 1\n    run(A)\n\ndef g():\n    return A",
}


@each_form(FORMS, LEFT)
def test_form(text: str, plain: str) -> None:
    assert moved(text) == ast.unparse(ast.parse(plain))


def moved(text: str) -> str:
    """What a text says with its local classes where they are the same."""
    tree = ast.parse(text)
    return ast.unparse(plain_local_classes(tree, ModuleNames(tree)))


PROGRAMS = {
    "each function its own": """
def f(x):
    class A:
        def g(self, x):
            give(x)
    A().g(x)
def g(x):
    class B:
        def g(self):
            give(x)
    B().g()
f(1)
g(2)
""",
    "a name that the class reads of the function around": """
def f(x):
    def inner(y):
        class A:
            def g(self):
                give(x, y)
        return A
    inner(2)().g()
f(1)
""",
    "a name that a method binds for the function": """
def f():
    count = 0
    class A:
        def g(self):
            nonlocal count
            count += 1
    A().g()
    give(count)
f()
""",
    "a base that is bound again": """
class Base:
    def g(self):
        give("first")
def f():
    class A(Base):
        pass
    A().g()
class Base:
    def g(self):
        give("second")
f()
""",
    "a name of the module that the class reads late": """
def f():
    class A:
        def g(self):
            give(LATE)
    A().g()
LATE = 1
f()
""",
    "what a comprehension calls as the function": """
def f(x):
    class A:
        def g(self):
            return [x for x in (1, 2)]
    give(A().g(), x)
f(3)
""",
    "a class inside a class of a function": """
def f():
    class A:
        def g(self):
            class B:
                def h(self):
                    give("b")
            return B()
    A().g().h()
f()
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_it_does_the_same(program: str) -> None:
    must_do_the_same(program)


def test_a_class_of_a_test_is_rewritten_where_it_stands() -> None:
    reduces = rule("BWD007")
    head, _, rest = reduces.examples[0].before.partition("\n\n\n")
    inside = f"{head}\n\n\ndef test_it():\n{_inside(rest)}".rstrip() + "\n"
    (made,) = rewritten({"train.py": inside}, reduces).values()
    wanted = ast.parse(reduces.examples[0].after.partition("\n\n\n")[2]).body
    function = ast.parse(made).body[-1]
    assert isinstance(function, ast.FunctionDef)
    assert [*map(ast.unparse, function.body)] == [*map(ast.unparse, wanted)]
