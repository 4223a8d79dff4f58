"""A verdict for each commit, of what was executed of what it changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codemods.engine.plan import Change, plan
from fixer import proof
from fixer.groups import steps_of
from fixer.pipeline import exit_code
from fixer.project import open_commit
from fixer.proof import ProofOptions, prove_plan
from fixer.pulls.body import Templates, body
from fixer.pulls.life import PullRequestMemo
from fixer.reports import OutputFormat, render
from fixer.reports.evidence_list import left_of, outcome_of
from fixer.reports.notes import notes
from fixer.result import Commit, Result
from fixer.settings import SharedOptions, options_for, sources_of
from fixer.shares import with_shares
from tests.fixer.command import old_project
from tests.fixer.test_culprits import TRAINED, rename
from verify.evidence import Evidence, FileCoverage, Rung
from verify.judging.executed_parts import parts
from verify.judging.record import RunRecord
from verify.reading.sources import Sources
from verify.request import Request

FIVE = tuple(f"BAD{number:03}" for number in range(5))


@pytest.fixture
def five(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    """Five codemods that move code to the target, each in a file of its own; the training executes the first."""
    files = {f"part{number}.py": b"def f():\n    return old_%d\n" % number for number in range(1, 5)}
    files["train.py"] = b"print(old_0)\n"
    project = open_commit(old_project(tmp_path / "project", files), None)
    rules = tuple(replace(rename(number, f"new_{number}"), breaks_in="2.0.0") for number in range(5))
    options = replace(options_for(SharedOptions(project.root), project), rules=rules)
    made = plan(sources_of(project), options)

    def judged(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        run = RunRecord(TRAINED, loaded=("train.py", "part1.py"), calls=())
        old, new = Sources(before), Sources(after)
        left = tuple(path for path in request.changed if path != "train.py")
        found = Evidence("", (), "same", "preserved", "1 losses are the same", (), TRAINED, TRAINED, 0.0, 1e-6)
        return replace(found, unexecuted=left, touched=parts(old, new, request.changed, [run]))

    monkeypatch.setattr(proof, "prove", judged)
    kept, evidence = prove_plan(project, sources_of(project), options, made, ProofOptions(), lambda text: None)
    commits = tuple(
        Commit(f"{number:040x}", step.code, step.group, step.subject, step.findings)
        for number, step in enumerate(steps_of(kept, options))
    )
    return Result("run", "a" * 40, "2.6.6", branch="fixer/x", commits=commits, evidence=evidence,
                  findings=kept.findings)  # fmt: skip


def test_of_five_commits_the_one_that_was_executed_is_preserved(five: Result) -> None:
    outcomes = {commit.code: outcome_of(five, commit) for commit in five.commits}
    assert outcomes == {"BAD000": "preserved", **dict.fromkeys(FIVE[1:], "not executed")}
    (group,) = five.evidence
    assert (group.verdict, group.outcome) == ("preserved", "preserved in part")
    assert [file.path for file in group.touched if not file.is_covered] == [f"part{n}.py" for n in range(1, 5)]
    assert [file.how for file in group.touched] == ["not called", *["not loaded"] * 3, "executed"]


def test_each_commit_has_a_note_of_its_own(five: Result) -> None:
    told = notes(five)
    assert len(set(told.values())) == len(told) == 5
    first, second, third = (told[commit.id] for commit in five.commits[:3])
    assert first.startswith("preserved (rung: same)\n\nexecuted: train.py ran\n")
    assert second.startswith("not executed\n\nnot executed: part1.py was loaded, but nothing that was changed in it")
    assert third.startswith("not executed\n\nnot executed: part2.py was not loaded by the run\n")
    for commit, text in zip(five.commits, (told[commit.id] for commit in five.commits), strict=True):
        own = "train.py" if commit.code == "BAD000" else f"part{int(commit.code[3:])}.py"
        others = {f"part{n}.py" for n in range(1, 5)} - {own}
        assert own in text and not any(other in text for other in others), "a note is about its own files"
        assert "preserved in part (rung: same)" in text


@pytest.mark.parametrize("kind", [OutputFormat.markdown, OutputFormat.html, OutputFormat.text, OutputFormat.json])
def test_reports_say_it_of_each_commit(five: Result, kind: OutputFormat) -> None:
    text = render(five, kind, {})
    assert "preserved in part" in text and text.count("not executed") >= 4
    assert "part3.py" in text


def test_a_pull_request_says_it_of_each_commit(five: Result) -> None:
    told = body(five, Templates(), PullRequestMemo(""), (), {})
    assert told.count("**not executed**") == 4 and told.count(": **preserved**") == 1
    assert "### `lightning-2.6.6`: preserved in part" in told
    assert left_of(five, five.commits[2])[0].text == "part2.py was not loaded by the run"


@pytest.mark.parametrize(("required", "code"), [("conforms", 0), ("trains", 1), ("same", 1)])
def test_a_rung_that_is_asked_for_is_asked_of_every_file(five: Result, required: Rung, code: int) -> None:
    assert exit_code(five, require=required) == code
    (group,) = five.evidence
    whole = replace(
        group, touched=(FileCoverage("train.py", "executed"), FileCoverage("requirements.txt", "not installed"))
    )
    assert exit_code(replace(five, evidence=(whole,)), require=required) == 0, "a manifest is on no rung"


OLD = b"import a\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 1\n"
BASE = Evidence("g", ("A", "B", "C"), "same", "preserved", "It is.")


def shares(file: FileCoverage, *changes: tuple[str, bytes, bytes]) -> dict[str, tuple[str, str]]:
    made = [Change(code, "m.py", before, after) for code, before, after in changes]
    found = with_shares(replace(BASE, codes=tuple(dict.fromkeys(one.code for one in made)), touched=(file,)), made)
    return {share.code: (share.outcome, share.files[0].how) for share in found.shares}


def test_codemods_that_changed_other_functions_of_one_file_are_told_apart() -> None:
    first = OLD.replace(b"def f():\n    return 1", b"def f():\n    return 2")
    second = first.replace(b"def g():\n    return 1", b"def g():\n    return 2")
    third = second.replace(b"import a", b"import b")
    fourth = third.replace(b"import b", b"import b  # noqa")
    file = FileCoverage("m.py", "executed", ("f",), ("g",))
    assert shares(file, ("A", OLD, first), ("B", first, second), ("C", second, third), ("D", third, fourth)) == {
        "A": ("preserved", "executed"),
        "B": ("not executed", "not called"),
        "C": ("preserved", "executed"),
        "D": ("preserved", "same code"),
    }


def test_an_import_that_works_says_nothing_of_a_function_that_was_not_called() -> None:
    new = OLD.replace(b"import a", b"import a\nimport b").replace(
        b"def g():\n    return 1", b"def g():\n    return b.x"
    )
    assert shares(FileCoverage("m.py", "executed", ("f",), ("g",)), ("A", OLD, new)) == {
        "A": ("not executed", "not called")
    }
    outside = new + b"x = 1\n"
    assert shares(FileCoverage("m.py", "executed", ("f",), ("g",)), ("A", OLD, outside)) == {
        "A": ("preserved", "executed")
    }


def test_the_arguments_of_a_trainer_count_for_what_changed_them_alone() -> None:
    first = OLD.replace(b"def f():\n    return 1", b"def f():\n    return 2")
    second = first.replace(b"def g():\n    return 1", b"def g():\n    return 2")
    third = second + b"x = 1\n"
    file = FileCoverage("m.py", "arguments", argued=("f",))
    assert shares(file, ("A", OLD, first), ("B", first, second), ("C", second, third)) == {
        "A": ("preserved in part", "arguments"),
        "B": ("not executed", "not called"),
        "C": ("not executed", "not called"),
    }
    outside = FileCoverage("m.py", "arguments", argued=("<module>",))
    assert shares(outside, ("C", second, third)) == {"C": ("preserved in part", "arguments")}
    ran = FileCoverage("m.py", "executed", ("g",), argued=("f",))
    assert shares(ran, ("A", OLD, first), ("B", first, second)) == {
        "A": ("preserved in part", "arguments"),
        "B": ("preserved", "executed"),
    }


@pytest.mark.parametrize(
    ("code", "argued", "verdict"), [("A", "f", "preserved"), ("B", "f", "inconclusive"), ("B", "g", "preserved")]
)
def test_a_group_that_changed_other_functions_has_nothing_of_the_arguments(
    code: str, argued: str, verdict: str
) -> None:
    first = OLD.replace(b"def f():\n    return 1", b"def f():\n    return 2")
    second = first.replace(b"def g():\n    return 1", b"def g():\n    return 2")
    made = [Change("A", "m.py", OLD, first), Change("B", "m.py", first, second)]
    whole = replace(BASE, codes=(code,), touched=(FileCoverage("m.py", "arguments", argued=(argued,)),))
    found = proof._of_arguments(with_shares(whole, made))
    assert found.verdict == verdict
    assert (found.reason == f"nothing was executed of what {code} changed") is (verdict == "inconclusive")
    manifest = replace(BASE, codes=("A",), touched=(FileCoverage("m.py", "not installed"),))
    assert proof._of_arguments(with_shares(manifest, made)).verdict == "preserved", "there were no arguments"


def test_a_commit_of_which_one_file_ran_is_preserved_in_part() -> None:
    made = [Change("A", path, OLD, OLD + b"x = 1\n") for path in ("m.py", "n.py")]
    touched = (FileCoverage("m.py", "executed"), FileCoverage("n.py", "not loaded"))
    found = with_shares(replace(BASE, codes=("A",), touched=touched), made)
    assert [share.outcome for share in found.shares] == ["preserved in part"]
    assert with_shares(replace(found, verdict="changed"), made).shares[0].outcome == "changed"
    none = with_shares(replace(BASE, codes=("A",), touched=touched[1:]), made[1:])
    assert [share.outcome for share in none.shares] == ["not executed"]
