"""The normal form of a file does what the file does, and keeps the places of what it keeps."""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import io
import logging
import warnings
import weakref
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemods.code.normal import normal
from codemods.code.source import PythonFile, Source
from tests.codemods.support import rule, run_rules

HEAD = """\
import contextlib
import functools
import logging
LIMIT = 3
def same(function):
    return function
class Base:
    pass
"""
NAMES = ("a", "b", "c", "d", "e")
VALUES = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(["1", "-2", "None", "LIMIT", "'text'", "[1]"]),
    st.builds("call({})".format, st.sampled_from(NAMES)),
    st.builds("({0} if __debug__ else {0})".format, st.sampled_from(NAMES)),
    st.builds("functools.partial(call, {})()".format, st.sampled_from(NAMES)),
    st.builds("keyword(**{{'value': {}}})".format, st.sampled_from(NAMES)),
)
SIMPLE = st.one_of(
    st.builds("{} = {}".format, st.sampled_from(NAMES), VALUES),
    st.builds("{}: object = {}".format, st.sampled_from(NAMES), VALUES),
    st.builds("({} := {})".format, st.sampled_from(NAMES), VALUES),
    st.builds("{}, {} = {}, {}".format, st.sampled_from(NAMES), st.sampled_from(NAMES), VALUES, VALUES),
    st.builds("{} += 'x' if isinstance({}, str) else 1".format, st.just("n"), st.sampled_from(NAMES)),
    st.builds("call({})".format, VALUES),
    st.builds("print({})".format, st.sampled_from(NAMES)),
    st.builds("logging.info('%s', {})".format, st.sampled_from(NAMES)),
    st.builds("assert isinstance({}, object)".format, st.sampled_from(NAMES)),
    st.builds("say = f'{{{}}}'".format, st.sampled_from(NAMES)),
    st.builds("del {}".format, st.sampled_from(NAMES)),
    st.builds("return {}".format, st.sampled_from(NAMES)),
    st.builds("result = {}\nreturn result".format, VALUES),
    st.builds("kw = {{'value': {}}}\ncall(dict(**kw))".format, st.sampled_from(NAMES)),
    st.builds("kw = dict()\nkw['value'] = {}\nkeyword(**kw)".format, st.sampled_from(NAMES)),
    st.just("gone = 0\ndel gone"),
    st.just("again = lambda: (a, b)\ncall(again())"),
    st.just("pass"),
)
HEADS = (
    "if True:",
    "if False:",
    "if a:",
    "if (b := a):",
    "with contextlib.nullcontext():",
    "for c in range(2):",
    "for _ in range(2):",
)


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for text in lines for line in text.split("\n"))


def _nested(inner: Any) -> Any:
    body = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda head, lines: f"{head}\n{_indented(lines)}", st.sampled_from(HEADS), body),
        st.builds(lambda lines: f"try:\n{_indented(lines)}\nfinally:\n    pass", body),
        st.builds(lambda one, other: f"if a:\n{_indented(one)}\nelse:\n{_indented(other)}", body, body),
    )


STATEMENTS = st.lists(st.recursive(SIMPLE, _nested, max_leaves=6), min_size=1, max_size=7)


def _program(body: list[str], helper: list[str]) -> str:
    method, part = (_indented(_indented(lines).split("\n")) for lines in (body, helper))
    return (
        f"{HEAD}\nclass Holder(Base):\n    @same\n    def run(self, a, b, n=0):\n{method}\n"
        f"        self._part(a)\n        return a\n    def _part(self, value):\n{part}\n"
    )


def _run(tree: ast.Module) -> tuple[Any, ...]:
    seen: list[Any] = []

    def call(value: Any = "nothing") -> Any:
        seen.append(value)
        return value

    space = {"call": call, "keyword": lambda value: call(value), "contextlib": contextlib, "functools": functools}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ast.fix_missing_locations(tree), "<program>", "exec"), space)
        result = [space["Holder"]().run(value, other) for value, other in ((0, 1), ("x", None))]  # type: ignore[operator]
    return result, seen


HELPERS = st.lists(
    st.sampled_from(["call(value)", "print(value)", "held = value", "call(self is None)", "call(LIMIT)"]),
    min_size=1,
    max_size=3,
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(STATEMENTS, HELPERS)
def test_it_does_the_same(body: list[str], helper: list[str]) -> None:
    logging.disable(logging.CRITICAL)
    text = _program(body, helper)
    try:
        before = _run(ast.parse(text))
    except (NameError, TypeError):
        return
    finally:
        logging.disable(logging.NOTSET)
    made = normal(ast.parse(text))
    assert _run(made) == before, ast.unparse(made)


def shown(text: str) -> str:
    return ast.unparse(normal(ast.parse(text)))


FORMS = {
    "a call that looks": ("def f(x):\n    print(x)\n    return g(x)", "def f(x):\n    return g(x)"),
    "a logger": (
        "import logging\nlog = logging.getLogger(__name__)\ndef f(x):\n    log.info('%s', x)\n    return x",
        "import logging\nlog = logging.getLogger(__name__)\n\ndef f(x):\n    return x",
    ),
    "a second name": ("def f(x):\n    y = g(x)\n    z = y\n    z.step()", "def f(x):\n    y = g(x)\n    y.step()"),
    "a constant": ("def f():\n    k = 'ddp'\n    g(a=k)", "def f():\n    g(a='ddp')"),
    "null context": (
        "import contextlib\ndef f(x):\n    with contextlib.nullcontext():\n        x.step()",
        "import contextlib\n\ndef f(x):\n    x.step()",
    ),
    "a call in what is printed": ("def f(x):\n    print(x.step())", "def f(x):\n    x.step()"),
    "a partial call": ("import functools\nfunctools.partial(T, a=1)(b=2)", "import functools\nT(a=1, b=2)"),
    "a helper": (
        "class A:\n    def f(self, x):\n        self._g(x)\n    def _g(self, y):\n        y.step()",
        "class A:\n\n    def f(self, x):\n        x.step()",
    ),
}
LEFT = {
    "a name bound again": "def f(x):\n    y = x\n    x = 2\n    return g(y, x)",
    "a name bound on one way": "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return g(y)",
    "a print of its own": "def print(x):\n    x.step()\n\ndef f(x):\n    print(x)",
    "a type that only the annotation tells": "def f(x):\n    y: Engine = g(x)\n    return h(y, y)",
    "a context of its own": "def f(x):\n    with nullcontext():\n        x.step()",
    "something to do at last": "def f(x):\n    try:\n        x.step()\n    finally:\n        x.close()",
    "names asked for as a whole": "def f(x):\n    y = x\n    return locals()",
    "a global name": "def f(x):\n    global y\n    y = 1\n    return g(y)",
    "a helper that others ask for": (
        "class A:\n\n    def f(self, x):\n        self._g(x)\n\n    def h(self, x):\n        self._g(x)\n\n"
        "    def _g(self, y):\n        y.step()"
    ),
    "a dictionary that is changed": "def f(x):\n    k = {'a': 1}\n    x.update(k)\n    return T(**k)",
    "a constant of a class, which the file sets": "class C:\n    a = 'x'\nC.a = 'y'\nT(a=C.a)",
    "a module's name, which others may import": "k = 1",
}


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    text, plain = FORMS[name]
    assert shown(text) == plain


@pytest.mark.parametrize("name", LEFT)
def test_left_as_it_is(name: str) -> None:
    tree = ast.parse(LEFT[name])
    assert normal(tree) is tree


def test_what_is_the_same_is_the_same_node_at_its_place() -> None:
    text = "def f(x):\n    print(x)\n    x.step()\n"
    file = PythonFile.parse(Source("a.py", "python", text.encode()))
    assert file.normal is not None
    (kept,) = file.normal.tree.body[0].body  # type: ignore[attr-defined]
    assert kept is file.tree.body[0].body[1] and kept.lineno == 3  # type: ignore[attr-defined]


def test_a_tree_goes_without_the_collector_which_is_off_while_files_are_read() -> None:
    gc.disable()
    try:
        for text, _ in FORMS.values():
            tree = ast.parse(text)
            trees = [weakref.ref(tree), weakref.ref(normal(tree))]
            del tree
            assert [ref() for ref in trees] == [None, None], text
    finally:
        gc.enable()


MODEL = rule("TBP105").examples[0].before
ASKED = "        optimizer = self.optimizers()\n"


@pytest.mark.parametrize("line", ["print(optimizer)", "assert isinstance(optimizer, torch.optim.Optimizer)"])
@pytest.mark.parametrize("code", ["TBP104", "TBP105"])
def test_a_look_at_the_optimizer_silences_nothing(line: str, code: str) -> None:
    before = rule(code).examples[0].before
    made = run_rules({"a.py": before.replace(ASKED, f"{ASKED}        {line}\n")}, rule(code))
    after = rule(code).examples[0].after.replace(ASKED, f"{ASKED}        {line}\n")
    assert made.bugs == ()
    assert [item.fix for item in made.findings] == ["safe"]
    assert made.final()["a.py"].decode() == after


def test_a_rewrite_takes_nothing_that_is_still_read() -> None:
    text = rule("BWD004").examples[0].before
    name = "grad_acc = p_tmp.grad_fn.next_functions[0][0]\n"
    made = run_rules({"a.py": text.replace(name, f"{name}                print(grad_acc)\n")}, rule("BWD004"))
    assert name.strip() in text and made.changes == ()
    assert [item.fix for item in made.findings] == ["manual"]
