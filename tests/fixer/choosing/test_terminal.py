"""`fixer fix --interactive` at a pseudo-terminal, as a person sees it."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.fixer.choosing.pseudo_terminal import COLOR, AtTerminal
from tests.fixer.command import Ask, Said, process

TRAIN = b"""\
import pytorch_lightning as pl

one = pl.Trainer(gpus=0, weights_summary=None, progress_bar_refresh_rate=0)
two = pl.Trainer(gpus=1, resume_from_checkpoint="a.ckpt")
two.fit(None)
"""
FILES = {"train.py": TRAIN, "requirements.txt": b"pytorch-lightning==1.5.0\n"}
AFTER_GPUS = TRAIN.replace(b"gpus=0", b'accelerator="cpu"').replace(b"gpus=1", b'accelerator="gpu", devices=1')


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without git, and a folder of its own for what is kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def interactive(folder: Path, *options: str, columns: int = 100, **env: str) -> AtTerminal:
    return AtTerminal(folder, "fix", ".", "--interactive", *options, columns=columns, **env)


def test_yes_and_no(project: Path) -> None:
    with interactive(project) as shown:
        first = COLOR.sub("", shown.question())
        assert "(1/4) LIT101 safe  `Trainer(gpus=...)` becomes" in first
        assert "train.py:3:18 `gpus=` of Trainer was removed in Lightning 2.0" in first
        assert "1.x trained on the CPU here" in first
        assert "-one = pl.Trainer(gpus=0, weights_summary=None" in first
        assert "[y,n,a,d,A,q,e,s,l,?]" in first
        assert "(2/4) LIT110" in COLOR.sub("", shown.say("y"))
        assert "(3/4) LIT112" in COLOR.sub("", shown.say("n"))
        last = COLOR.sub("", shown.say("n"))
        assert "(4/4) PIN001" in last
        assert "3 places that you left will stop the program on the new Lightning." in last
        code, report = shown.end("y")
    assert code == 0
    assert files(project) == {"train.py": AFTER_GPUS, "requirements.txt": b"pytorch-lightning==2.6.6\n"}
    assert "you took 3 changes and left 3" in report
    assert "2 findings repaired; 2 left for `fixer fix`." in COLOR.sub("", report)
    assert "`fixer undo` puts the files back as they were" in COLOR.sub("", report)


def test_all_and_a_second_run(project: Path) -> None:
    """It offers only what was refused, and what follows from that."""
    with interactive(project) as shown:
        shown.question()
        shown.say("n")
        code, _ = shown.end("A")
    assert code == 0
    assert b"enable_model_summary=False" in (project / "train.py").read_bytes()
    with interactive(project) as shown:
        assert "(1/1) LIT101" in COLOR.sub("", shown.question())
        code, _ = shown.end("a")
    assert code == 0 and b"gpus=" not in (project / "train.py").read_bytes()


def test_split_then_quit(project: Path) -> None:
    with interactive(project) as shown:
        shown.question()
        part = COLOR.sub("", shown.say("s"))
        assert "(1/5) LIT101" in part and "gpus=1" in part and "-two = pl.Trainer(gpus=1" not in part
        shown.say("y")
        code, _ = shown.end("q")
    assert code == 0
    assert files(project)["train.py"] == TRAIN.replace(b"gpus=0", b'accelerator="cpu"')


def test_explain_help_and_what_is_no_answer(project: Path) -> None:
    with interactive(project) as shown:
        shown.question()
        said = shown.say("e")
        assert "Repair:   safe" in said and "(1/4) LIT101" in COLOR.sub("", said)
        helped = COLOR.sub("", shown.say("?"))
        assert "q - quit: leave this and all that are left; what you took is made" in helped
        assert "a and A take no unsafe change here" in helped
        assert "Ctrl-C ends it, and nothing is changed." in helped
        again = shown.say("maybe")
        assert "y - make this change" in again
        assert shown.end("q")[0] == 0
    assert files(project) == FILES


def test_unsafe_changes_as_they_are_asked_for(project: Path) -> None:
    with interactive(project, "--unsafe-fixes") as shown:
        shown.question()
        assert "take no unsafe change" not in shown.say("?")
        assert shown.end("q")[0] == 0


def test_none_of_a_rule_left_out_for_good(project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "x"  # kept\nversion = "1"\n')
    with interactive(project) as shown:
        shown.question()
        shown.type("l\n")
        ways = shown.read(re.compile(r"\[1-3\] "))
        assert '1 - per-file-ignores: "/train.py" = ["LIT101"]' in ways
        assert '3 - ignore = ["LIT101"]' in ways
        assert "LIT101" in shown.say("")
        shown.type("l\n")
        shown.read(re.compile(r"\[1-3\] "))
        assert "LIT110" in COLOR.sub("", shown.say("3"))
        code, report = shown.end("q")
    assert code == 0 and 'pyproject.toml now says ignore = ["LIT101"]' in report
    written = (project / "pyproject.toml").read_text()
    assert written.startswith('[project]\nname = "x"  # kept\nversion = "1"\n')
    assert '[tool.fixer]\nignore = ["LIT101"]' in written
    assert files(project)["train.py"] == TRAIN
    with interactive(project) as shown:
        assert "LIT110" in COLOR.sub("", shown.question())
    assert process(project, "undo").code == 0
    assert (project / "pyproject.toml").read_text() == '[project]\nname = "x"  # kept\nversion = "1"\n'


def test_settings_beside_a_change_of_the_same_file(project: Path) -> None:
    (project / "requirements.txt").unlink()
    text = '[project]\nname = "x"\nversion = "1"\ndependencies = ["pytorch-lightning==1.5.0"]  # pinned\n'
    (project / "pyproject.toml").write_text(text)
    with interactive(project) as shown:
        assert "LIT101" in COLOR.sub("", shown.question())
        shown.type("l\n")
        shown.read(re.compile(r"\[1-3\] "))
        shown.say("2")
        assert shown.end("A")[0] == 0
    moved = text.replace("==1.5.0", "==2.6.6")
    assert (project / "pyproject.toml").read_text() == f'{moved}\n[tool.fixer]\nignore = ["LIT101:M164"]\n'
    assert b"gpus=0" in (project / "train.py").read_bytes()
    assert process(project, "undo").code == 0
    assert files(project) == {"train.py": TRAIN, "pyproject.toml": text.encode()}


def test_the_end_of_the_input_quits(project: Path) -> None:
    with interactive(project) as shown:
        shown.question()
        shown.say("y")
        shown.type("\x04")
        code, _ = shown.end()
    assert code == 0
    assert files(project)["train.py"] == AFTER_GPUS


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("sent", ["typed", "terminated"])
def test_an_interruption_changes_nothing(project: Path, sent: str) -> None:
    with interactive(project) as shown:
        shown.question()
        shown.say("y")
        if sent == "typed":
            shown.interrupt()
        else:
            os.kill(shown.process.pid, signal.SIGTERM)
        code, said = shown.end()
    assert code == 130 and "fixer: interrupted" in said and "Traceback" not in said
    assert files(project) == FILES


@pytest.mark.parametrize(
    ("env", "colored"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_where_they_can_be(project: Path, env: dict[str, str], colored: bool) -> None:
    with interactive(project, **env) as shown:
        shown.question()
        shown.end("A")
    assert ("\x1b[" in shown.seen) == colored
    assert set(re.findall(r"\x1b\[[0-9;]*(.)", shown.seen)) <= {"m"}, "no cursor is moved"


def test_a_window_of_20_columns(project: Path) -> None:
    with interactive(project, columns=20, NO_COLOR="1") as shown:
        said = shown.question()
        prose = said[said.index("(1/4)") : said.index("diff --git")]
        assert max(map(len, prose.splitlines())) <= 20 + 4
        assert "LIT101" in prose
        helped = shown.say("?")
        assert max(len(line) for line in helped[: helped.index("(1/4)")].splitlines()[1:]) <= 20
        assert shown.end("q")[0] == 0


def test_the_report_goes_where_it_is_asked_to(project: Path, tmp_path: Path) -> None:
    """The questions are asked at the terminal all the same."""
    place = tmp_path / "report.json"
    with place.open("wb") as out, AtTerminal(project, "fix", "-i", "--output-format", "json", out=out) as shown:
        shown.question()
        shown.say("y")
        assert shown.end("q")[0] == 0
    report = Said(0, place.read_text(), "").report()
    applied = {finding["code"] for finding in report["findings"] if finding["applied"]}
    assert applied == {"LIT101"} and len(report["files"]) == 1


def test_without_a_terminal(ask: Ask, project: Path) -> None:
    said = process(project, "fix", ".", "--interactive", "--output-format", "json")
    assert "--interactive asks at a terminal, which standard input is not" in said.complaint()
    assert said.report()["error"] and files(project) == FILES


def test_a_file_that_is_edited_meanwhile(project: Path) -> None:
    with interactive(project) as shown:
        shown.question()
        (project / "train.py").write_bytes(TRAIN + b"# mine\n")
        code, said = shown.end("A")
    assert code == 2 and "train.py: changed since fixer read it; run fixer again. Nothing was changed" in said
    assert files(project) == {**FILES, "train.py": TRAIN + b"# mine\n"}


def test_nothing_to_ask(project: Path) -> None:
    (project / "train.py").write_text("print()\n")
    (project / "requirements.txt").unlink()
    with interactive(project) as shown:
        code, said = shown.end()
    assert code == 0 and "nothing to do" in said


def test_keys_that_are_no_text(project: Path) -> None:
    with interactive(project) as shown:
        shown.question()
        shown.type(b"\xff\xfe\n")
        assert "y - make this change" in shown.question()
        assert shown.end("q")[0] == 0
