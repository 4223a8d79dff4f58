"""Diffs: what `unified` writes, git applies."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixer.reports.diff import Stat, stat, unified

LINES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "",
                "a",
                "b = 1",
                "--- a/x",
                "+++ b/x",
                "@@ -1 +1 @@",
                "diff --git a/x b/x",
                "\\",
                "\x0c",
                "é\u2028è",
            ]
        ),
        st.sampled_from(["\n", "\n", "\r\n", "\r", ""]),
    )
).map(lambda parts: "".join(line + end for line, end in parts))


def applied(folder: Path, path: str, before: str, diff: str) -> str:
    """What the file holds after `git apply` of the diff, in a new repository."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before.encode())
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, cwd=folder, input=diff.encode(), check=True, capture_output=True)
    return file.read_bytes().decode()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@settings(max_examples=25, deadline=None)
@given(before=LINES, after=LINES)
def test_git_applies_what_unified_writes(repository: Path, before: str, after: str) -> None:
    diff = unified("src/train.py", before, after)
    assert (diff == "") == (before == after)
    if diff:
        assert applied(repository, "src/train.py", before, diff) == after


@pytest.mark.parametrize(
    "path",
    [
        "a b.py",
        'quo"te.py',
        "back\\slash.py",
        "tab\there.py",
        "line\nfeed.py",
        "modèle/é.py",
        "-x.py",
        "bell\x07.py",
    ],
)
def test_git_finds_the_file_of_any_name(repository: Path, path: str) -> None:
    diff = unified(path, "x = 1\n", "x = 2\n")
    assert applied(repository, path, "x = 1\n", diff) == "x = 2\n"


def test_the_same_text_has_no_diff() -> None:
    assert unified("a.py", "x\n", "x\n") == ""


def test_a_diff_names_both_sides_and_the_hunk() -> None:
    assert unified("src/a.py", "one\ntwo\n", "one\n2\n").splitlines() == [
        "diff --git a/src/a.py b/src/a.py",
        "--- a/src/a.py",
        "+++ b/src/a.py",
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "+2",
    ]


def test_a_missing_last_line_feed_is_said_for_each_side() -> None:
    diff = unified("a.py", "x", "y")
    assert diff.endswith("-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n")


def test_carriage_returns_stay_in_the_lines() -> None:
    assert "-b\r\n+c\r\n" in unified("a.py", "a\r\nb\r\n", "a\r\nc\r\n")


def test_stat_counts_lines_and_not_headers() -> None:
    before, after = "-- sql\n++ c\nkeep\n", "keep\nnew\n"
    assert stat(unified("a.py", before, after)) == Stat(added=1, removed=2)
    assert stat("") == Stat(0, 0)
