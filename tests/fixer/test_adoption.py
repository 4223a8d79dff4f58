"""Beginning on old code: counts instead of a list, and what is known left out until it changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixer.command import Ask

MORE = "import pytorch_lightning as pl\n\nother = pl.Trainer(gpus=0)\n"


def test_statistics_count_by_rule(folder: Path, ask: Ask) -> None:
    (folder / "more.py").write_text(MORE * 2)
    said = ask("check", folder, "--statistics")
    assert said.code == 1
    first = said.out.splitlines()[0].split()
    assert first[:6] == ["3", "LIT101", "2", "files", "3", "safe"]
    assert "1 finding at 3 places in 2 files" in said.out
    assert "train.py:" not in said.out


def test_statistics_of_nothing_are_empty(folder: Path, ask: Ask) -> None:
    said = ask("check", folder, "--statistics", "--select", "TBP001")
    assert (said.code, said.out) == (0, "No findings.\n")


def test_what_is_known_is_left_out_and_what_is_new_is_not(folder: Path, ask: Ask, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    written = ask("check", folder, "--write-baseline", known)
    assert written.code == 0 and "1 place written" in written.out
    again = ask("check", folder, "--baseline", known)
    assert again.code == 0 and "1 known place in" in again.out

    (folder / "more.py").write_text(MORE)
    new = ask("check", folder, "--baseline", known, "--output-format", "json")
    assert new.code == 1
    assert [item["path"] for item in new.places()] == ["more.py"]


def test_a_known_finding_may_move(folder: Path, ask: Ask, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    ask("check", folder, "--write-baseline", known)
    script = folder / "train.py"
    script.write_text("# one more line\n\n" + script.read_text())
    assert ask("check", folder, "--baseline", known).code == 0


def test_one_more_of_a_known_kind_is_new(folder: Path, ask: Ask, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    ask("check", folder, "--write-baseline", known)
    script = folder / "train.py"
    script.write_text(script.read_text() + "second = pl.Trainer(gpus=0)\n")
    assert len(ask("check", folder, "--baseline", known, "--output-format", "json").places()) == 1


def test_entries_that_are_gone_are_said(folder: Path, ask: Ask, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    ask("check", folder, "--write-baseline", known)
    (folder / "train.py").write_text("import pytorch_lightning as pl\n")
    assert "names 1 place where nothing is found any more" in ask("check", folder, "--baseline", known).out


@pytest.mark.parametrize("text", ["", "{}", "[1]", json.dumps({"form": 99, "findings": {}})])
def test_an_unfit_file_is_an_error_of_use(folder: Path, ask: Ask, tmp_path: Path, text: str) -> None:
    known = tmp_path / "known.json"
    known.write_text(text)
    said = ask("check", folder, "--baseline", known).complaint()
    assert str(known) in said and "--write-baseline" in said


def test_a_file_that_is_not_there_is_an_error_of_use(folder: Path, ask: Ask, tmp_path: Path) -> None:
    said = ask("check", folder, "--baseline", tmp_path / "none.json").complaint()
    assert "No such file" in said


def test_codes_are_left_out_in_the_files_that_a_pattern_matches(folder: Path, ask: Ask) -> None:
    (folder / "old").mkdir()
    (folder / "old/script.py").write_text(MORE)
    (folder / "pyproject.toml").write_text('[tool.fixer.per-file-ignores]\n"old" = ["LIT1"]\n"*.cfg" = ["PIN"]\n')
    assert [item["path"] for item in ask("check", folder, "--output-format", "json").places()] == ["train.py"]
    ask("fix", folder)
    assert (folder / "old/script.py").read_text() == MORE
    assert "gpus" not in (folder / "train.py").read_text()


def test_a_row_is_left_out_in_a_file(folder: Path, ask: Ask) -> None:
    row = ask("check", folder, "--output-format", "json").report()["findings"][0]["row"]
    (folder / "pyproject.toml").write_text(f'[tool.fixer.per-file-ignores]\n"train.py" = ["LIT101:{row}"]\n')
    assert ask("check", folder).code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"a.py" = ["LIT999"]', "no rule is called 'LIT999'"),
        ('"a.py" = "LIT"', "[tool.fixer.per-file-ignores] a.py must be a list of strings, not 'LIT'"),
    ],
)
def test_a_wrong_entry_is_an_error_of_use(folder: Path, ask: Ask, text: str, message: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.fixer.per-file-ignores]\n{text}\n")
    assert message in ask("check", folder).complaint()


def test_the_settings_in_force_say_where_they_come_from(folder: Path, ask: Ask) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.fixer]\ntarget = "2.5.4"\nignore = ["PIN"]\n[tool.fixer.verify]\ntimeout = 90\n'
    )
    lines = {line.split()[0]: line.split(maxsplit=1)[1].split("  ") for line in ask("config", folder).out.splitlines()}
    shown = {key: (words[0].strip(), words[-1].strip()) for key, words in lines.items()}
    assert shown["target"] == ('"2.5.4"', "pyproject.toml (not committed)")
    assert shown["ignore"] == ('["PIN"]', "pyproject.toml (not committed)")
    assert shown["verify.timeout"] == ("90.0", "pyproject.toml (not committed)")
    assert shown["select"] == ("all rules", "default")
    assert shown["unsafe-fixes"] == ("false", "default")


def test_settings_that_cannot_be_read_are_an_error_of_use(folder: Path, ask: Ask) -> None:
    (folder / "pyproject.toml").write_text("[tool.fixer]\nslect = []\n")
    assert "did you mean 'select'?" in ask("config", folder).complaint()
