from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.trees import tree
from verify.environments.extras import spared
from verify.reading.entry import entries
from verify.reading.sources import Sources

PYPROJECT = """[project]
dependencies = ["numpy", "scikit-learn"]
[project.optional-dependencies]
all = ["my-lib[plots]"]
plots = ["seaborn>=0.1", "biopython", "numpy"]
"""
SETUP_CFG = """[options]
install_requires =
    numpy
    scikit-learn
[options.extras_require]
plots =
    seaborn>=0.1
    biopython
    numpy
"""
INSIDE = "if True:\n    import seaborn\ndef draw():\n    import seaborn, numpy, pandas\n    from Bio import Seq\n"


@pytest.mark.parametrize(("name", "text"), [("pyproject.toml", PYPROJECT), ("setup.cfg", SETUP_CFG)])
def test_what_functions_import_of_extras_alone_is_spared(tmp_path: Path, name: str, text: str) -> None:
    tree(tmp_path / "p", run="import lib\n", lib=INSIDE)
    assert spared(Sources(tmp_path / "p"), ["run.py"], ["run.py", "lib.py"]) == frozenset()
    (tmp_path / "p" / name).write_text(text)
    assert spared(Sources(tmp_path / "p"), ["run.py"], ["run.py", "lib.py"]) == {"seaborn", "Bio"}


@pytest.mark.parametrize(
    "lib",
    [
        "import seaborn\n",
        "class A:\n    import seaborn\n",
        "try:\n    from seaborn import x\nfinally:\n    pass\n",
        "import seaborn\ndef draw():\n    import seaborn\n",
    ],
)
def test_what_is_imported_at_once_is_not(tmp_path: Path, lib: str) -> None:
    tree(tmp_path / "p", run="import lib\n", lib=lib)
    (tmp_path / "p" / "pyproject.toml").write_text(PYPROJECT)
    assert not spared(Sources(tmp_path / "p"), ["run.py"], ["run.py", "lib.py"])


def test_what_the_script_itself_imports_is_not(tmp_path: Path) -> None:
    tree(tmp_path / "p", run=INSIDE)
    (tmp_path / "p" / "pyproject.toml").write_text(PYPROJECT)
    assert not spared(Sources(tmp_path / "p"), ["run.py"], ["run.py"])


@pytest.mark.parametrize("text", ["[project", "project = 3", "[project]\noptional-dependencies = 'no'\ndynamic = 3\n"])
def test_manifests_that_hold_something_else_spare_nothing(tmp_path: Path, text: str) -> None:
    tree(tmp_path / "p", run="", lib=INSIDE)
    (tmp_path / "p" / "pyproject.toml").write_text(text)
    assert not spared(Sources(tmp_path / "p"), ["run.py"], ["run.py", "lib.py"])


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("requirements.txt", "seaborn==0.13  # plots\n", {"Bio"}),
        ("requirements/base.txt", "Biopython>=1\n", {"seaborn"}),
        ("setup.py", "from setuptools import setup\nneeds = ['seaborn']\nsetup(install_requires=needs)\n", {"Bio"}),
        ("environment.yml", "dependencies:\n  - pip:\n    - seaborn\n", {"Bio"}),
        ("setup.cfg", "[options]\ninstall_requires =\n    seaborn\n", {"Bio"}),
        ("pyproject.toml", PYPROJECT.replace("dependencies", "dynamic = ['dependencies']\nold", 1), set()),
    ],
)
def test_what_another_file_requires_is_not(tmp_path: Path, name: str, text: str, left: set[str]) -> None:
    tree(tmp_path / "p", run="import lib\n", lib=INSIDE)
    (tmp_path / "p" / "pyproject.toml").write_text(PYPROJECT)
    assert spared(Sources(tmp_path / "p"), ["run.py"], ["run.py", "lib.py"]) == {"seaborn", "Bio"}
    (tmp_path / "p" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "p" / name).write_text(text)
    assert spared(Sources(tmp_path / "p"), ["run.py"], ["run.py", "lib.py"]) == left


def test_a_manifest_that_is_nested_too_deep_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    sources = Sources(tree(tmp_path / "p", run="import lib\n", lib=INSIDE))
    (tmp_path / "p" / "pyproject.toml").write_text(f"x = {'[' * 20000}{']' * 20000}\n")
    (tmp_path / "p" / "setup.cfg").write_text(SETUP_CFG)
    assert spared(sources, ["run.py"], ["run.py", "lib.py"]) == {"seaborn", "Bio"}
    assert entries(sources, []) == ()
