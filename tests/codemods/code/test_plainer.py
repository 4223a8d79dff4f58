"""More that the normal form says plainly, what it leaves as it is, and what becomes of edits there."""

from __future__ import annotations

import pytest

from codemods.code.source import PythonFile, Source
from codemods.code.tree_copies import MovedLine
from codemods.code.unbound import lost_in_scope
from tests.codemods.normal_forms import each_form, shown
from tests.codemods.support import rewritten, rule, run_rules

FORMS = {
    "a sum": ("f(a=1 + 0)", "f(a=1)"),
    "two strings": ("f(a='dd' + 'p')", "f(a='ddp')"),
    "true and": ("f(a=True and g())", "f(a=g())"),
    "its own type": ("f(a=str('ddp'))", "f(a='ddp')"),
    "a constant f-string": ("f(a=f'ddp')", "f(a='ddp')"),
    "the first of a list": ("x = [g()][0]", "x = g()"),
    "of a dictionary": ("x = {'a': g()}['a']", "x = g()"),
    "if true else": ("x = g() if True else None", "x = g()"),
    "not not": ("if not not x:\n    g()", "if x:\n    g()"),
    "bool": ("if bool(x) and True:\n    g()", "if x:\n    g()"),
    "passed on again": ("try:\n    g()\nexcept ValueError as error:\n    print(error)\n    raise", "g()"),
    "left at once": ("while True:\n    g()\n    break", "g()"),
    "an exit stack": ("import contextlib\nwith contextlib.ExitStack():\n    g()", "import contextlib\ng()"),
    "gradients on where they are": (
        "import torch\n\ndef training_step(self):\n    with torch.enable_grad():\n        return g()",
        "import torch\n\ndef training_step(self):\n    return g()",
    ),
    "a method by a name": ("def f(x):\n    step = x.step\n    step()", "def f(x):\n    x.step()"),
    "keywords by a dictionary": ("def f(x):\n    k = {'a': x}\n    return g(**k)", "def f(x):\n    return g(a=x)"),
    "a function inside": (
        "def f(x):\n\n    def whole():\n        y = g(x)\n        return y + 1\n    return whole()",
        "def f(x):\n    y = g(x)\n    return y + 1",
    ),
    "a function for a method": (
        "def part(self, y):\n    y.step()\n\nclass A:\n\n    def f(self, x):\n        part(self, x)",
        "class A:\n\n    def f(self, x):\n        x.step()",
    ),
    "letters in lower case": ("f(a='DDP'.lower())", "f(a='ddp')"),
    "a part of a string": ("f(a='ddpx'[:-1])", "f(a='ddp')"),
    "a number in a string": ("f(a=int('2'))", "f(a=2)"),
    "a number without its sign": ("f(a=abs(-2))", "f(a=2)"),
    "got from a dictionary": ("f(a={'b': g()}.get('b'))", "f(a=g())"),
    "got from one without it": ("f(a={}.get('b', 0))", "f(a=0)"),
    "the next of one": ("f(a=next(iter([g()])))", "f(a=g())"),
    "one of a comprehension": ("f(a=[it for it in (g(),)][0])", "f(a=g())"),
    "a default of a lambda": ("f(a=(lambda it=2: it)())", "f(a=2)"),
    "a function that gives a constant": ("def given():\n    return 1\nf(given())", "f(1)"),
    "a function that gives a call": (
        "import t\n\ndef given(a, b=2):\n    made = t.T(a=a, b=b)\n    return made\nf(given(1))",
        "import t\nf(t.T(a=1, b=2))",
    ),
    "a function that hands all on": (
        "import t\n\ndef given(*args, **words):\n    return t.T(*args, **words)\nf(given(g(), b=2))",
        "import t\nf(t.T(g(), b=2))",
    ),
    "a name that is bound to what its method gives": (
        "def f(x):\n    y = x.a(2)\n    y = y.b(1)\n    g(y)\n    return y",
        "def f(x):\n    y = x.a(2).b(1)\n    g(y)\n    return y",
    ),
    "two at once by a name": (
        "def f(self):\n    both = g()\n    x, self.y = both\n    return x",
        "def f(self):\n    x, self.y = g()\n    return x",
    ),
    "a base by its name": (
        "import t\n\nclass Own(getattr(t, 'T')):\n    a = 1",
        "import t\n\nclass Own(t.T):\n    a = 1",
    ),
    "an object above": (
        "class A:\n\n    def f(self):\n        above = super()\n        above.f()",
        "class A:\n\n    def f(self):\n        super().f()",
    ),
    "what a loop goes over": (
        "def f(x):\n    y = x.parts\n    for z in y:\n        g(z)",
        "def f(x):\n    for z in x.parts:\n        g(z)",
    ),
    "a method of its own class alone": (
        "class A(B):\n\n    def f(self, x):\n        return self.build(x)\n\n    def build(self, x):\n"
        "        return super().f(x)",
        "class A(B):\n\n    def f(self, x):\n        return super().f(x)",
    ),
    "a constant in front": ("if 0 == x % 2:\n    g()", "if x % 2 == 0:\n    g()"),
    "a keyword by dict": ("f(**dict(a=1))", "f(a=1)"),
    "an attribute by setattr": ("def f(x):\n    setattr(x, 'a', 1)", "def f(x):\n    x.a = 1"),
    "a list that is filled": (
        "def f(x):\n    y = []\n    y.append(x)\n    y += [1]\n    g(y)\n    return y",
        "def f(x):\n    y = [x, 1]\n    g(y)\n    return y",
    ),
    "a value that stands for another": (
        "def f(x):\n    k = {'a': x}\n    y = g(**k)\n    return y",
        "def f(x):\n    return g(a=x)",
    ),
    "a helper that binds its parameter again": (
        "class A:\n\n    def f(self, x):\n        return self._g(x=x)\n\n    def _g(self, x):\n        x = x + 1\n"
        "        return x",
        "class A:\n\n    def f(self, x):\n        x = x + 1\n        return x",
    ),
    "a parameter that is anything": ("def f(x: object):\n    return x.y", "def f(x):\n    return x.y"),
}
LEFT = {
    "a class that adds nothing and is asked for": (
        "import t\n\nclass Own(t.T):\n    pass\nf(Own(1))\nh(isinstance(g(), Own))"
    ),
    "a name that its method is given": "def f(x):\n    y = x.a(2)\n    y = y.b(y)\n    g(y)\n    return y",
    "a name that something reads later": (
        "def f(x):\n    y = x.a()\n    try:\n        y = x.c()\n        y = y.b()\n    finally:\n        g(y)"
    ),
    "a method that a framework may call": (
        "class A(B):\n\n    def f(self, x):\n        return self.on_end(x)\n\n    def on_end(self, x):\n"
        "        return x + 1"
    ),
    "a loop over one that is left": "for x in (g(),):\n    if x:\n        break\n    f(x)",
    "a string that is no number": "f(a=int('two'))",
    "a number that is none": "f(a=float('nan'))",
    "got from one that may have it": "f(a={**x}.get('b', 0))",
    "the next of two": "f(a=next(iter([1, 2])))",
    "some of a comprehension": "f(a=[it for it in (g(),) if it][0])",
    "a value that is kept": "f(a=(kept := 2))\ng(kept)",
    "an abs of its own": "def abs(x):\n    return x\nf(a=abs(-2), b=abs)",
    "a guard that raises": "def f(x):\n    if x is None:\n        raise ValueError('no x')\n    return g(x)",
    "an attribute onto itself": "def f(self):\n    self.a = 1\n    self.a = self.a",
    "a format": "def f(x):\n    return g(f'{x:.2f}')",
    "an assertion that is answered": (
        "def f(x):\n    try:\n        assert isinstance(x, int)\n    except AssertionError:\n        g(x)"
    ),
    "an assertion in what may answer it": "def f(x):\n    with g():\n        assert isinstance(x, int)\n        h(x)",
    "a function that gives a constant twice": "def given():\n    return 1\nf(given(), given())",
    "a function that gives two in another order": (
        "import t\n\ndef given(*, a, b):\n    return t.T(a=a, b=b)\nf(given(b=g(), a=h()))"
    ),
    "a function whose name is another one": (
        "import t\n\ndef given(a):\n    return t.T(a)\n\ndef h(t):\n    return given(1)"
    ),
    "a function that gives one twice": "import t\n\ndef given(a):\n    return t.T(a, a)\nf(given(g()))",
    "a function that is passed on": "import t\n\ndef given():\n    return t.T()\nf(given)",
    "a function with a mark": "@g\ndef given():\n    return 1\nf(given())",
    "a keyword that is overridden": "import functools\nfunctools.partial(f, a=1)(a=2)",
    "a keyword that a dictionary may override": "import functools\nfunctools.partial(f, a=1)(**g())",
    "a keyword that is computed before an argument": "import functools\nfunctools.partial(f, a=g())(h())",
    "gradients of a step that something else calls": (
        "import torch\n\ndef training_step(self):\n    with torch.enable_grad():\n        return g()\n\n"
        "def validation_step(self):\n    return self.training_step()"
    ),
    "another sum": "f(a=1 + x)",
    "a list with something to do": "x = [g(), h()][0]",
    "a dictionary that is passed on": "CONFIG = {'a': 1}\nf(CONFIG['a'])\ng(CONFIG)",
    "an error that is answered": "try:\n    g()\nexcept ValueError:\n    h()\n    raise",
    "a loop that goes on": "while True:\n    if g():\n        continue\n    break",
    "a stack that is used": "import contextlib\nwith contextlib.ExitStack() as stack:\n    stack.callback(g)",
    "gradients that were off": (
        "import torch\n\ndef train(self):\n    with torch.no_grad():\n"
        "        with torch.enable_grad():\n            g()"
    ),
    "gradients of another function": (
        "import torch\n\ndef validation_step(self):\n    with torch.enable_grad():\n        return g()"
    ),
    "a guard that leaves": "def f(x):\n    if x is None:\n        return\n    g(x)",
    "a method that is called later": "def f(x):\n    step = x.step\n    g()\n    step()",
    "a function that shares a name": (
        "def f(x):\n    y = 1\n\n    def whole():\n        y = g(x)\n        return y + 1\n    return whole() + y"
    ),
    "a helper that reads what its caller calls otherwise": (
        "def part(self):\n    step()\n\nclass A:\n\n    def f(self, step):\n        part(self)"
    ),
    "a marker class": "class Marked:\n    pass\n\nclass A(Marked):\n    pass\nf(isinstance(x, Marked))",
}


@each_form(FORMS, LEFT)
def test_form(text: str, plain: str) -> None:
    assert shown(text) == plain


def test_what_a_helper_does_comes_where_it_is_called() -> None:
    assert 12 < MovedLine(3, 12) < MovedLine(4, 12) < 13 and MovedLine(3, 12) == 3
    assert sorted([13, MovedLine(40, MovedLine(20, 12)), 12, MovedLine(30, 12), MovedLine(4, 12)]) == [
        12,
        4,
        40,
        30,
        13,
    ]


PAIR = rule("BWD002").examples[0].before
CALL = "self.manual_backward(fit, retain_graph=True)"


def test_no_name_is_brought_into_a_helper_that_has_another() -> None:
    text = PAIR.replace(f"        {CALL}\n", "        self._first(fit)\n")
    text += f"\n    def _first(self, fit):\n        {CALL}\n"
    made = run_rules({"a.py": text}, rule("BWD002"), unsafe=True)
    assert made.changes == () and made.bugs == ()
    assert [item.fix for item in made.findings] == ["manual"]


def test_a_function_that_another_file_calls_is_left_to_a_person() -> None:
    both = f"        {CALL}\n        self.manual_backward(0.1 * penalty)\n"
    text = PAIR.replace(both, "        both(self, fit, penalty)\n")
    helper = f"def both(self, fit, penalty):\n    {CALL}\n    self.manual_backward(0.1 * penalty)\n\n\n"
    text = text.replace("class Model", f"{helper}class Model")
    alone = run_rules({"a.py": text}, rule("BWD002"))
    assert "    self.manual_backward(fit + 0.1 * penalty)\n\n" in alone.final()["a.py"].decode()
    shared = run_rules({"a.py": text, "b.py": "from a import both\n"}, rule("BWD002"))
    assert shared.changes == () and [item.fix for item in shared.findings] == ["manual"]


@pytest.mark.parametrize(
    "call",
    [
        'getattr(self, "manual_backward")(fit, retain_graph=True)',
        "self.manual_backward(*[fit], retain_graph=True)",
        'self.manual_backward(fit, **{"retain_graph": True})',
        "self.manual_backward(fit, retain_graph=True and True)",
    ],
)
def test_what_is_edited_is_spelled_plainly(call: str) -> None:
    after = rewritten({"a.py": PAIR.replace(CALL, call)}, rule("BWD002"))["a.py"]
    assert "        self.manual_backward(fit + 0.1 * penalty)\n" in after and "penalty)\n        self." not in after


def test_a_comment_beside_what_is_spelled_otherwise_stays() -> None:
    text = 'import pytorch_lightning as pl\n\ntrainer = pl.Trainer(\n    gpus=2,  # both\n    **{"num_nodes": 3},\n)\n'
    after = rewritten({"a.py": text}, rule("LIT101"))["a.py"]
    assert "    devices=2,  # both\n" in after and "    num_nodes=3,\n" in after


def test_a_partial_call_is_replaced_with_its_brackets() -> None:
    before = rule("STP001").examples[0].before
    call = before[before.index("Trainer(max_steps") :].partition("\n")[0]
    text = "import functools\n" + before.replace(call, f"functools.partial({call.replace('(', ', ', 1)}()")
    after = rewritten({"a.py": text}, rule("STP001"))["a.py"]
    assert "    trainer = Trainer(max_epochs=epochs, accumulate_grad_batches=accumulate)\n" in after


def test_a_name_that_its_scope_does_not_have_is_told() -> None:
    text = b"def f(x):\n    y = x\n    return h(y)\n\n\ndef h(z):\n    return z\n"
    before, wrong, right = (
        PythonFile.parse(Source("a.py", "python", text.replace(b"return z", b"return " + said)))
        for said in (b"z", b"z + y", b"z + 1")
    )
    assert lost_in_scope(before, wrong) == "y"
    assert lost_in_scope(before, right) is None
