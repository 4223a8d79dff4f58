"""PIN002: a project without any requirement on Lightning is told its era from its code."""

from __future__ import annotations

import pytest

from codemods.lightning.pins.reach import is_manifest
from tests.codemods.rules.pins.support import CODE, moved, told
from tests.codemods.support import notebook

NEW = "from pytorch_lightning import Trainer\nTrainer(accelerator='cpu')\n"
OPEN = "from pytorch_lightning import Trainer\nTrainer(gpus=n)\n"


def said(files: dict[str, str], code: str) -> list[tuple[str, int, str, str]]:
    return [item for item in told(files, code) if "No file requires" in item[3]]


@pytest.mark.parametrize("files", [{}, {"requirements.txt": "numpy\n"}, {"requirements.txt": "torch\n"}])
def test_told_with_the_evidence(files: dict[str, str]) -> None:
    ((path, line, fix, text),) = said(files, CODE + OPEN)
    assert (path, line, fix) == ("train.py", 4, "manual")
    assert "what 2.0.0 removed" in text and "2 (train.py:2, train.py:4)" in text


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": "pytorch-lightning\n"},
        {"requirements.txt": "pytorch-lightning @ git+https://x.org/pytorch-lightning\n"},
        {"Dockerfile": "RUN pip install lightning\n"},
        {"environment.yml": "dependencies:\n- pytorch-lightning\n"},
        {"poetry.lock": 'name = "pytorch-lightning"\n'},
    ],
)
def test_silent_where_something_names_it(files: dict[str, str]) -> None:
    assert said(files, OPEN) == []


def test_silent_on_a_notebook_that_installs_one() -> None:
    files = {"a.ipynb": notebook("!pip install pytorch-lightning==1.5.2\n", OPEN)}
    assert said(files, "") == []
    assert [path for path, *_ in said(files, OPEN)] == ["train.py"]
    assert [path for path, *_ in said({"a.ipynb": notebook("!pip install torch\n", OPEN)}, "")] == ["a.ipynb"]


def test_silent_where_nothing_old_is_left() -> None:
    assert said({}, NEW) == []
    assert said({}, CODE) == []
    assert moved({"b.py": NEW}, NEW) == {"b.py": NEW}


def test_once_for_a_project() -> None:
    assert [item[:2] for item in said({"a.py": OPEN, "z.py": OPEN}, OPEN)] == [("a.py", 2)]


def test_a_file_of_requirements_may_be_written_in_capitals() -> None:
    assert is_manifest("Requirements.txt") and is_manifest("a/REQUIREMENTS-dev.txt")
    assert not is_manifest("a/Required.txt")
