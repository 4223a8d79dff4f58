"""What the normal form sees through that only hands something on: wrappers of loops, contexts that are kept, methods
under a known condition or by a lambda, results that nobody reads, exceptions that are told anew; and what it must
not."""

from __future__ import annotations

import ast

import pytest

from tests.codemods.normal_forms import each_form, shown
from tests.codemods.support import rewritten, rule

BAR = "from tqdm import tqdm\n"
TOOLS = "import itertools\n"
LOOP = "def f(x):\n    for y in {over}:\n        g(y)"
PLAIN = LOOP.format(over="x")
CLASS = "class A(B):\n\n    def f(self, x):\n        return g(x)"
LOOPS = {
    "a bar": (BAR, "tqdm(x)"),
    "a bar with words": (BAR, "tqdm(x, desc='all', total=len(x), leave=False, disable=not x.loud)"),
    "a bar by its keyword": (BAR, "tqdm(iterable=x)"),
    "a bar of its module": ("import tqdm.auto\n", "tqdm.auto.tqdm(x)"),
    "another bar": ("from rich.progress import track\n", "track(x, description='all')"),
    "a chain of one": (TOOLS, "itertools.chain(x)"),
    "a slice of all": (TOOLS, "itertools.islice(x, None)"),
    "a generator": ("", "(each for each in x)"),
    "one in another": (BAR, "iter(tqdm((each for each in x)))"),
}
LOOPS_LEFT = {
    "a bar that says something": (BAR, "tqdm(x, desc=h())"),
    "a bar of nothing": (BAR, "tqdm(total=3)"),
    "a bar of what is spread": (BAR, "tqdm(*x)"),
    "a bar with words from elsewhere": (BAR, "tqdm(x, **words)"),
    "a bar of its own": ("def tqdm(x):\n    return h(x, x)\n\n", "tqdm(tqdm(x))"),
    "a name that is bound twice": (
        "try:\n    from tqdm import tqdm\nexcept ImportError:\n    tqdm = list\n",
        "tqdm(x)",
    ),
    "a chain of two": (TOOLS, "itertools.chain(x, x)"),
    "a slice": (TOOLS, "itertools.islice(x, 3)"),
    "a slice that begins later": (TOOLS, "itertools.islice(x, n, None)"),
    "a generator of some": ("", "(each for each in x if each)"),
    "a generator of others": ("", "(h(each) for each in x)"),
    "a list of what may change": ("", "list(x)"),
}
FORMS = {
    "a number that nobody reads": ("for i, y in enumerate(x, 1):\n    g(y)", "for y in x:\n    g(y)"),
    "one beside nothing": ("for (y,) in zip(x):\n    g(y)", "for y in x:\n    g(y)"),
    "beside numbers": (
        "import itertools\nfor i, y in zip(itertools.count(), x):\n    g(y)",
        "import itertools\nfor y in x:\n    g(y)",
    ),
    "repeated once": (f"{TOOLS}for _ in itertools.repeat(None, 1):\n    g()", f"{TOOLS}g()"),
    "a bar of one turn": (f"{BAR}for _ in tqdm(range(1)):\n    g()", f"{BAR}g()"),
    "a method under a known condition": (
        CLASS.replace("    def", "    if True:\n\n        def").replace("        return", "            return"),
        CLASS,
    ),
    "a lambda for a method": ("class A(B):\n    f = lambda self, x: g(x)", CLASS),
    "a parameter by place alone": (CLASS.replace("self, x", "self, /, x"), CLASS),
    "a result that nobody reads": ("def f(x):\n    _ = x.step()", "def f(x):\n    x.step()"),
    "a result that nobody reads, twice": ("def f(x):\n    y = x.a()\n    y = x.b()", "def f(x):\n    x.a()\n    x.b()"),
    "told anew": ("try:\n    g()\nexcept E as error:\n    raise F('it failed') from error", "g()"),
    "an attribute that must be there": ("getattr(x, 'step', None)()", "x.step()"),
    "a part of what must be there": ("f(getattr(x, 'a', None).b)", "f(x.a.b)"),
    "comparisons in a row": ("if 0 < 1 < 2:\n    g()", "g()"),
    "a context by its name": (
        "def f(x):\n    scope = x.scope()\n    with scope:\n        g()",
        "def f(x):\n    with x.scope():\n        g()",
    ),
    "a lock of the module": (
        "import threading\nLOCK = threading.Lock()\nwith LOCK:\n    g()",
        "import threading\nLOCK = threading.Lock()\ng()",
    ),
    "a context of a stack": (
        "import contextlib\nwith contextlib.ExitStack() as stack:\n    y = stack.enter_context(h())\n    g(y)",
        "import contextlib\nwith h() as y:\n    g(y)",
    ),
    "two contexts of a stack": (
        "import contextlib\nwith contextlib.ExitStack() as stack:\n    stack.enter_context(h())\n"
        "    stack.enter_context(i())\n    g()",
        "import contextlib\nwith h(), i():\n    g()",
    ),
    "a property of an attribute": (
        "class A(B):\n\n    @property\n    def net(self):\n        return self._net\n\n    def f(self, x):\n"
        "        return self.net(x)",
        "class A(B):\n\n    @property\n    def net(self):\n        return self._net\n\n    def f(self, x):\n"
        "        return self._net(x)",
    ),
    "a context of an attribute": (
        "import torch\n\nclass A(B):\n\n    def __init__(self):\n        self.off = torch.no_grad()\n\n"
        "    def f(self, x):\n        with self.off:\n            g(x)",
        "import torch\n\nclass A(B):\n\n    def __init__(self):\n        self.off = torch.no_grad()\n\n"
        "    def f(self, x):\n        with torch.no_grad():\n            g(x)",
    ),
    "a context that a function enters": (
        "import contextlib\nimport torch\n\n@contextlib.contextmanager\ndef off():\n    with torch.no_grad():\n"
        "        yield\nwith off():\n    g()",
        "import contextlib\nimport torch\n\n@contextlib.contextmanager\ndef off():\n    with torch.no_grad():\n"
        "        yield\nwith torch.no_grad():\n    g()",
    ),
    "a context that is entered twice": (
        "import torch\n\ndef f(x):\n    half = torch.autocast('cuda', dtype=torch.float16)\n    with half:\n"
        "        g(x)\n    with half, x:\n        h(x)",
        "import torch\n\ndef f(x):\n"
        "    with torch.autocast('cuda', dtype=torch.float16):\n        g(x)\n"
        "    with torch.autocast('cuda', dtype=torch.float16), x:\n        h(x)",
    ),
    "a function that gives back what it is given": ("def same(x):\n    return x\nf(same(g()))", "f(g())"),
}
LEFT = {
    "a number that is read": "for i, y in enumerate(x):\n    g(i, y)",
    "two beside each other": "for y, z in zip(x, w):\n    g(y, z)",
    "a method under a condition": "class A(B):\n    if new:\n\n        def f(self, x):\n            return g(x)",
    "a parameter that may come by name too": "def f(x, /, **more):\n    return g(x, more)",
    "a result of the module": "result = g()",
    "a result that something else reads": "def f(x):\n    y = x.step()\n    return locals()",
    "a result of another scope": "def f(x):\n    global y\n    y = x.step()",
    "a result of a class": "def f(x):\n\n    class A:\n        y = x.step()\n    return A",
    "told to nobody": "try:\n    g()\nexcept E as error:\n    raise F('it failed') from h(error)",
    "told where it is answered": (
        "try:\n    try:\n        g()\n    except E as error:\n        raise F('it failed') from error\nexcept F:\n"
        "    h()"
    ),
    "answered": "try:\n    g()\nexcept E as error:\n    h()\n    raise F('it failed') from error",
    "an attribute that may be missing": "y = getattr(x, 'step', None)",
    "another default": "getattr(x, 'step', g)()",
    "a getattr of its own": "def getattr(x, y, z):\n    return h(x, x)\ngetattr(x, 'step', None)()\nf(getattr)",
    "a context that is made before": "def f(x):\n    scope = x.scope()\n    g()\n    with scope:\n        h()",
    "a context that is read again": "def f(x):\n    scope = x.scope()\n    with scope:\n        g(scope)",
    "a lock that is bound again": "import threading\nLOCK = threading.Lock()\nLOCK = h()\nwith LOCK:\n    g()",
    "a stack that is closed": (
        "import contextlib\nwith contextlib.ExitStack() as stack:\n    stack.enter_context(h())\n    stack.close()\n"
        "    g()"
    ),
    "a stack that enters later": (
        "import contextlib\nwith contextlib.ExitStack() as stack:\n    g()\n    stack.enter_context(h())"
    ),
    "a stack that may enter": (
        "import contextlib\nwith contextlib.ExitStack() as stack:\n    if y:\n        stack.enter_context(h())\n    g()"
    ),
    "a context that a function enters and leaves": (
        "import contextlib\nimport torch\n\n@contextlib.contextmanager\ndef off():\n    with torch.no_grad():\n"
        "        g()\n    yield\nwith off():\n    g()"
    ),
    "a context that is bound again": (
        "import torch\n\nclass A(B):\n\n    def __init__(self):\n        self.off = torch.no_grad()\n"
        "        self.off = h()\n\n    def f(self, x):\n        with self.off:\n            g(x)"
    ),
    "a context that does something when it is made": (
        "import torch\n\ndef f(x):\n    off = torch.set_grad_enabled(False)\n    g(x)\n    with off:\n        h(x)"
    ),
    "a context that depends on something": (
        "import torch\n\ndef f(x):\n    half = torch.autocast('cuda', enabled=x.half)\n    x.half = g(x)\n"
        "    with half:\n        h(x)"
    ),
    "a property that is set": (
        "class A(B):\n\n    @property\n    def net(self):\n        return self._net\n\n    @net.setter\n"
        "    def net(self, value):\n        self._net = h(value)\n\n    def f(self, x):\n        return self.net(x)"
    ),
    "a property of a class below": (
        "class A(B):\n\n    @property\n    def net(self):\n        return self._net\n\n    def f(self, x):\n"
        "        return self.net(x)\n\nclass C(A):\n\n    @property\n    def net(self):\n        return h(self)"
    ),
    "a property that frameworks ask for": (
        "class A(B):\n\n    @property\n    def on_gpu(self):\n        return self._net\n\n    def f(self, x):\n"
        "        return self.on_gpu(x)"
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_what_a_loop_goes_over(name: str) -> None:
    head, over = LOOPS[name]
    assert shown(head + LOOP.format(over=over)) == ast.unparse(ast.parse(head + PLAIN))


@pytest.mark.parametrize("name", LOOPS_LEFT)
def test_a_loop_is_left_as_it_is(name: str) -> None:
    head, over = LOOPS_LEFT[name]
    text = ast.unparse(ast.parse(head + LOOP.format(over=over)))
    assert shown(text) == text


@each_form(FORMS, LEFT)
def test_form(text: str, plain: str) -> None:
    assert shown(text) == plain


def test_a_method_under_a_condition_is_changed_where_it_stands() -> None:
    text = rule("GRD008").examples[0].before
    lines = text.splitlines(keepends=True)
    first = next(index for index, line in enumerate(lines) if line.startswith("    def train("))
    last = next(index for index in range(first, len(lines)) if "return self" in lines[index])
    body = "".join(f"    {line}" for line in lines[first : last + 1])
    made = "".join([*lines[:first], "    if True:\n", body, *lines[last + 1 :]])
    plain, after = (rewritten({"train.py": item}, rule("GRD008"))["train.py"] for item in (text, made))
    assert after != made and "        def on_train_start(self):" in after
    assert shown(after) == shown(plain)


def test_a_loop_that_is_written_plainly_keeps_its_depth() -> None:
    loop = rule("BWD002").examples[1].before
    call = "            self.manual_backward(loss, retain_graph=True)\n"
    text = loop.replace(call, f"            if True:\n    {call}")
    assert text != loop
    assert rewritten({"train.py": text}, rule("BWD002")) == rewritten({"train.py": loop}, rule("BWD002"))
