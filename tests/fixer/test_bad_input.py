"""What a user may point fixer at by mistake, through the command line: one clear line, and nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixer.command import NEW, OLD, Ask, Said, environment, old_project
from tests.fixer.git_repos import Repo
from tests.support import commit_all, git

BRANCH = "fixer/lightning-2.6.6"


def run(ask: Ask, folder: Path, *options: str) -> Said:
    return ask("run", folder, "--no-verify", "--output-format", "json", *options)


# Repositories


def test_not_a_repository(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(OLD)
    assert f"{tmp_path}: not in a git repository; run `git init` there and commit" in run(ask, tmp_path).complaint()
    assert ask("check", tmp_path).code == 1


def test_a_bare_repository(ask: Ask, folder: Path, tmp_path: Path) -> None:
    git(folder, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    assert "a bare repository has no files to work on; clone it" in run(ask, tmp_path / "bare.git").complaint()


def test_a_repository_without_commits(ask: Ask, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    for said in (run(ask, tmp_path), ask("verify", tmp_path)):
        assert "the repository has no commits; commit your work first" in said.complaint()
    assert ask("check", tmp_path).code == 0


def test_an_unborn_branch(ask: Ask, folder: Path) -> None:
    base = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "--quiet", "--orphan", "fresh")
    assert "the repository has no commits" in run(ask, folder).complaint()
    assert run(ask, folder, "--base", base).report()["branch"] == BRANCH


def test_a_detached_head_and_a_shallow_clone(ask: Ask, folder: Path, tmp_path: Path) -> None:
    (folder / "more.py").touch()
    commit_all(folder)
    git(folder, "checkout", "--quiet", "--detach")
    assert run(ask, folder).report()["branch"] == BRANCH
    git(tmp_path, "clone", "--quiet", "--depth", "1", folder.as_uri(), "shallow")
    assert run(ask, tmp_path / "shallow").report()["branch"] == BRANCH


@pytest.mark.parametrize("operation", ["merge", "rebase"])
def test_an_operation_under_way(ask: Ask, folder: Path, operation: str) -> None:
    git(folder, "branch", "other")
    for branch in ("main", "other"):
        git(folder, "checkout", "--quiet", branch)
        (folder / "train.py").write_bytes(OLD + branch.encode())
        commit_all(folder)
    with pytest.raises(subprocess.CalledProcessError):
        git(folder, operation, "main")
    before = Repo(folder).fingerprint()
    assert f"a `git {operation}` is under way; finish it" in run(ask, folder).complaint()
    said = ask("fix", folder, "--output-format", "json")
    assert [item["path"] for item in said.report()["skipped"]] == ["train.py"]
    assert Repo(folder).fingerprint() == before


def test_a_repository_that_is_read_only(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: "objects" not in str(place) and access(place, mode))
    assert "objects is read-only; make it writable, or use a clone of it" in run(ask, folder).complaint()
    assert run(ask, folder, "--dry-run").code == 0


def test_a_submodule_and_links_are_named(ask: Ask, folder: Path, tmp_path: Path) -> None:
    inner = old_project(tmp_path / "inner")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "vendored")
    (tmp_path / "secret.py").write_bytes(OLD)
    (folder / "link.py").symlink_to("../secret.py")
    commit_all(folder)
    report = run(ask, folder).report()
    reasons = {item["path"]: item["reason"] for item in report["skipped"]}
    assert reasons["vendored"] == "a submodule or a repository of its own"
    assert reasons["link.py"] == "a symbolic link that leaves the project"
    assert [file["path"] for file in report["files"]] == ["train.py"]
    assert ask("fix", folder).code == 0
    assert (tmp_path / "secret.py").read_bytes() == (folder / "vendored" / "train.py").read_bytes() == OLD


def test_a_file_asked_for_by_a_link(ask: Ask, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to(folder / "train.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    said = ask("check", tmp_path / "link.py", "--output-format=json")
    assert [item["path"] for item in said.places()] == ["train.py"]
    assert "give a file or folder that is there" in ask("check", tmp_path / "loop.py").complaint()


@pytest.mark.parametrize("repository", [True, False])
@pytest.mark.parametrize("given", ["link.py", "below", "below/t.py"])
def test_a_link_out_of_the_project_is_refused(ask: Ask, tmp_path: Path, given: str, repository: bool) -> None:
    for name in ("project", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.py").write_bytes(OLD)
    project = old_project(tmp_path / "project") if repository else tmp_path / "project"
    (project / "link.py").symlink_to("../outside/t.py")
    (project / "below").symlink_to("../outside")
    if repository or given == "link.py":
        said = ask("fix", project / given).complaint()
        assert f"{project / given}: a symbolic link leads out of {project}, to {tmp_path / 'outside'}" in said
        assert (tmp_path / "outside/t.py").read_bytes() == OLD
    else:  # a folder outside any repository may be a project of its own
        assert ask("fix", project / given).code == 0
        assert (tmp_path / "outside/t.py").read_bytes() == NEW


# Nothing to do


@pytest.mark.parametrize("files", [{"README.md": b"words\n"}, {"a.py": b"print()\n"}, {"empty.py": b""}])
def test_nothing_to_look_at(ask: Ask, tmp_path: Path, files: dict[str, bytes]) -> None:
    folder = old_project(tmp_path / "project", files)
    for command, options in (("run", ["--require", "same"]), ("check", []), ("diff", []), ("fix", [])):
        said = ask(command, folder, *options)
        assert said.code == 0
        assert "no file has anything that a rule checks: nothing to do" in said.out.lower()
    assert git(folder, "branch", "--format=%(refname:short)") == "main"


def test_nothing_to_repair(ask: Ask, tmp_path: Path) -> None:
    folder = old_project(tmp_path / "project", {"train.py": NEW + b"# once: gpus=0\n"})
    said = ask("run", folder)
    assert (said.code, said.out.splitlines()[-1]) == (0, "No findings.")


def test_nothing_found_in_what_could_be_read(ask: Ask, tmp_path: Path) -> None:
    big = b"# gpus=0\n" * 200_000
    folder = old_project(tmp_path / "project", {"big.py": big})
    nothing = "no file that could be read has anything that a rule checks: nothing to do"
    assert ask("check", folder, "--quiet").out.splitlines() == [nothing]
    folder = old_project(tmp_path / "other", {"big.py": big, "train.py": NEW + b"# once: gpus=0\n"})
    assert ask("check", folder, "--quiet").out.splitlines() == ["No findings; 1 file not read."]


# Files

UNREADABLE = {
    "two.py": OLD + b'print "x"\n',
    "template.py": b"{% if x %}\n" + OLD,
    "merge.py": b"<<<<<<< HEAD\n" + OLD + b"=======\n>>>>>>> other\n",
    "latin.py": OLD + b"# \xe9\n",
    "cookie.py": b"# coding: nonsense\n" + OLD,
    "nul.py": OLD + b"\0\n",
    "deep.py": OLD + b"x = " + b"(" * 5000 + b")" * 5000,
    "long.py": OLD + b"x = " + b"1+" * 50000 + b"1\n",
    "huge.py": OLD + b"#" * 10_000_000,
}


def test_files_that_cannot_be_read_are_listed_and_the_others_go_on(ask: Ask, tmp_path: Path) -> None:
    folder = old_project(tmp_path / "project", {**UNREADABLE, "train.py": OLD})
    for command in ("check", "run"):
        said = ask(command, folder, *["--no-verify"] * (command == "run"), "--output-format", "json")
        reasons = {item["path"]: item["reason"] for item in said.report()["skipped"]}
        assert sorted(reasons) == sorted(UNREADABLE)
        assert {item["path"] for item in said.places()} == {"train.py"}
        assert "line 4" in reasons["two.py"] and "line 1" in reasons["template.py"] and "line 1" in reasons["merge.py"]
        assert "utf-8" in reasons["latin.py"] and "nonsense" in reasons["cookie.py"] and "null" in reasons["nul.py"]
        assert reasons["huge.py"] == f"{len(UNREADABLE['huge.py']):,} bytes, over the limit of 1,000,000"
    assert git(folder, "diff", "--name-only", f"main..{BRANCH}") == "train.py"
    shown = ask("fix", folder, "--verbose").out
    assert all(name in shown for name in UNREADABLE)
    assert {name: (folder / name).read_bytes() for name in UNREADABLE} == UNREADABLE


def test_of_what_was_not_asked_for_nothing_is_listed(ask: Ask, tmp_path: Path) -> None:
    bad = OLD + b"("
    folder = old_project(tmp_path / "project", {"src/train.py": OLD, "old/bad.py": bad, "src/bad.py": bad})
    for name in ("src/link.py", "old/link.py"):
        (folder / name).symlink_to("/etc/passwd")
    commit_all(folder)

    def unread(*command: str | Path) -> list[str]:
        return [item["path"] for item in ask(*command, "--output-format", "json").report()["skipped"]]

    for command in (["check"], ["run", "--no-verify", "--dry-run"]):
        assert unread(*command, folder / "src") == ["src/bad.py", "src/link.py"]
        assert unread(*command, folder / "src/train.py") == []
        assert unread(*command, folder) == ["old/bad.py", "old/link.py", "src/bad.py", "src/link.py"]
    (folder / "pyproject.toml").write_text('[tool.fixer]\nexclude = ["old"]\n')
    assert unread("check", folder) == ["src/bad.py", "src/link.py"]


def test_a_manifest_that_cannot_be_read(ask: Ask, tmp_path: Path) -> None:
    files = {"train.py": OLD, "requirements.txt": b"pytorch-lightning==1.8 # \xe9\n", "pyproject.toml": b"[project\n"}
    report = run(ask, old_project(tmp_path / "project", files)).report()
    assert [file["path"] for file in report["files"]] == ["train.py"]
    assert "requirements.txt" in [item["path"] for item in report["skipped"]]


def test_a_temporary_folder_that_is_not_there(folder: Path) -> None:
    gone = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), "/nonexistent")
    command = [sys.executable, "-c", _WITHOUT_TEMP, "run", "--no-verify", "--output-format", "json"]
    done = subprocess.run(command, cwd=folder, env=environment(gone), capture_output=True, text=True)
    said = Said(done.returncode, done.stdout, done.stderr)
    assert "No usable temporary directory found" in said.complaint()
    assert said.report()["error"]
    assert git(folder, "branch", "--format=%(refname:short)") == "main"


_WITHOUT_TEMP = """
import sys, tempfile
tempfile._candidate_tempdir_list = lambda: ["/nonexistent"]
from fixer.cli import start
sys.exit(start(sys.argv[1:]))
"""


# No way to prove


def test_an_interpreter_that_is_not_there(ask: Ask, folder: Path) -> None:
    for command in ("run", "verify"):
        said = ask(command, folder, "--python", "/nonexistent").complaint()
        assert said == "fixer: --python /nonexistent: there is no such file; give the path of an interpreter"
    (folder / "pyproject.toml").write_text('[tool.fixer.verify]\ntarget-python = "/nonexistent"\n')
    commit_all(folder)
    said = ask("run", folder, "--output-format", "json")
    report = said.report()
    assert (said.code, report["branch"]) == (0, BRANCH)
    (evidence,) = report["evidence"]
    assert (evidence["verdict"], evidence["rung"]) == ("inconclusive", None)
    assert "/nonexistent" in evidence["reason"]
    assert ask("run", folder, "--require", "conforms").code == 1


def test_an_interpreter_without_lightning(ask: Ask, folder: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    said = ask("run", folder, "--python", tmp_path / "venv" / "bin" / "python", "--output-format", "json")
    report = said.report()
    assert (said.code, report["branch"]) == (0, BRANCH)
    (evidence,) = report["evidence"]
    assert evidence["verdict"] == "inconclusive"
    assert "pip install" in evidence["reason"] and "lightning" in evidence["reason"]


def test_a_program_that_is_no_interpreter(ask: Ask, folder: Path) -> None:
    for program in ("/bin/true", "/bin/cat", "/bin", "/etc/passwd"):
        said = ask("run", folder, "--python", program, "--output-format", "json", "--force")
        (evidence,) = said.report()["evidence"]
        assert (said.code, evidence["verdict"]) == (0, "inconclusive")
        assert program in evidence["reason"]


def test_nothing_differs(ask: Ask, folder: Path) -> None:
    said = ask("verify", folder).complaint()
    assert "nothing differs between HEAD and the work tree; name two revisions as OLD..NEW" in said


# What a new user gets wrong


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("check nowhere", "nowhere: No such file or directory; give a file or folder that is there"),
        ("check . --select lit101", "no rule is called 'lit101'; did you mean LIT101? (see `fixer rules`)"),
        ("check . --select LT101", "no rule is called 'LT101'; did you mean LIT101 or "),
        ("explain lit", "no rule is called 'lit'; 'LIT' is a family: `fixer rules LIT` lists its rules"),
        ("explain", "Missing argument 'CODE'; see `fixer explain --help`"),
        ("rules frobnicate", "no rule mentions frobnicate; `fixer rules` lists all"),
        ("checkk .", "No such command 'checkk'. Did you mean 'check'?; see `fixer --help`"),
        (
            "check . --selct LIT",
            "No such option: --selct (Possible options: --help, --select); see `fixer check --help`",
        ),
        ("check . train.py", "Got unexpected extra argument(s) (train.py); see `fixer check --help`"),
        ("check . --output-file report.html", "--output-file report.html: give FORMAT:PATH, such as html:report.html"),
        (
            "check . --output-file html:nowhere/x",
            "--output-file html:nowhere/x: there is no folder nowhere; make it first",
        ),
        ("check . --output-file html:.", "--output-file html:.: . is a folder; name a file in it"),
        ("check . --baseline train.py", "train.py: no baseline of this fixer"),
        ("run --base mian --no-verify", "no commit is named 'mian'; see `git log --all`, or fetch it"),
        ("run --target 1.9", "--target 1.9: fixer moves to releases from 2.0.0 to 2.6.6"),
        ("run --target latest", "--target latest: not a version; give one such as 2.6.6"),
        ("run --timeout abc", "Invalid value for '--timeout': 'abc' is not a number; see `fixer run --help`"),
        ("run --jobs 0", "Invalid value for '--jobs': 0 is not in the range from 1; see `fixer run --help`"),
        ("run --jobs two", "Invalid value for '--jobs': 'two' is not a whole number; see `fixer run --help`"),
        ("run --timeout inf", "Invalid value for '--timeout': inf is not a number of seconds; see `fixer run --help`"),
        ("verify --timeout nan", "'--timeout': nan is not a number of seconds; see `fixer verify --help`"),
        ("check --ignore QXQ999:M1", "--ignore: no rule is called 'QXQ999'; the families are "),
        ("check --ignore LIT101:nope", "--ignore: no row of LIT101 is called 'nope'; it has B02, M016, M164"),
        ("check --ignore LIT101:", "--ignore: no row of LIT101 is called ''; it has B02, "),
        ("check --ignore LIT118:nope", "--ignore: no row of LIT118 is called 'nope'; it has none of its own"),
        ("check --ignore LIT1:M164", "--ignore: no rule is called 'LIT1'; "),
        ("explain LIT101:nope", "no row of LIT101 is called 'nope'; it has B02, M016, M164 (see `fixer "),
        ("check --select LIT101:M164", "--select: 'LIT101:M164' is a row of a rule, which `ignore` alone can name"),
        ("run --require best", "'best' is not one of 'conforms', 'trains', 'same'; see `fixer run --help`"),
        ("run --push orgin --no-verify", "no remote is called 'orgin'; add one with `git remote add`"),
        ("verify nothing..HEAD", "no commit is named 'nothing'; see `git log --all`, or fetch it"),
        ("run --base HEAD~1 --no-verify", "'HEAD' has no parent here; name another with --base"),
        ("run --base HEAD^ --no-verify", "'HEAD' has no parent here; name another with --base"),
        ("verify HEAD^..HEAD", "'HEAD' has no parent here; name another with --base"),
        ("verify HEAD...HEAD", "HEAD...HEAD: give two revisions with two dots between them, as OLD..NEW"),
        ("verify HEAD --conforms", "'HEAD' has no parent here; name another with --base"),
        ("report nothing", "no run is called 'nothing' in "),
        ("report --html", "Option '--html' requires an argument; see `fixer report --help`"),
        ("report --html nowhere/x.html", "--html nowhere/x.html: there is no folder nowhere; make it first"),
        ("config nowhere", "nowhere: No such file or directory; give a file or folder that is there"),
        ("init nowhere", "nowhere: there is no such folder; give the folder of a project"),
        ("cache --prune -1", "Invalid value for '--prune': -1.0 is not in the range from 0; see `fixer cache --help`"),
    ],
)
def test_a_mistake_has_one_message_with_place_and_remedy(
    ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.chdir(folder)
    assert said in ask(*command.split()).complaint()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[tool.fixer", "pyproject.toml: not valid TOML: "),
        ('[tool.fixer]\nselct = ["LIT"]\n', "pyproject.toml: [tool.fixer] unknown key 'selct', did you mean 'select'?"),
        ('[tool.fixer]\nselect = "LIT"\n', "pyproject.toml: [tool.fixer] select must be a list of strings, not 'LIT'"),
        ('[tool.fixer]\nselect = ["LT1"]\n', "pyproject.toml: [tool.fixer] select: no rule is called 'LT1'"),
        ('[tool.fixer]\nignore = ["LT1:M164"]\n', "pyproject.toml: [tool.fixer] ignore: no rule is called 'LT1'"),
        ('[tool.fixer]\nignore = ["LIT101:x"]\n', "pyproject.toml: [tool.fixer] ignore: no row of LIT101 is "),
        (
            '[tool.fixer.per-file-ignores]\n"a" = ["LIT101:x"]\n',
            "pyproject.toml: [tool.fixer] per-file-ignores: no row of LIT101 is called 'x'",
        ),
        ('[tool.fixer.per-file-ignores]\n"a" = ["LT1"]\n', "pyproject.toml: [tool.fixer] per-file-ignores: no rule"),
        ('[tool.fixer]\ntarget = "1.9"\n', "pyproject.toml: [tool.fixer] target 1.9: fixer moves to releases from"),
        ('[tool.fixer]\nnamespace = "light"\n', "pyproject.toml: [tool.fixer] namespace light: Lightning has "),
        (
            '[tool.fixer.verify]\nscript = "nowhere.py"\n',
            "pyproject.toml: [tool.fixer.verify] script: there is no 'nowhere.py' in the project; name one that is",
        ),
    ],
)
def test_a_mistake_in_the_settings_is_told_before_the_proof(ask: Ask, folder: Path, settings: str, said: str) -> None:
    (folder / "pyproject.toml").write_text(settings)
    commit_all(folder)
    assert said in ask("run", folder).complaint()
