"""`run`, `diff` and `fix` on a repository: what they leave, what they refuse, and that they agree."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from fixer.demo import write_demo
from fixer.errors import UsageError
from fixer.project import Project
from tests.fixer.command import NEW, OLD, Ask, environment, old_project, process
from tests.fixer.git_repos import Repo
from tests.support import commit_all, git
from verify.evidence import Evidence

BRANCH = "fixer/lightning-2.6.6"


def refs(folder: Path) -> str:
    return git(folder, "for-each-ref")


def content(folder: Path, path: str) -> bytes:
    return subprocess.run(["git", "-C", folder, "show", path], check=True, capture_output=True).stdout


# run


def test_run_touches_nothing_but_the_branch(ask: Ask, folder: Path) -> None:
    (folder / "train.py").write_bytes(b"# at work\n" + OLD)
    git(folder, "add", "train.py")
    (folder / "more.py").touch()
    before = Repo(folder).fingerprint()
    said = ask("run", folder, "--no-verify", "--output-format", "json")
    assert said.code == 0
    assert Repo(folder).fingerprint() == before
    assert content(folder, f"{BRANCH}:train.py") == NEW
    assert git(folder, "symbolic-ref", "HEAD") == "refs/heads/main"
    messages = said.report()["messages"]
    assert messages[:2] == [
        "uncommitted changes in 1 file are left out and stay as they are",
        "1 untracked file or folder is left out",
    ]


def test_a_second_run_finds_the_branch(ask: Ask, folder: Path) -> None:
    first = ask("run", folder, "--no-verify", "--output-format", "json").report()
    before = refs(folder)
    said = ask("run", folder, "--no-verify", "--output-format", "json")
    again = said.report()
    assert (said.code, again["branch"], again["commits"]) == (0, BRANCH, first["commits"])
    assert again["messages"] == [f"branch {BRANCH} already holds this result"]
    assert refs(folder) == before


def test_a_folder_that_looks_like_an_option_is_named_as_a_folder(ask: Ask, folder: Path) -> None:
    (folder / "-x").mkdir()
    (folder / "-x" / "train.py").write_bytes(OLD)
    commit_all(folder)
    assert "\nfixer run ./-x --target " in ask("run", folder / "-x", "--no-verify", "--output-format", "markdown").out


def test_a_run_on_the_branch_itself(ask: Ask, folder: Path) -> None:
    ask("run", folder, "--no-verify")
    git(folder, "switch", "--quiet", BRANCH)
    before = Repo(folder).fingerprint()
    said = ask("run", folder, "--no-verify")
    assert (said.code, Repo(folder).fingerprint()) == (0, before)
    (folder / "more.py").write_bytes(OLD)
    commit_all(folder)
    assert f"branch '{BRANCH}' is checked out in {folder}" in ask("run", folder, "--no-verify").complaint()


def test_a_branch_with_other_content_is_moved_by_force_alone(ask: Ask, folder: Path) -> None:
    git(folder, "branch", BRANCH)
    (folder / "notes.md").touch()
    commit_all(folder)
    before = refs(folder)
    said = ask("run", folder, "--no-verify")
    assert f"branch '{BRANCH}' exists and holds something else; choose another name with --branch" in said.complaint()
    assert refs(folder) == before
    assert ask("run", folder, "--no-verify", "--force").code == 0
    assert content(folder, f"{BRANCH}:train.py") == NEW


def test_a_branch_with_other_content_is_refused_before_the_proof(
    ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prove(*_: object) -> object:
        raise UsageError("the proof is begun")

    monkeypatch.setattr("fixer.proof.prove_plan", prove)
    git(folder, "switch", "--quiet", "-c", BRANCH)
    (folder / "notes.md").touch()
    commit_all(folder)
    git(folder, "switch", "--quiet", "main")
    for more in ([], ["--dry-run"]):
        assert f"branch '{BRANCH}' exists and holds something else" in ask("run", folder, *more).complaint()
    assert "the proof is begun" in ask("run", folder, "--force").complaint()


def test_a_branch_with_fewer_rules_may_be_what_the_proof_leaves(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prove(
        project: Project, sources: Sequence[Source], options: Options, made: Plan, *_: object
    ) -> tuple[Plan, tuple[Evidence, ...]]:
        rules = tuple(rule for rule in options.rules if rule.code == "LIT101")
        return plan(sources, replace(options, rules=rules)), ()

    folder = old_project(tmp_path / "project", {"train.py": OLD, "requirements.txt": b"pytorch-lightning==1.8.6\n"})
    monkeypatch.setattr("fixer.proof.prove_plan", prove)
    first = ask("run", folder, "--output-format", "json").report()
    assert [commit["code"] for commit in first["commits"]] == ["LIT101"]
    again = ask("run", folder, "--output-format", "json").report()
    assert again["messages"] == [f"branch {BRANCH} already holds this result"]


def test_a_branch_of_fixers_is_replaced_once_the_project_has_moved_on(ask: Ask, folder: Path) -> None:
    """As where the settings that a proof advised were committed."""
    ask("run", folder, "--no-verify")
    old = git(folder, "rev-parse", BRANCH)
    (folder / "more.py").write_bytes(OLD)
    commit_all(folder)
    report = ask("run", folder, "--no-verify", "--output-format", "json").report()
    assert f"`git branch NAME {old[:12]}` brings back" in report["messages"][-1]
    assert content(folder, f"{BRANCH}:more.py") == NEW
    assert git(folder, "rev-parse", f"{BRANCH}@{{1}}") == old


def test_a_dry_run_leaves_no_branch(ask: Ask, folder: Path) -> None:
    before = refs(folder)
    objects = git(folder, "count-objects")
    report = ask("run", folder, "--no-verify", "--dry-run", "--output-format", "json").report()
    assert report["branch"] is None
    assert report["files"][0]["path"] == "train.py"
    assert report["messages"] == [f"branch {BRANCH} would hold 1 commit"]
    assert (refs(folder), git(folder, "count-objects")) == (before, objects)


def test_base_and_branch_are_chosen(ask: Ask, folder: Path) -> None:
    base = git(folder, "rev-parse", "HEAD")
    (folder / "train.py").write_bytes(NEW)
    commit_all(folder)
    report = ask("run", folder, "--no-verify", "--output-format", "json").report()
    assert (report["branch"], report["findings"]) == (None, [])
    options = ["--no-verify", "--base", "HEAD~1", "--branch", "old/moved", "--output-format", "json"]
    report = ask("run", folder, *options).report()
    assert (report["base"], report["branch"]) == (base, "old/moved")
    assert git(folder, "rev-parse", "old/moved~1") == base
    assert "no commit is named 'gone'" in ask("run", folder, "--no-verify", "--base", "gone").complaint()
    assert "not a name for a branch" in ask("run", folder, "--no-verify", "--branch", "a..b").complaint()
    assert "is checked out in" in ask("run", folder, "--no-verify", "--base", base, "--branch", "main").complaint()
    assert ask("run", folder, "--no-verify", "--branch", "main").code == 0


def test_the_commands_of_a_report_name_the_branch(ask: Ask, folder: Path) -> None:
    told = ask("run", folder, "--no-verify", "--branch", "mine", "--output-format", "markdown").out
    assert "\nfixer run . --branch=mine --target 2.6.6\ngit diff " in told


def test_a_part_of_a_repository(ask: Ask, tmp_path: Path) -> None:
    folder = old_project(tmp_path / "project", {"a/train.py": OLD, "b/train.py": OLD})
    report = ask("run", folder / "a", "--no-verify", "--output-format", "json").report()
    assert [file["path"] for file in report["files"]] == ["a/train.py"]
    assert content(folder, f"{BRANCH}:b/train.py") == OLD


def test_the_same_commit_gives_the_same_branch(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    write_demo(first)
    for number in range(20):
        (first / f"small{number}.py").write_bytes(OLD)
        (first / f"large{number}.py").write_bytes(
            NEW + b"# gpus=0, padding enough to work with several processes\n" * 1000
        )
    commit_all(first)
    git(tmp_path, "clone", "--quiet", str(first), str(second))
    options = ("run", "--no-verify", "--output-format", "json", "--jobs")
    one = process(first, *options, "1", PYTHONHASHSEED="1").report()
    two = process(second, *options, "2", PYTHONHASHSEED="2").report()
    assert len(one["commits"]) == 4
    assert {**one, "duration_s": 0, "project": ""} == {**two, "duration_s": 0, "project": ""}
    assert git(first, "rev-parse", BRANCH) == git(second, "rev-parse", BRANCH)


# diff and fix

KEPT = {
    "crlf.py": OLD.replace(b"\n", b"\r\n"),
    "bom.py": b"\xef\xbb\xbf" + OLD,
    "latin.py": b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + OLD,
    "no_end.py": OLD.rstrip(b"\n"),
    "crlf_no_end.py": OLD.replace(b"\n", b"\r\n").rstrip(b"\r\n"),
    "mixed.py": OLD.replace(b"\n", b"\r\n", 1),
    "tabs.py": OLD.replace(b"trainer = ", b"if True:\n\ttrainer = ") + b"\x0c\n# \xe2\x80\xa8 end\n",
    "with space/train.py": OLD,
    "unicod\u00e9.py": OLD,
}


def renewed(data: bytes) -> bytes:
    return data.replace(b"gpus=0", b'accelerator="cpu"')


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    return old_project(tmp_path / "odd", KEPT)


def test_fix_keeps_bytes_that_it_does_not_mean(ask: Ask, odd: Path) -> None:
    assert ask("fix", odd).code == 0
    assert {name: (odd / name).read_bytes() for name in KEPT} == {name: renewed(KEPT[name]) for name in KEPT}
    again = Repo(odd).fingerprint()
    report = ask("fix", odd, "--output-format", "json").report()
    assert (report["files"], report["findings"], Repo(odd).fingerprint()) == ([], [], again)


def test_run_keeps_them_too(ask: Ask, odd: Path) -> None:
    assert ask("run", odd, "--no-verify").code == 0
    assert {name: content(odd, f"{BRANCH}:{name}") for name in KEPT} == {name: renewed(KEPT[name]) for name in KEPT}


def test_a_diff_applied_is_the_fix(odd: Path) -> None:
    command = [sys.executable, "-m", "fixer", "diff"]
    shown = subprocess.run(command, cwd=odd, env=environment({}), capture_output=True)
    assert shown.returncode == 1
    subprocess.run(["git", "apply", "-"], cwd=odd, input=shown.stdout, check=True, capture_output=True)
    assert {name: (odd / name).read_bytes() for name in KEPT} == {name: renewed(KEPT[name]) for name in KEPT}


def test_diff_and_check_change_nothing(ask: Ask, odd: Path) -> None:
    before = Repo(odd).fingerprint()
    assert ask("check", odd).code == ask("diff", odd).code == 1
    assert Repo(odd).fingerprint() == before


def test_fix_keeps_the_mode_and_writes_what_diff_shows(ask: Ask, folder: Path) -> None:
    (folder / "train.py").chmod(0o755)
    shown = ask("diff", folder, "--output-format", "json").report()
    written = ask("fix", folder, "--output-format", "json").report()
    assert written["files"] == shown["files"]
    assert (folder / "train.py").stat().st_mode & 0o777 == 0o755
    assert sorted(place.name for place in folder.iterdir()) == [".git", "train.py"]


def test_a_file_that_cannot_be_written_is_an_error(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(place: Path, data: bytes) -> None:
        place.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fixer.replacing.create_file", full)
    said = ask("fix", folder, "--output-format", "json")
    assert "train.py: not written: No space left on device" in said.complaint()
    report = said.report()
    assert (report["files"], [item["applied"] for item in report["findings"]]) == ([], [False])
    assert (folder / "train.py").read_bytes() == OLD
    assert sorted(place.name for place in folder.iterdir()) == [".git", "train.py"]


def test_one_file_and_folders_outside_git(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("one.py", "two.py", "sub/three.py"):
        (tmp_path / name).write_bytes(OLD)
    for command in ("check", "diff", "fix"):
        said = ask(command, tmp_path / "one.py", "--output-format", "json")
        assert [item["path"] for item in said.places()] == ["one.py"]
        assert said.report()["base"] is None
    assert [(tmp_path / name).read_bytes() for name in ("one.py", "two.py")] == [NEW, OLD]
    report = ask("fix", tmp_path, "--output-format", "json").report()
    assert [file["path"] for file in report["files"]] == ["sub/three.py", "two.py"]
    assert {place.read_bytes() for place in tmp_path.rglob("*.py")} == {NEW}
