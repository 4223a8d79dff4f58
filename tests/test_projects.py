"""Small broken projects taken the whole way: the old code on the old Lightning against the new on the new."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codemods.engine.plan import plan
from fixer.demo import write_demo
from fixer.pipeline import RunOptions, exit_code, run
from fixer.project import open_commit
from fixer.result import Result
from fixer.settings import SharedOptions, options_for, sources_of
from tests.support import commit_all, git

PROJECTS = Path(__file__).parent / "projects"


def say_nothing(message: str) -> None:
    assert message


def whole_way(folder: Path) -> Result:
    result = run(SharedOptions(path=folder), RunOptions(), say_nothing)
    assert result.branch == "fixer/lightning-2.6.6"
    assert exit_code(result, require="same") == 0
    return result


def project(name: str, folder: Path) -> Path:
    if name == "demo":
        write_demo(folder)
    else:
        shutil.copytree(PROJECTS / name, folder, dirs_exist_ok=True)
        commit_all(folder)
    return folder


SAID = {"LIT116"}
"""What is left for the owner to choose: the hardware where nothing names it."""


@pytest.mark.parametrize("name", ["demo", "gru_across_files", "nested_state", "epoch_outputs"])
def test_old_and_new_train_the_same(name: str, tmp_path: Path) -> None:
    folder = project(name, tmp_path)
    result = whole_way(folder)
    (evidence,) = result.evidence
    assert evidence.verdict == "preserved"
    assert evidence.rung == "same"
    assert evidence.max_difference is not None and evidence.max_difference <= 1e-6
    assert evidence.before is not None and evidence.after is not None
    assert len(evidence.before.losses) == len(evidence.after.losses) > 0
    assert evidence.before.global_step == evidence.after.global_step
    assert all(finding.applied for finding in result.findings if finding.fix == "safe")
    assert {finding.code for finding in result.findings if not finding.applied} <= SAID
    _second_run_finds_nothing(folder, result)


def _second_run_finds_nothing(folder: Path, result: Result) -> None:
    again = open_commit(folder, result.branch)
    made = plan(sources_of(again), options_for(SharedOptions(path=folder), again))
    assert made.changes == ()
    assert git(folder, "status", "--porcelain") == ""
