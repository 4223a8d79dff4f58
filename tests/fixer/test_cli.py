"""The command line: what it prints where, what it imports, and which options win."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fixer import pipeline
from fixer.cli import COMMANDS
from fixer.demo import write_demo
from tests.fixer.command import NEW, OLD, ROOT, Ask, Said, environment, old_project, process
from tests.support import git

HEAVY = ("libcst", "torch", "lightning", "pytorch_lightning", "git", "rich")


# One report on standard output


@pytest.mark.parametrize("command", ["run --no-verify", "run --dry-run --no-verify", "check", "diff", "fix"])
def test_json_is_one_valid_object(ask: Ask, folder: Path, command: str) -> None:
    name, *options = command.split()
    report = ask(name, folder, *options, "--output-format", "json").report()
    assert report["command"] == name
    assert [finding["code"] for finding in report["findings"]] == ["LIT101"]
    assert report["error"] is None


def test_json_of_a_proof(ask: Ask, folder: Path) -> None:
    (folder / "notes.py").write_text("print()\n")
    said = ask("verify", folder, "--python", "/bin/true", "--output-format", "json")
    report = said.report()
    assert [item["verdict"] for item in report["evidence"]] == ["inconclusive"]
    assert (report["command"], said.code) == ("verify", 0)


def test_json_of_the_demo(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "not-here"))
    report = ask("demo", "--no-verify", "--output-format", "json").report()
    (place,) = tmp_path.glob("fixer-demo-*")
    assert not (tmp_path / "not-here").exists()
    monkeypatch.delenv("GIT_DIR")
    assert git(place, "rev-parse", report["branch"]) == report["commits"][-1]["id"]
    assert str(place) in report["messages"][-1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("check . --select XYZ", "no rule is called 'XYZ'; the families are AMP"),
        ("check . --ignore LIT999", "no rule is called 'LIT999'"),
        ("run . --bogus", "No such option: --bogus"),
        ("run . --jobs none", "Invalid value for '--jobs'"),
        ("diff . --jobs 0", "Invalid value for '--jobs': "),
        ("run . --require all", "'all' is not one of 'conforms', 'trains', 'same'"),
        ("fix . more", "unexpected extra argument"),
        ("check nothing", "nothing: No such file or directory; give a file or folder that is there"),
        ("run .", "not in a git repository; run `git init` there"),
        ("verify .", "not in a git repository; run `git init` there"),
        ("check . --target 1.9", "fixer moves to releases from 2.0.0 to 2.6.6"),
        ("check . --target 2.6.3", "a malicious release"),
        ("check . --target new", "not a version"),
        ("--bogus check", "No such option: --bogus"),
    ],
)
def test_json_of_an_error(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, told: str) -> None:
    monkeypatch.chdir(tmp_path)
    for format in (["--output-format", "json"], ["--output-format=json"]):
        said = ask(*arguments.split(), *format)
        report = said.report()
        assert told in said.complaint()
        assert said.complaint() == f"fixer: {report['error']}"
        assert report["command"] == next(word for word in arguments.split() if word in COMMANDS)


@pytest.mark.parametrize("format", ["json", "sarif", "github", "markdown", "text"])
def test_a_bug_of_fixer(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(pipeline, "find", crash)
    said = ask("check", folder, "--output-format", format)
    assert said.code == 2
    assert said.err.splitlines()[-1].startswith("fixer: a bug in fixer: ZeroDivisionError: by zero; please report it")
    assert "in crash" in said.err
    _is_valid(said, format)


@pytest.mark.parametrize("format", ["json", "sarif", "github", "markdown", "text"])
def test_a_rule_that_cannot_be_loaded(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    def broken() -> None:
        raise ImportError("no such module")

    monkeypatch.setattr("codemods.rule.all_rules", broken)
    said = ask("check", folder, "--output-format", format)
    assert (said.code, said.err.count("Traceback")) == (2, 1)
    assert said.err.splitlines()[-1].startswith("fixer: a bug in fixer: ImportError: no such module; please report it")
    _is_valid(said, format)


@pytest.mark.parametrize("format", ["json", "sarif", "github", "markdown", "text"])
def test_every_format_of_an_error(ask: Ask, format: str) -> None:
    said = ask("check", "nothing", "--output-format", format)
    assert "give a file or folder that is there" in said.complaint()
    _is_valid(said, format)


def _is_valid(said: Said, format: str) -> None:
    if format == "json":
        assert said.report()["error"]
    elif format == "sarif":
        (run,) = json.loads(said.out)["runs"]
        assert run["invocations"][0]["executionSuccessful"] is False
    elif format == "github":
        assert said.out.startswith("::error ") and said.out.count("\n") == 1
    elif format == "markdown":
        assert "error" in said.out.lower()
    else:
        assert said.out == ""


def test_progress_is_on_standard_error(folder: Path) -> None:
    said = process(folder, "run", "--no-verify", "--output-format", "json")
    assert said.report()["branch"] == "fixer/lightning-2.6.6"
    first, second, last = said.err.splitlines()
    assert (first, second) == ("reading the repository", "checking what is left")
    assert last.startswith("kept: `fixer report ")
    assert process(folder, "run", "--no-verify", "--quiet").err == ""


def test_a_format_that_does_not_exist(ask: Ask, folder: Path) -> None:
    said = ask("check", folder, "--output-format", "jsn")
    assert "'jsn' is not one of 'text', 'json', 'markdown', 'html'" in said.complaint()
    assert said.complaint().endswith("; see `fixer check --help`")
    assert said.out == ""


def test_a_reader_that_goes_away(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    said = _into(folder, writing)
    assert (said.code, said.err) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device is Linux's")
@pytest.mark.parametrize("format", ["text", "json"])
def test_output_that_cannot_be_written(folder: Path, format: str) -> None:
    said = _into(folder, os.open("/dev/full", os.O_WRONLY), "--output-format", format)
    assert said.complaint() == "fixer: the system: No space left on device; fix that and try again"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_closed(folder: Path, closed: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m fixer check --output-file json:found.json {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment({}), capture_output=True)
    assert (done.returncode, done.stderr) == (1, b"")
    assert [found["code"] for found in json.loads((folder / "found.json").read_text())["findings"]] == ["LIT101"]


def test_an_interrupt_while_modules_are_loaded(folder: Path) -> None:
    finder = "class Finder:\n def find_spec(self, name, *_):\n  if name == 'fixer.cli': raise KeyboardInterrupt\n"
    start = f"import sys\n{finder}sys.meta_path.insert(0, Finder())\n"
    command = [sys.executable, "-c", f"{start}from fixer.__main__ import main\nmain()", "check"]
    done = subprocess.run(command, cwd=folder, env=environment({}), capture_output=True)
    assert (done.returncode, done.stderr) == (130, b"fixer: interrupted\n")


def _into(folder: Path, stream: int, *options: str) -> Said:
    command = [sys.executable, "-m", "fixer", "diff", "--quiet", *options]
    done = subprocess.run(command, cwd=folder, env=environment({}), stdout=stream, stderr=subprocess.PIPE)
    os.close(stream)
    return Said(done.returncode, "", done.stderr.decode())


# Help, rules and versions


def test_what_a_command_does_is_said_in_full(tmp_path: Path) -> None:
    said = process(tmp_path, "--help", COLUMNS="80").out
    assert len(re.findall(r"^  [a-z][a-z-]*  +[A-Z].*\.$", said, re.MULTILINE)) == len(COMMANDS)
    assert "..." not in said.partition("Commands:")[2]


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"], ["rules"], ["explain", "TBP001"]])
def test_help_loads_little(tmp_path: Path, arguments: list[str]) -> None:
    said = process(tmp_path, *arguments, options=("-X", "importtime"))
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in said.err.splitlines()}
    assert said.code == 0 and said.out
    assert "fixer" in loaded
    assert not loaded & set(HEAVY)


def test_without_arguments(ask: Ask) -> None:
    said = ask()
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Usage: ")
    assert all(command in said.err for command in COMMANDS)


def test_a_command_that_does_not_exist(ask: Ask) -> None:
    assert ask("frob").complaint() == "fixer: No such command 'frob'; see `fixer --help`"


def test_rules_are_listed_and_explained(ask: Ask) -> None:
    listed = ask("rules")
    codes = [line.split()[0] for line in listed.out.splitlines()]
    assert listed.code == 0 and "TBP001" in codes
    for code in codes:
        page = ask("explain", code)
        assert page.code == 0
        assert page.out.startswith(f"{code} ")
    assert "no rule is called 'nope'; the families are" in ask("explain", "nope").complaint()


def test_the_version(ask: Ask) -> None:
    from fixer import __version__

    assert ask("--version") == Said(0, f"fixer {__version__}\n", "")


# Options, and settings that they win over

TWO_RULES = {
    "train.py": OLD,
    "model.py": b"import pytorch_lightning as pl\n\n\nclass M(pl.LightningModule):\n"
    b"    def training_epoch_end(self, outputs):\n        pass\n",
}
SETTINGS = (
    '[tool.fixer]\nselect = ["LIT1"]\nexclude = ["old"]\ntarget = "2.4.0"\n[tool.fixer.verify]\nenabled = false\n'
)


def codes(said: Said) -> list[str]:
    return sorted(finding["code"] for finding in said.report()["findings"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", ["LIT101", "LIT201"]),
        ("--select LIT1", ["LIT101"]),
        ("--select LIT", ["LIT101", "LIT201"]),
        ("--select LIT101,LIT2", ["LIT101", "LIT201"]),
        ("--ignore LIT2", ["LIT101"]),
        ("--select LIT --ignore LIT101", ["LIT201"]),
        ("--select TBP", []),
    ],
)
def test_rules_are_chosen(ask: Ask, tmp_path: Path, options: str, expected: list[str]) -> None:
    folder = old_project(tmp_path / "project", TWO_RULES)
    assert codes(ask("check", folder, *options.split(), "--output-format", "json")) == expected


def test_a_row_is_ignored(ask: Ask, tmp_path: Path) -> None:
    folder = old_project(tmp_path / "project", TWO_RULES)
    (row,) = {
        item["row"] for item in ask("check", folder, "--select=LIT101", "--output-format=json").report()["findings"]
    }
    assert row
    assert codes(ask("check", folder, "--ignore", f"LIT101:{row}", "--output-format", "json")) == ["LIT201"]


def test_settings_are_honoured_and_options_win(ask: Ask, tmp_path: Path) -> None:
    files = {**TWO_RULES, "old/train.py": OLD, "pyproject.toml": SETTINGS.encode()}
    folder = old_project(tmp_path / "project", files)
    said = ask("run", folder, "--output-format", "json")
    report = said.report()
    assert [(item["code"], item["path"]) for item in said.places()] == [("LIT101", "train.py")]
    assert (report["target"], report["branch"], report["evidence"]) == ("2.4.0", "fixer/lightning-2.4.0", [])
    said = ask("check", folder, "--select", "LIT2", "--target", "2.5.0", "--output-format", "json")
    assert [(item["code"], item["path"]) for item in said.places()] == [("LIT201", "model.py")]
    assert said.report()["target"] == "2.5.0"
    assert "set verify.enabled" in ask("run", folder, "--require", "same").complaint()


def test_wrong_settings_are_named(ask: Ask, tmp_path: Path) -> None:
    folder = old_project(tmp_path / "project", {"train.py": OLD, "pyproject.toml": b"[tool.fixer]\nselct = []\n"})
    for command in ("run", "check", "fix"):
        assert (
            "pyproject.toml: [tool.fixer] unknown key 'selct', did you mean 'select'?"
            in ask(command, folder).complaint()
        )
    (folder / "pyproject.toml").write_text('[tool.fixer]\nselect = ["LIT999"]\n')
    assert "no rule is called 'LIT999'" in ask("check", folder).complaint()
    assert (folder / "train.py").read_bytes() == OLD


# A user's own modules


EVIL = ("verify.py", "codemods/__init__.py", "typer.py", "pathlib.py", "git/__init__.py", "sarif.py", "words.py")


def test_own_modules_are_not_imported(tmp_path: Path) -> None:
    files = {"train.py": OLD, **dict.fromkeys(EVIL, b"raise SystemExit('imported')\n")}
    folder = old_project(tmp_path / "project", files)
    for path in (str(ROOT), f".{os.pathsep}{ROOT}", f"{ROOT}{os.pathsep}{folder}"):
        assert codes(process(folder, "check", "--output-format", "json", PYTHONPATH=path)) == ["LIT101"]


def test_an_own_fixer_is_not_imported_by_the_command(tmp_path: Path) -> None:
    files = {"train.py": OLD, **dict.fromkeys(("fixer.py", *EVIL), b"raise SystemExit('imported')\n")}
    folder = old_project(tmp_path / "project", files)
    script = tmp_path / "bin" / "fixer"
    script.parent.mkdir()
    script.write_text("from fixer.__main__ import main\nmain()\n")
    command = [sys.executable, str(script), "check", "--output-format", "json"]
    done = subprocess.run(command, cwd=folder, env=environment({}), capture_output=True, text=True)
    assert codes(Said(done.returncode, done.stdout, done.stderr)) == ["LIT101"]


def test_a_stranger_for_a_sibling_is_refused(tmp_path: Path) -> None:
    (tmp_path / "verify.py").touch()
    said = process(tmp_path / "..", "rules", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert f"the package 'verify' that belongs to fixer comes from {tmp_path / 'verify.py'}" in said.complaint()


def test_warnings_that_are_errors_hide_no_file(folder: Path) -> None:
    (folder / "train.py").write_bytes(OLD + b'pattern = "\\d"\nassert pattern is "x"\nassert 0x1for x in (1,)\n')
    command = [sys.executable, "-W", "error", "-m", "fixer", "check", "--jobs", "1"]
    done = subprocess.run(command, cwd=folder, env=environment({}), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "") and "LIT101" in done.stdout


def test_warnings_that_are_errors_hide_no_file_from_processes_that_are_begun_afresh(folder: Path) -> None:
    (folder / "train.py").write_bytes(OLD + b'pattern = "\\d"\n')
    begun = "import multiprocessing, sys\nfrom codemods.engine import workers\nfrom fixer.__main__ import main\n"
    begun += (
        "multiprocessing.set_start_method('spawn')\nworkers.POOL_BYTES = 0\nsys.argv[1:] = ['check', '--jobs', '2']\n"
    )
    command = [sys.executable, "-W", "error", "-c", f"{begun}main()\n"]
    done = subprocess.run(command, cwd=folder, env=environment({}), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "") and "LIT101" in done.stdout and "Not read" not in done.stdout


def test_warnings_of_files_that_are_only_read_are_not_shown(folder: Path) -> None:
    warned = "import sys, warnings\nfrom fixer.__main__ import main\nsys.argv[1:] = ['--version']\n"
    warned += "try:\n    main()\nexcept SystemExit:\n    warnings.warn('invalid escape sequence', SyntaxWarning)\n"
    command = [sys.executable, "-c", warned]
    done = subprocess.run(command, cwd=folder, env=environment({}), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("fixer")


def test_files_are_fixed(ask: Ask, folder: Path) -> None:
    assert ask("fix", folder).code == 0
    assert (folder / "train.py").read_bytes() == NEW


def test_the_demo_project_needs_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fixer.errors import UsageError

    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="git is not installed"):
        write_demo(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_rules_are_filtered_by_code_level_and_word(ask: Ask) -> None:
    lines = ask("rules", "tbp", "detach").out.splitlines()
    assert lines and all(line.startswith("TBP") for line in lines)
    assert len(lines) < len(ask("rules", "tbp").out.splitlines()) < len(ask("rules").out.splitlines())
    assert {line.split()[1] for line in ask("rules", "manual").out.splitlines()} == {"manual"}
    assert "no rule mentions tbp and xyzzy" in ask("rules", "tbp", "xyzzy").complaint()
