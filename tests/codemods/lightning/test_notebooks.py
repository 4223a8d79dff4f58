"""What a notebook says of a project's names is heard as what a script says: in its cells' lines, not in their JSON."""

from __future__ import annotations

import json
from itertools import product

import pytest

from codemods.code.source import Source
from tests.codemods.backward_programs import PEN
from tests.codemods.support import notebook, rewritten, rule, run_rules

TRAINER = "from pytorch_lightning import Trainer\n\n\n"
RESUMED = 'Trainer(resume_from_checkpoint="a.ckpt")'
BUILD = f"{TRAINER}def build():\n    return {RESUMED}\n"
JOB = f"{TRAINER}class Job:\n    def __init__(self):\n        self.trainer = {RESUMED}\n\n" + (
    "    def run(self, model):\n        self.trainer.fit(model)\n"
)
KEPT = (
    f"{TRAINER}class A:\n    ws = True\n\n    def make(self):\n        return Trainer(prepare_data_per_node=self.ws)\n"
)
MODE = (
    "from pytorch_lightning.callbacks import ModelCheckpoint\n\n\nclass A:\n    mode = 'auto'\n\n"
    "    def make(self):\n        return ModelCheckpoint(monitor='val_acc', mode=self.mode)\n"
)
PARTIAL = (
    "from functools import partial\nfrom pytorch_lightning.callbacks import ModelCheckpoint\n\n"
    "make = partial(ModelCheckpoint, period=2)\nkept = make()\n"
)
GIVEN = f"{TRAINER}def make(ws):\n    return Trainer(prepare_data_per_node=ws)\n\n\nmake(True)\n"
HEARD = {
    "a call in the first line": ("LIT112", BUILD + "\n\nbuild().fit(1)\n", "from a import *\nbuild().fit(2)\n"),
    "a class whose lines begin with a tab": (
        "LIT112", JOB, "from a import *\nclass K(Job):\n\ttrainer = None\n"
    ),
    "a fit after a line break": (
        "LIT112", f"{TRAINER}trainer = {RESUMED}\ntrainer.fit(1)\n", "from a import *\ntrainer.fit(2)\n"
    ),
    "a name in quotes": ("LIT110", KEPT, 'from a import A\na = A()\nsetattr(a, "ws", False)\n'),
    "a class below": ("LIT110", KEPT, "from a import A\nclass B(A):\n    ws = False\n"),
    "a class that begins a cell": ("LIT230", MODE, "class B(A):\n    mode = 'min'\n"),
    "a second name at the end of a cell": ("LIT230", MODE, "from a import A\nC = A", "class B(C):\n    mode = 'min'"),
    "a call of a partial": ("LIT230", PARTIAL, "from a import *\nmake(period=4)\n"),
    "a call of a function": ("LIT110", GIVEN, "from a import *\nmake(False)\n"),
    "a method below": ("BWD002", PEN, "from a import *\nclass C(Model):\n\tdef\t_pen(self, y):\n\t\tpass\n"),
}  # fmt: skip


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("name", HEARD)
def test_a_notebook_is_heard(name: str, listed: bool) -> None:
    code, text, *cells = HEARD[name]
    alone = run_rules({"a.py": text}, rule(code), unsafe=True)
    assert alone.changes and alone.bugs == ()
    made = run_rules({"a.py": text, "n.ipynb": notebook(*cells, listed=listed)}, rule(code), unsafe=True)
    assert made.changes == () and made.bugs == ()
    assert "manual" in {item.fix for item in made.findings}


def test_a_fit_in_a_notebook_gets_the_checkpoint() -> None:
    text = notebook("import a\nt = a.build()\nt.fit(2)\n")
    after = rewritten({"a.py": BUILD, "n.ipynb": text}, rule("LIT112"))
    assert "return Trainer()\n" in after["a.py"]
    assert json.loads(after["n.ipynb"])["cells"][0]["source"][2] == 't.fit(2, ckpt_path="a.ckpt")\n'


def test_what_a_cell_says_has_its_lines() -> None:
    cell = 'class A(B):\n\tname = "a\\n"  # \u00e9\n\n\tx = [\n\t\t"b", "c"\n\t]'
    for listed, escaped in product((True, False), repeat=2):
        text = notebook(cell, "y = 1", listed=listed, escaped=escaped)
        said = Source("n.ipynb", "notebook", text.encode()).unescaped
        assert f"\n{cell}\n".encode() in said and b"\ny = 1\n" in said
    parted = json.dumps({"source": ["x = ", "3"], "metadata": {"tags": []}}).encode()
    assert b"\nx = 3\n" in Source("n.ipynb", "notebook", parted).unescaped
    assert Source("a.py", "python", b'x = "\\n"').unescaped == b'x = "\\n"'
