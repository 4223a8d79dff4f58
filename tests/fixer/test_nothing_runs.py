"""Without the proof none of the project's code runs: not at the start of Python, not to read a version."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixer.command import OLD, old_project, process
from tests.fixer.git_repos import Repo

MARK = "import pathlib; pathlib.Path({place!r}).joinpath('ran-' + {name!r}).touch()\n"
PLANTED = (
    "setup.py", "conftest.py", "sitecustomize.py", "usercustomize.py", "planted.pth", "noxfile.py", "train.py",
    "codemods/__init__.py", "verify/__init__.py", "verify.py", "libcst.py", "packaging.py",
    "version.py", "src/model/__init__.py", "docs/conf.py", "tests/conftest.py",
)  # fmt: skip
SETUP = "from setuptools import setup\nsetup(name='x', version=__import__('version').v, install_requires=['{pin}'])\n"


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A repository whose every file says that it ran; also as git calls what it is configured to."""
    ran = tmp_path / "ran"
    ran.mkdir()
    files = {name: MARK.format(place=str(ran), name=name.replace("/", "-")).encode() for name in PLANTED}
    files["setup.py"] += SETUP.format(pin="pytorch-lightning==1.8.0").encode()
    files["train.py"] += OLD
    files["pyproject.toml"] = b"[build-system]\nrequires = ['setuptools']\n[project]\ndynamic = ['version']\n"
    made = old_project(tmp_path / "project", files)
    command = f"touch {ran}/ran-git"
    Repo(made).git("config", "core.fsmonitor", command)
    for hook in ("post-commit", "reference-transaction", "post-checkout", "pre-commit", "post-index-change"):
        place = made / ".git/hooks" / hook
        place.write_text(f"#!/bin/sh\n{command}\n")
        place.chmod(0o755)
    return made


@pytest.mark.parametrize(
    "words",
    [("check",), ("diff",), ("run", "--no-verify"), ("run",), ("verify", "--conforms"), ("fix",)],
    ids=" ".join,
)
def test_nothing_of_the_project_runs(planted: Path, own_home: None, words: tuple[str, ...]) -> None:
    if words == ("run",):
        with (planted / "pyproject.toml").open("a") as file:
            file.write("[tool.fixer.verify]\nenabled = false\n")
        Repo(planted).git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "commit", "-qam", "off")
    said = process(planted, *words, PYTHONPATH=str(Path(__file__).parents[2]))
    assert said.code in (0, 1), said
    assert "train.py" in said.out or words[0] == "fix", said
    assert [place.name for place in (planted.parent / "ran").iterdir()] == []
    if words[0] in ("run", "diff"):
        assert "setup.py" in said.out
