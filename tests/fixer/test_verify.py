"""`fixer verify`: which trees it compares, and what it says of one without running it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixer import comparison
from tests.fixer.command import NEW, OLD, Ask, old_project
from tests.support import commit_all, git
from tests.verify.judging.test_touched import TRAIN
from verify import prove
from verify.evidence import Evidence
from verify.request import Request

MODULE = b"""import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        return batch


trainer = pl.Trainer(gpus=1)
"""
PLANTED = b"import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str, Request]]]:
    """What was asked of the proof, with the text of train.py before and after; nothing is run."""
    found: list[tuple[str, str, Request]] = []

    def prove(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        found.append(((before / "train.py").read_text(), (after / "train.py").read_text(), request))
        return Evidence(request.group, (), "same", "preserved", "nothing ran")

    monkeypatch.setattr(comparison, "prove", prove)
    yield found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with three versions of a script, the work tree being a fourth."""
    made = old_project(tmp_path / "project", {"train.py": OLD, "requirements.txt": b"pytorch-lightning>=1.5\n"})
    git(made, "checkout", "--quiet", "-b", "moved")
    (made / "train.py").write_bytes(NEW)
    (made / "requirements.txt").write_bytes(b"pytorch-lightning>=2.0\n")
    commit_all(made)
    (made / "train.py").write_bytes(NEW + b"# more\n")
    commit_all(made)
    (made / "train.py").write_bytes(NEW + b"# at work\n")
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize(
    ("words", "before", "after", "group"),
    [
        ([], NEW + b"# more\n", NEW + b"# at work\n", "HEAD..work tree"),
        (["."], NEW + b"# more\n", NEW + b"# at work\n", "HEAD..work tree"),
        (["main..moved"], OLD, NEW + b"# more\n", "main..moved"),
        (["main..moved", "."], OLD, NEW + b"# more\n", "main..moved"),
        (["main.."], OLD, NEW + b"# more\n", "main..HEAD"),
        (["moved"], NEW, NEW + b"# more\n", "moved~1..moved"),
        (["--base", "main"], OLD, NEW + b"# at work\n", "main..work tree"),
        (["--base", "main", "--head", "moved~1"], OLD, NEW, "main..moved~1"),
    ],
)
def test_the_trees_are_those_that_are_named(
    ask: Ask, folder: Path, asked: list[tuple[str, str, Request]], words: list[str], before: bytes, after: bytes,
    group: str,
) -> None:  # fmt: skip
    assert ask("verify", *words).code == 0
    assert [(old.encode(), new.encode(), request.group) for old, new, request in asked] == [(before, after, group)]


def test_the_old_tree_gets_the_era_that_its_code_tells(
    ask: Ask, folder: Path, asked: list[tuple[str, str, Request]]
) -> None:
    ask("verify", "main..moved")
    ask("verify", "moved")
    first, second = (request for _, _, request in asked)
    assert (first.baseline_below, second.baseline_below) == ("2.0.0", None)
    assert (first.before_pins, first.after_pins) == (("pytorch-lightning>=1.5",), ("pytorch-lightning>=2.0",))
    assert (first.changed, second.changed) == (("requirements.txt", "train.py"), ("train.py",))


@pytest.mark.parametrize(
    ("pin", "words", "target"),
    [
        ("==2.4.0", [], "2.4.0"),
        (">=2.0,<2.3", [], "2.2.5"),
        (">=2.0", [], "2.6.6"),
        ("", [], "2.6.6"),
        ("==1.9.5", [], "2.6.6"),
        ("==2.4.0", ["--target", "2.5"], "2.5.6"),
    ],
)
def test_people_may_have_moved_to_an_older_release(
    ask: Ask, folder: Path, asked: list[tuple[str, str, Request]], pin: str, words: list[str], target: str
) -> None:
    (folder / "requirements.txt").write_text(f"pytorch-lightning{pin}\n")
    said = ask("verify", *words)
    ((_, _, request),) = asked
    assert request.target == target
    told = f"on Lightning {target}, the newest that the work tree admits: --target takes another"
    assert (told in said.out + said.err) is (target in ("2.4.0", "2.2.5"))


def test_settings_and_options_reach_the_proof(
    ask: Ask, folder: Path, asked: list[tuple[str, str, Request]], tmp_path: Path
) -> None:
    settings = '[tool.fixer.verify]\nbaseline-python = "old/python"\ntarget-python = "/new/python"\ntorch = "project"\n'
    (folder / "pyproject.toml").write_text(settings + 'timeout = 7\naccelerator = "cpu"\ndevices = 2\n')
    (folder / "mine").mkdir()
    (folder / "mine" / "python").touch()
    ask("verify", "--read", tmp_path)
    ask("verify", "--python", "mine/python", "--timeout", "9")
    (_, _, first), (_, _, second) = asked
    assert (first.baseline_python, first.python) == (folder / "old/python", Path("/new/python"))
    assert (first.own_torch, first.readable, first.timeout) == (True, (tmp_path,), 7)
    assert (first.accelerator, first.devices) == ("cpu", 2)
    assert (second.python, second.timeout) == (folder / "mine/python", 9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["main", "moved"], "main moved: give at most one path that is there and one revision, or two as A..B"),
        (["main..moved", "--base", "main"], "main..moved: revisions are named already"),
        (["main..gone"], "no commit is named 'gone'"),
        (["main"], "'main' has no parent here; name another with --base"),
        (["moved..moved"], "nothing differs between moved and moved; name two revisions as OLD..NEW"),
        (["--read", "/nowhere"], "--read /nowhere: there is no such folder"),
    ],
)
def test_what_cannot_be_compared_is_named(ask: Ask, folder: Path, words: list[str], said: str) -> None:
    assert said in ask("verify", *words).complaint()


@pytest.mark.parametrize("setting", ["target-python", "baseline-python"])
@pytest.mark.parametrize("named", ["python", "./bin/../python", "link", "folder/python", "sub/python"])
def test_an_interpreter_of_the_repository_is_not_run(ask: Ask, folder: Path, setting: str, named: str) -> None:
    """Not even to ask what it is, where names alone are looked at and the settings switch the proof off."""
    (folder / "python").write_text("#!/bin/sh\ntouch ran\n")
    (folder / "python").chmod(0o755)
    (folder / "link").symlink_to("python")
    (folder / "folder").symlink_to(".")
    (folder / "bin").mkdir()
    sub = old_project(folder / "sub", {"python": b"#!/bin/sh\n"})
    commit_all(folder)
    assert git(folder, "ls-files", "--stage", "sub").startswith("160000"), sub
    settings = f'[tool.fixer.verify]\nenabled = false\n{setting} = "{named}"\n'
    (folder / "pyproject.toml").write_text(settings)
    told = ask("verify", "--conforms").complaint()
    assert f"{setting}: '{named}' is a file of the repository, and is not run" in told


def test_switched_off_means_off(ask: Ask, folder: Path, asked: list[tuple[str, str, Request]]) -> None:
    (folder / "pyproject.toml").write_text("[tool.fixer.verify]\nenabled = false\n")
    assert "verify.enabled is false in pyproject.toml" in ask("verify").complaint()
    assert asked == []
    assert ask("verify", "--conforms").code == 0


def test_the_names_of_many_files_are_asked_for_at_once(
    ask: Ask, tmp_path: Path, own_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process answers for a thousand files, whatever they use: that is what makes it a matter of seconds."""
    files = {f"p{n % 20}/m{n}.py": MODULE.replace(b"gpus=1", b"arg%d=1" % n) for n in range(1000)}
    made = old_project(tmp_path / "project", files)
    started: list[str] = []
    once = prove.run_harness
    monkeypatch.setattr(prove, "run_harness", lambda *given: started.append(given[0]) or once(*given))
    monkeypatch.setattr(prove, "run_both", None)
    said = ask("verify", made, "--conforms", "--python", sys.executable, "--output-format", "json")
    problems = said.report()["evidence"][0]["problems"]
    assert (len(problems), problems[-1]) == (201, "and 1800 more")
    assert len(started) <= 1


def test_a_migration_by_hand_is_proven_as_one_by_rules_is(
    ask: Ask, tmp_path: Path, own_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a file of it is not known to git yet."""
    monkeypatch.setenv("FIXER_RUNS", str(tmp_path / "runs"))
    made = old_project(tmp_path / "project", {"train.py": TRAIN.replace("lr=0.1", "lr=RATE", 1).encode()})
    (made / "train.py").write_text("from rates import RATE\n" + TRAIN.replace("lr=0.1", "lr=RATE", 1))
    python = f'"{sys.executable}"'
    (made / "pyproject.toml").write_text(f"[tool.fixer.verify]\ntarget-python = {python}\nbaseline-python = {python}\n")
    (made / "rates.py").write_text("RATE = 0.1\n")
    said = ask("verify", made, "--output-format", "json", "--require", "trains")
    (evidence,) = said.report()["evidence"]
    assert (evidence["verdict"], evidence["rung"], evidence["codes"]) == ("repaired", "trains", []), evidence["reason"]
    assert "NameError" in evidence["reason"] and "trains now" in evidence["reason"]
    assert (said.code, evidence["after"]["optimizer_steps"]) == (0, 4)
    monkeypatch.chdir(made)
    (kept,) = re.findall(r"recorded: \d recordings in (\S+), index.jsonl says what each is\n", ask("report").err)
    after = [json.loads(line) for line in (Path(kept) / "after-train.py.jsonl").read_text().splitlines()]
    assert [event["value"] for event in after if event["event"] == "loss"] == evidence["after"]["losses"]
    before = [json.loads(line) for line in (Path(kept) / "before-train.py.jsonl").read_text().splitlines()]
    assert [event["type"] for event in before if event["event"] == "failure"] == ["NameError"]
    assert git(made, "status", "--short", "--ignored") == "M train.py\n?? pyproject.toml\n?? rates.py"


def test_conformity_alone_needs_no_difference_and_runs_nothing(ask: Ask, tmp_path: Path, own_home: None) -> None:
    made = old_project(tmp_path / "project", {"a/train.py": PLANTED + MODULE, "plain.py": PLANTED})
    said = ask("verify", made, "--conforms", "--output-format", "json")
    assert said.code == 1
    evidence = said.report()["evidence"][0]
    assert (evidence["rung"], evidence["verdict"]) == (None, "inconclusive")
    assert evidence["problems"] == [
        "a/train.py:6: Model.training_step(optimizer_idx), the target does not pass it",
        "a/train.py:10: Trainer(gpus=...), the target has no such argument",
    ]
    assert not list(made.rglob("ran"))
    (made / "a/train.py").write_bytes(PLANTED + NEW)
    assert ask("verify", made, "--conforms").code == 0
    commit_all(made)
    report = ask("verify", "HEAD", made, "--conforms", "--output-format", "json").report()
    assert report["evidence"][0]["rung"] == "conforms"
