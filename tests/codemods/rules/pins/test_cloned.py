"""PIN001: requirements of a notebook that fetches the code of another repository."""

from __future__ import annotations

import pytest

from tests.codemods.support import cell, notebook, rule, run_rules

CODE = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=2)\n"
INSTALL = "!pip install -q pytorch-lightning==1.7.0 torch==1.11.0\n"
CLONE = "!git clone -q https://github.com/somebody/voices\n%cd voices\n"


def fixes(*cells: str) -> set[str]:
    """How surely the requirements of a notebook beside a script are raised."""
    files = {"train.py": CODE, "requirements.txt": "pytorch-lightning==1.7.0\n", "use.ipynb": notebook(*cells)}
    made = run_rules(files, rule("LIT101"), rule("PIN001"))
    assert b"==2.6.6" in made.final()["requirements.txt"]
    found = {item.fix for item in made.findings if item.path == "use.ipynb"}
    assert ("use.ipynb" in made.final()) is ("safe" in found)
    return found


@pytest.mark.parametrize(
    "cells",
    [
        (CLONE + INSTALL,),
        (CLONE, INSTALL),
        (INSTALL, "  ! git clone https://gitlab.com/a/b.git\n"),
        ("%git clone --depth 1 git@github.com:a/b.git\n", INSTALL),
    ],
)
def test_what_is_installed_for_cloned_code_is_for_a_person(cells: tuple[str, ...]) -> None:
    assert fixes(*cells) == {"manual"}


def test_the_reason_names_the_repository_and_what_to_write() -> None:
    files = {"train.py": CODE, "use.ipynb": notebook(CLONE + INSTALL)}
    reasons = [
        item.reason for item in run_rules(files, rule("LIT101"), rule("PIN001")).findings if item.fix == "manual"
    ]
    assert all("clones https://github.com/somebody/voices, whose code may need it" in reason for reason in reasons)
    assert any("write `pytorch-lightning==2.6.6` once" in reason for reason in reasons)


@pytest.mark.parametrize(
    "cells",
    [
        (INSTALL,),
        ("# !git clone https://github.com/a/b\n", INSTALL),
        ("print('git clone https://github.com/a/b')\n", INSTALL),
        ("!git clone ../voices\n", INSTALL),
        ("!git pull https://github.com/a/b\n", INSTALL),
    ],
)
def test_a_notebook_that_clones_nothing_goes_along(cells: tuple[str, ...]) -> None:
    assert fixes(*cells) == {"safe"}


def test_a_clone_in_the_output_of_a_cell_is_none() -> None:
    said = {"outputs": [{"output_type": "stream", "name": "stdout", "text": ["git clone https://github.com/a/b\n"]}]}
    files = {"train.py": CODE, "use.ipynb": notebook(cell(INSTALL) | said)}
    made = run_rules(files, rule("LIT101"), rule("PIN001"))
    assert {item.fix for item in made.findings if item.path == "use.ipynb"} == {"safe"}
