"""What a text says that may bind a name of another file's module, and what only reads it."""

from __future__ import annotations

import pytest

from codemods.code.external_bindings import is_bound_elsewhere
from codemods.code.source import Source

BINDING = (
    "import pkg\npkg.train.SUMMARY = 1\n",
    "import pkg\nsetattr(pkg.train, 'SUMMARY', 1)\n",
    "import sys\nsys.modules['train'].SUMMARY = 1\n",
    "import train\ntrain.SUMMARY: str = 'full'\n",
    "import train\nx[0], train.SUMMARY = 1, 2\n",
    "import train\nfor train.SUMMARY in (1,): pass\n",
    "import train\nwith x as train.SUMMARY: pass\n",
    "import train\n@mock.patch.object(train, 'SUMMARY', 'full')\ndef f(): ...\n",
    "patch('train.SUMMARY', 1)\n",
    "patch.multiple('train', SUMMARY=3)\n",
    "import train\ntrain.__dict__['SUMMARY'] = 1\n",
    "import train\nvars(train)['SUMMARY'] = 3\n",
    "import train\nvars(train).update(SUMMARY=1)\n",
    "import train\nvars(train).update(read())\n",
    "import train\nmonkeypatch.setitem(vars(train), 'SUMMARY', 3)\n",
    "import train\nobject.__setattr__(train, 'SUMMARY', 2)\n",
    "import train\nmonkeypatch.setattr(get(), 'SUMMARY', 2)\n",
    "import train as t\nfor k, v in dict(SUMMARY='full').items():\n    setattr(t, k, v)\n",
    "import pkg.train\noverride(pkg.train, SUMMARY=3)\n",
    "from pkg import (\n    a,\n    train,\n)\nm = train\nput(m, 'SUMMARY', 3)\n",
    "import importlib\nm = importlib.import_module('pkg.train')\nfor k, v in x: setattr(m, k, v)\n",
    "import sys\nput(sys.modules['train'], SUMMARY=3)\n",
)
READING = (
    "import train\nself.SUMMARY = 3\n",
    "config.SUMMARY = 3\nmodel.train()\n",
    "setattr(config, 'SUMMARY', 3)\nmodel.train()\n",
    "import train\nrun(SUMMARY=train.SUMMARY)\n",
    "import train\nrun(SUMMARY=3)\n",
    "import train\nx['SUMMARY'] = 3\ntrain.run()\n",
    "import train\ncounts[train.SUMMARY] = 3\n",
    "import train\nprint(train.SUMMARY, file=x)\nfor x in train.SUMMARY: pass\n",
    "import train\nassert train.SUMMARY == 3\nx = {'a': train.SUMMARY}\n",
    "import train\nx = getattr(train, 'SUMMARY')\n",
    "import train\nsetattr(self, key, value)\n",
    "import a, train\nf('SUMMARY')\n",
    "from train import SUMMARY\nprint(SUMMARY, file=x)\n",
    "SUMMARY = 3\ncall(train, SUMMARY=SUMMARY)\n",
)


def _is_bound(text: str) -> bool:
    files = {"train.py": Source("train.py", "python", b"SUMMARY = None\n")}
    return is_bound_elsewhere(files | {"b.py": Source("b.py", "python", text.encode())}, "train.py", "SUMMARY")


@pytest.mark.parametrize("text", BINDING)
def test_what_binds_a_name_of_a_module(text: str) -> None:
    assert _is_bound(text)


@pytest.mark.parametrize("text", READING)
def test_what_reads_a_name_of_a_module(text: str) -> None:
    assert not _is_bound(text)


@pytest.mark.parametrize("text", BINDING)
def test_nothing_imports_a_notebook(text: str) -> None:
    files = {"train.ipynb": Source("train.ipynb", "notebook", b"{}"), "b.py": Source("b.py", "python", text.encode())}
    assert not is_bound_elsewhere(files, "train.ipynb", "SUMMARY")
