"""Files that a rewrite brings along, through every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.rules.trainer.helpers import module_text
from tests.fixer.command import Ask
from tests.support import commit_all, git

SCRIPT = """from argparse import ArgumentParser

from pytorch_lightning import Trainer
from pkg.models import Model

parser = Trainer.add_argparse_args(ArgumentParser())
trainer = Trainer.from_argparse_args(parser.parse_args())
"""
NEW = "trainer_arguments.py"


@pytest.fixture
def scripts(folder: Path) -> Path:
    (folder / "pkg").mkdir()
    for path, text in {"pkg/models.py": "", "a.py": SCRIPT, "b.py": SCRIPT}.items():
        (folder / path).write_text(text.replace("(ArgumentParser())", "(parser)").replace("\nparser", OWN, 1))
    commit_all(folder)
    return folder


OWN = "\nparser = ArgumentParser()\nparser"


def test_diff_shows_the_file_as_git_applies_it(ask: Ask, scripts: Path) -> None:
    said = ask("diff", scripts, "--select", "LIT130")
    assert f"diff --git a/{NEW} b/{NEW}\nnew file mode 100644\n--- /dev/null\n+++ b/{NEW}\n" in said.out
    assert not (scripts / NEW).exists()
    report = ask("diff", scripts, "--select", "LIT130", "--output-format", "json").report()
    patch = scripts / "p.diff"
    patch.write_text("".join(file["diff"] for file in report["files"]))
    git(scripts, "apply", "p.diff")
    assert (scripts / NEW).read_text() == module_text()


def test_fix_makes_the_file_and_does_nothing_again(ask: Ask, scripts: Path) -> None:
    ask("fix", scripts, "--select", "LIT130")
    assert (scripts / NEW).read_text() == module_text()
    assert "from trainer_arguments import" in (scripts / "a.py").read_text()
    assert ask("diff", scripts, "--select", "LIT130").code == 0


def test_fix_does_not_overwrite_a_file_that_git_does_not_know(ask: Ask, scripts: Path) -> None:
    (scripts / ".gitignore").write_text(f"{NEW}\n")
    (scripts / NEW).write_text("mine\n")
    said = ask("fix", scripts, "--select", "LIT130")
    assert said.complaint().startswith(f"fixer: {NEW}: in the way")
    assert (scripts / NEW).read_text() == "mine\n"
    assert "add_argparse_args" in (scripts / "a.py").read_text()


def test_run_lands_the_file_with_the_commit_that_needs_it(ask: Ask, scripts: Path) -> None:
    report = ask("run", scripts, "--no-verify", "--select", "LIT130", "--output-format", "json").report()
    [commit] = report["commits"]
    names = git(scripts, "show", "--name-status", "--format=", commit["id"]).split()
    assert names == ["M", "a.py", "M", "b.py", "A", NEW]
    assert git(scripts, "status", "--porcelain") == ""
