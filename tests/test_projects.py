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


SAID = {"LIT116", "LIT225"}
"""What is left for the owner to choose: the hardware where nothing names it, and what is for old releases alone."""


@pytest.mark.parametrize(
    "name",
    [
        "demo",
        "gru_across_files",
        "nested_state",
        "epoch_outputs",
        "guarded_by_version",
        "options_of_argparse",
        "trainer_of_another_file",
        "configured_by_hand",
        "autocast_spelled_anew",
    ],
)
def test_old_and_new_train_the_same(name: str, tmp_path: Path) -> None:
    folder = project(name, tmp_path)
    result = whole_way(folder)
    assert {(each.verdict, each.rung) for each in result.evidence} == {("preserved", "same")}
    evidence = result.evidence[0]
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


@pytest.mark.parametrize(
    ("name", "path", "written", "gone"),
    [
        (
            "guarded_by_version",
            "train.py",
            ('{"auto_select_gpus": False}', "replace_sampler_ddp=False, **"),
            "multiple_",
        ),
        (
            "options_of_argparse",
            "train.py",
            ("from_arguments(Trainer, args)", "def from_arguments("),
            "from_argparse_args",
        ),
        (
            "trainer_of_another_file",
            "train.py",
            ('ckpt_path="first.ckpt"', "use_distributed_sampler=False"),
            "replace_",
        ),
        ("trainer_of_another_file", "building.py", ("use_distributed_sampler=False",), "resume_from_checkpoint"),
        ("configured_by_hand", "config.yaml", ("use_distributed_sampler: false",), "replace_sampler_ddp"),
        (
            "autocast_spelled_anew",
            "train.py",
            ('torch.amp.autocast("cuda", enabled=False):  # the loss',),
            "torch.cuda",
        ),
    ],
)
def test_what_is_written_is_whole(name: str, path: str, written: tuple[str, ...], gone: str, tmp_path: Path) -> None:
    folder = project(name, tmp_path)
    commit = open_commit(folder, "HEAD")
    made = plan(sources_of(commit), options_for(SharedOptions(path=folder), commit))
    text = made.final()[path].decode()
    assert all(each in text for each in written) and gone not in text
