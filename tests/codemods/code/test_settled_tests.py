"""Conditions, loops, contexts and lines that say nothing which is not known where they stand."""

from __future__ import annotations

import ast

import pytest

from tests.codemods.normal_forms import each_form, must_do_the_same, shown

SYS = "import sys\n"
WARN = "import warnings\nwith warnings.catch_warnings():\n    warnings.{}\n    g()"
FORMS = {
    "a release of Python": (f"{SYS}if sys.version_info >= (3, 6):\n    g()\nelse:\n    h()", f"{SYS}g()"),
    "an older one": (f"{SYS}if sys.version_info < (3,):\n    h()", "import sys"),
    "the first number of it": (f"{SYS}if sys.version_info[0] >= 3:\n    g()", f"{SYS}g()"),
    "its name": (f"{SYS}if sys.version_info.major < 3:\n    h()\nelse:\n    g()", f"{SYS}g()"),
    "nothing in a list": ("if not []:\n    g()", "g()"),
    "nothing in a dictionary": ("if {}:\n    g()\nelse:\n    h()", "h()"),
    "or true": ("import torch\nif torch.cuda.is_available() or True:\n    g()", "import torch\ng()"),
    "and false": ("def f(x):\n    while x and False:\n        g()\n    h()", "def f(x):\n    h()"),
    "none in front": ("def f():\n    x = None\n    if x is None:\n        x = g()\n    return h(x, x)",
                      "def f():\n    x = g()\n    return h(x, x)"),
    "a constant in front": ("def f():\n    x = 1\n    if not x:\n        g()\n    return h(x, x)",
                            "def f():\n    return h(1, 1)"),
    "a flag": ("def f():\n    d = False\n    while not d:\n        g()\n        d = True", "def f():\n    g()"),
    "one key": ("for _ in {0: 1}:\n    g()", "_ = 0\ng()"),
    "one of a set": ("def f():\n    for x in {0}:\n        g(x, x)", "def f():\n    g(0, 0)"),
    "filters that only show": (WARN.format("simplefilter('ignore')"), "import warnings\ng()"),
    "numbers that only show": ("import numpy\nwith numpy.errstate(all='ignore'):\n    g()", "import numpy\ng()"),
    "a bar": ("from tqdm import tqdm\nwith tqdm(total=1):\n    g()", "from tqdm import tqdm\ng()"),
    "a handler that tells": (
        "try:\n    g()\nexcept RuntimeError as e:\n    if 'memory' in str(e):\n        print(e)\n    raise", "g()"),
    "a local logger": (
        "import logging\n\ndef f(x):\n    log = logging.getLogger(__name__)\n    log.info('%s', x)\n    return g()",
        "import logging\n\ndef f(x):\n    return g()"),
    "what tells in one process": (
        "from lightning.pytorch.utilities.rank_zero import rank_zero_info as tell\ntell(str(x))\ng()",
        "from lightning.pytorch.utilities.rank_zero import rank_zero_info as tell\ng()"),
    "a shape": ("print(getattr(x, 'shape', None))\ng()", "g()"),
    "a copy of a list": ("f([g()].copy(), [h()][:], [1] * 1)", "f([g()], [h()], [1])"),
    "a copy by copy": ("import copy\nf(copy.copy({'a': g()}))", "import copy\nf({'a': g()})"),
    "the largest of one": ("f(a=max([2]), b=min((3,)), c=round(4))", "f(a=2, b=3, c=4)"),
    "an import of all": ("def load():\n    global t\n    import a as t\n\nload()\nt.f()", "import a as t\nt.f()"),
    "a module by its name": ("import a.b, sys\nb = sys.modules['a.b']", "import a.b, sys\nimport a.b as b"),
}  # fmt: skip
LEFT = {
    "a newer Python": f"{SYS}if sys.version_info >= (3, 9):\n    g()\nelse:\n    h()",
    "a Python by more": f"{SYS}if sys.version_info[1] >= 3:\n    g()\nelse:\n    h()",
    "a list of something": "if [g()]:\n    h()",
    "a call or true": "if g() or True:\n    h()",
    "a name between": "def f():\n    x = None\n    g(x)\n    if x is None:\n        x = h(x)\n    return x",
    "a call in the test": "def f():\n    x = None\n    if g() and x:\n        x = h(x)\n    return x",
    "a flag that is worked out": "def f():\n    d = False\n    while not d:\n        d = g()\n    h(d)",
    "a loop that goes on": "def f():\n    d = False\n    while not d:\n        if g():\n            continue\n"
    "        d = True",
    "a flag and else": "def f():\n    d = False\n    while not d:\n        g()\n        d = True\n    else:\n"
    "        h()",
    "a flag that stays": "def f():\n    d = False\n    while not d:\n        g()\n        d = False",
    "several keys": "for x in {0: 1, 1: 2}:\n    g(x, x)",
    "a value that is worked out": "for x in {0: g()}:\n    h(x, x)",
    "warnings that are raised": WARN.format("simplefilter('error')"),
    "warnings that are kept": "import warnings\nwith warnings.catch_warnings(record=True) as seen:\n    g()\nh(seen)",
    "numbers that raise": "import numpy\nwith numpy.errstate(all='raise'):\n    g()",
    "a bar that is told": "from tqdm import tqdm\nwith tqdm(total=1) as bar:\n    bar.update(g())",
    "a handler that asks": "try:\n    g()\nexcept RuntimeError as e:\n    if 1 in e.args:\n        pass\n    raise",
    "an attribute that may do something": "x = getattr(y, 'z', None)\ng(x, x)",
    "half of a list": "f([1, 2][:1])",
    "a list twice": "f([g()] * 2)",
    "the largest of two": "f(a=max([x, 3]))",
    "an import that is called twice": "def load():\n    global t\n    import torch as t\nload()\nload()\nt.f()",
    "an import of its own": "def load():\n    import torch as t\nload()\nt.f()",
    "an import with more": "def load():\n    global t\n    import torch as t\n    g()\nload()\nt.f()",
}


@each_form(FORMS, LEFT)
def test_form(text: str, plain: str) -> None:
    assert shown(text) == ast.unparse(ast.parse(plain))


PROGRAMS = {
    "a flag that a call sets": """
def f():
    done = False
    def finish():
        nonlocal done
        done = True
        give("finished")
    while not done:
        give("turn")
        finish()
        done = True
    give(done)
f()
""",
    "a flag that is asked for behind the loop": """
def f(x):
    done = False
    while not done:
        if x:
            break
        give("turn")
        done = True
    give(done)
f(0)
f(1)
""",
    "a loop that is left by a value": """
def f():
    turn = 0
    while turn is not None:
        give(turn)
        turn = None
    give(turn)
f()
""",
    "a constant that a branch changes": """
def f(x):
    kept = None
    if kept is None and x:
        kept = x
    give(kept)
f(0)
f(1)
""",
    "a name that a branch alone binds": """
def f():
    x = 1
    if not x:
        y = 2
    try:
        give(y)
    except UnboundLocalError:
        give("unbound")
f()
""",
    "keys that are asked for again": """
def f():
    for key in {"a": 1}:
        give(key)
    for key in {1}:
        give(key)
    give(key)
f()
""",
    "what a handler tells of": """
def f():
    try:
        give(1 / 0)
    except ZeroDivisionError as error:
        if "zero" in str(error):
            print("zero")
        raise
try:
    f()
except ZeroDivisionError as error:
    give(repr(error))
""",
    "a copy that is changed": """
def f():
    rows = [1, 2]
    more = rows[:]
    more.append(3)
    other = [1].copy()
    other.append(4)
    give(rows, more, other)
f()
""",
    "an exception that a context lets pass": """
import contextlib
def f():
    with contextlib.suppress(ZeroDivisionError):
        [give(1 / 0)]
    give("behind")
f()
""",
    "an import of all that is read before": """
def load():
    global kept
    import math as kept
def f():
    give(kept.floor(1.5))
load()
f()
""",
    "a test of what is not there": """
def f(x):
    if x or True:
        give("always")
    if x and False:
        give("never")
f(1)
f([])
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_it_does_the_same(program: str) -> None:
    must_do_the_same(program)
