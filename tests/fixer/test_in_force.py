"""The settings that hold: those of the commit, those of the work tree, and what is asked for this one time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from fixer.errors import UsageError
from fixer.in_force import in_force
from tests.fixer.command import OLD, Ask, old_project
from tests.support import commit_all
from verify.reading.entry import EntrySettings
from verify.request import Request

OWN = "settings from the work tree: pyproject.toml is not committed"
PROJECT = b'[project]\nname = "p"\nversion = "1"\n'
SCRIPT = b'[tool.fixer.verify]\nscript = "train.py"\nargs = ["--small"]\n'
IGNORE = b'[tool.fixer]\nignore = ["LIT101"]\n'
TWO = {"train.py": OLD, "other.py": OLD, "pkg/__init__.py": b"", "pkg/run.py": OLD}


@pytest.mark.parametrize(
    ("committed", "on_disk", "ignored", "message"),
    [
        (None, None, (), None),
        (IGNORE, IGNORE, ("LIT101",), None),
        (None, IGNORE, ("LIT101",), OWN),
        (PROJECT, PROJECT + IGNORE, ("LIT101",), OWN),
        (PROJECT, b"\xef\xbb\xbf# a word\r\n" + (PROJECT + IGNORE).replace(b"\n", b"\r\n"), ("LIT101",), OWN),
        (PROJECT + IGNORE, PROJECT, (), OWN),
        (PROJECT + IGNORE, PROJECT.replace(b"1", b"2") + IGNORE, ("LIT101",), None),
        (b"[tool.black]\n" + IGNORE, b"[tool.black]\n", (), OWN),
        (b"[tool.fixer]\nslect = 1\n", IGNORE, ("LIT101",), OWN),
        (PROJECT, PROJECT.replace(b"1", b"2") + IGNORE, (), "differs from that of the commit in [project] too"),
        (None, PROJECT + IGNORE, (), "differs from that of the commit in [project] too"),
        (b"[tool.black]\n", IGNORE, (), "differs from that of the commit in [tool.black] too"),
        (PROJECT, b"[tool.fixer\n", (), "cannot be read as TOML"),
        (PROJECT, b"[tool.bla\n", (), None),
        (IGNORE, None, ("LIT101",), "settings of the commit: the work tree has no pyproject.toml"),
        (PROJECT, None, (), None),
    ],
)
def test_the_work_tree_s_settings_hold_where_nothing_else_differs(
    committed: bytes | None, on_disk: bytes | None, ignored: tuple[str, ...], message: str | None
) -> None:
    found = in_force(committed, on_disk)
    assert found.config.ignore == ignored
    assert found.of_work_tree is (message == OWN)
    assert found.message is None if message is None else message in (found.message or "")


def test_wrong_settings_of_the_work_tree_are_named_as_its_own() -> None:
    with pytest.raises(UsageError, match=r"^pyproject.toml \(not committed\): \[tool.fixer\] unknown key 'slect'"):
        in_force(None, b"[tool.fixer]\nslect = 1\n")


@dataclass
class Asked:
    """What a proof that is not made was asked for."""

    requests: list[Request]

    @property
    def start(self) -> EntrySettings | None:
        (one,) = self.requests
        return one.start


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    seen = Asked([])

    def prove(before: Path, after: Path, request: Request, progress: object) -> object:
        seen.requests.append(request)
        raise UsageError("the proof is begun")

    monkeypatch.setattr("fixer.proof.prove", prove)
    monkeypatch.setattr("fixer.comparison.prove", prove)
    return seen


def test_what_inconclusive_advised_holds_before_it_is_committed(ask: Ask, folder: Path, asked: Asked) -> None:
    (folder / "pyproject.toml").write_bytes(SCRIPT)
    said = ask("run", folder)
    assert "the proof is begun" in said.complaint()
    assert OWN in said.err.splitlines()
    assert asked.start == EntrySettings("train.py", None, ("--small",))
    shown = ask("config", folder)
    assert any(line.split()[0] == "verify.script" and "train.py" in line for line in shown.out.splitlines())
    assert shown.err == f"{OWN}\n"


def test_what_is_committed_is_read_from_the_trees_themselves(ask: Ask, folder: Path, asked: Asked) -> None:
    """A rewrite may have changed it there."""
    (folder / "pyproject.toml").write_bytes(SCRIPT)
    commit_all(folder)
    assert "the proof is begun" in ask("run", folder).complaint()
    assert asked.start is None


def test_rules_are_chosen_by_the_work_tree_too(ask: Ask, folder: Path) -> None:
    (folder / "pyproject.toml").write_bytes(IGNORE)
    report = ask("run", folder, "--no-verify", "--output-format", "json").report()
    assert (report["branch"], report["findings"]) == (None, [])
    assert OWN in report["messages"]
    assert not any("left out" in message for message in report["messages"])


def test_settings_that_are_not_used_are_said_to_be(ask: Ask, tmp_path: Path) -> None:
    folder = old_project(tmp_path / "p", {"train.py": OLD, "pyproject.toml": PROJECT})
    (folder / "pyproject.toml").write_bytes(PROJECT.replace(b"1", b"2") + IGNORE)
    report = ask("run", folder, "--no-verify", "--output-format", "json").report()
    why = "since its pyproject.toml differs from that of the commit in [project] too; commit it, or name"
    assert report["branch"] and any(why in message for message in report["messages"])
    assert "uncommitted changes in 1 file are left out and stay as they are" in report["messages"]
    shown = ask("config", folder)
    assert why in shown.err
    assert "LIT101" not in shown.out


def test_a_revision_is_proven_by_the_work_tree_s_settings_too(ask: Ask, folder: Path, asked: Asked) -> None:
    (folder / "train.py").write_bytes(b"# more\n" + OLD)
    commit_all(folder)
    (folder / "pyproject.toml").write_bytes(SCRIPT)
    assert "the proof is begun" in ask("verify", folder, "HEAD").complaint()
    assert asked.start == EntrySettings("train.py", None, ("--small",))


@pytest.mark.parametrize(
    ("options", "start"),
    [
        (["--script", "other.py"], EntrySettings("other.py", variables=(("A", "1"),))),
        (["--script", "other.py", "--args", "-n 'a b'"], EntrySettings("other.py", None, ("-n", "a b"), (("A", "1"),))),
        (["--command", "python -m pkg.run --x"], EntrySettings(None, "python -m pkg.run --x", variables=(("A", "1"),))),
        (["--args", ""], EntrySettings("train.py", variables=(("A", "1"),))),
        (["--env", "B=2=3", "--env", "A="], EntrySettings("train.py", None, ("--small",), (("A", ""), ("B", "2=3")))),
    ],
)
@pytest.mark.parametrize("command", ["run", "verify"])
def test_options_win_over_the_settings_for_one_try(
    ask: Ask, tmp_path: Path, asked: Asked, command: str, options: list[str], start: EntrySettings
) -> None:
    settings = SCRIPT + b'[tool.fixer.verify.env]\nA = "1"\n'
    folder = old_project(tmp_path / "p", {**TWO, "pyproject.toml": settings})
    if command == "verify":
        (folder / "train.py").write_bytes(b"# more\n" + OLD)
    assert "the proof is begun" in ask(command, folder, *options).complaint()
    assert asked.start == start


def test_a_script_is_named_from_the_root_or_from_here(
    ask: Ask, tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = old_project(tmp_path / "p", TWO)
    monkeypatch.chdir(folder / "pkg")
    for name in ("run.py", "pkg/run.py", str(folder / "pkg" / "run.py")):
        assert "the proof is begun" in ask("run", folder, "--script", name).complaint()
    assert [request.start for request in asked.requests] == [EntrySettings("pkg/run.py")] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--script", "gone.py"], "--script gone.py: there is no such file in the project; give its path from "),
        (["--script", "new.py"], "--script new.py: it is not in the commit "),
        (["--script", "a.py", "--command", "b"], "--script and --command both name what is to be run; give one"),
        (["--command", "bash run.sh"], "--command bash run.sh: it does not start a Python file of the project; give "),
        (["--command", "python -m pkg.gone"], "it does not start a Python file of the project"),
        (["--command", ""], "it does not start a Python file of the project"),
        (["--command", "python 'a"], "--command python 'a: no closing quotation; write it as in a shell"),
        (["--args", "--small"], "--args: there is no script to give them to; name it with --script"),
        (["--script", "train.py", "--args", "'"], "--args ': no closing quotation"),
        (["--env", "NAME"], "--env NAME: give NAME=VALUE, such as --env DATA=data/tiny"),
        (["--env", "=x"], "--env =x: give NAME=VALUE"),
        (["--env", "A B=x"], "--env A B=x: give NAME=VALUE"),
        (["--no-verify", "--env", "A=x"], "--env: --no-verify runs nothing; leave out one of the two"),
    ],
)
def test_what_cannot_be_run_is_said_at_once(
    ask: Ask, tmp_path: Path, asked: Asked, options: list[str], message: str
) -> None:
    folder = old_project(tmp_path / "p", TWO)
    (folder / "new.py").write_bytes(OLD)
    assert message in ask("run", folder, *options).complaint()
    assert asked.requests == []
