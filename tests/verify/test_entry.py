from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.verify.trees import tree
from verify.entry import Entry, entries, trains
from verify.sources import Sources

FIT = "from pytorch_lightning import Trainer\nTrainer().fit(None)\n"


@pytest.mark.parametrize(
    "text",
    [
        FIT,
        "import pytorch_lightning as pl\nif __name__ == '__main__':\n    pl.Trainer().fit(1)\n",
        "import lightning.pytorch as pl\ndef go():\n    pl.Trainer().fit(1)\ndef main():\n    go()\nmain()\n",
        "from lightning import pytorch as pl\nclass Run:\n    def go(self):\n        pl.Trainer().fit(1)\nRun().go()\n",
        "import lightning as L\ntrainer = L.Trainer()\nwith open('x'):\n    trainer.fit(1)\n",
        "import pytorch_lightning\npytorch_lightning.Trainer.from_argparse_args(1).fit(2)\n",
    ],
)
def test_scripts_that_train(text: str) -> None:
    assert trains(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "from pytorch_lightning import Trainer\ndef main():\n    Trainer().fit(1)\n",
        "from mine import Trainer\nTrainer().fit(1)\n",
        "import pytorch_lightning as pl\npl.Trainer().test(1)\n",
        "from sklearn import svm\nsvm.SVC().fit(1)\n",
        "",
    ],
)
def test_files_that_do_not(text: str) -> None:
    assert not trains(ast.parse(text))


def test_changed_files_come_first_then_those_that_load_them(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT, b="import model\n" + FIT, c=FIT, model="", broken="def (")
    found = entries(Sources(tmp_path / "p"), ["c.py", "model.py"])
    assert [entry.script for entry in found] == ["c.py", "b.py", "a.py"]


def test_configuration_names_the_script(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT, b="print()")
    (tmp_path / "p" / "pyproject.toml").write_text('[tool.fixer.verify]\nscript = "b.py"\nargs = ["--steps", 3]\n')
    assert entries(Sources(tmp_path / "p"), []) == (Entry("b.py", ("--steps", "3")),)


@pytest.mark.parametrize("script", ["../b.py", "/b.py", "missing.py"])
def test_a_configured_script_that_is_not_in_the_tree_is_said(tmp_path: Path, script: str) -> None:
    tree(tmp_path / "p", a=FIT)
    (tmp_path / "p" / "pyproject.toml").write_text(f'[tool.fixer.verify]\nscript = "{script}"\n')
    with pytest.raises(ValueError, match="which is not in the project"):
        entries(Sources(tmp_path / "p"), [])


def test_a_script_with_relative_imports_runs_as_a_module(tmp_path: Path) -> None:
    tree(tmp_path / "p" / "pkg", train="from . import model\n" + FIT, model="", __init__="")
    assert entries(Sources(tmp_path / "p"), []) == (Entry("pkg/train.py", (), "pkg.train"),)


def test_what_a_script_loads_and_needs(tmp_path: Path) -> None:
    tree(tmp_path / "p", train="import model, os\nfrom pkg.part import x\nimport numpy\n")
    (tmp_path / "p" / "model.py").write_text(
        "try:\n    import apex\nexcept ImportError:\n    apex = None\nimport yaml\n"
    )
    tree(tmp_path / "p" / "pkg", part="from .other import y\n", other="import sklearn.svm\n", __init__="", alone="")
    files, outside = Sources(tmp_path / "p").reach("train.py")
    assert sorted(files) == ["model.py", "pkg/__init__.py", "pkg/other.py", "pkg/part.py", "train.py"]
    assert outside == {"numpy", "yaml", "sklearn"}
