"""Finding the codemods that regress among many: by halving, and with a proof that only looks at the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import libcst as cst
import pytest

from codemods.code.source import PythonFile
from codemods.engine.plan import plan
from codemods.lightning.facts import Facts
from codemods.rule import Match, NodeEdit, Rule
from fixer import proof
from fixer.culprits import TRIALS, narrow
from fixer.project import open_commit
from fixer.proof import ProofOptions, prove_plan
from fixer.settings import SharedOptions, options_for, sources_of
from tests.fixer.command import old_project
from verify.budget import Budget, Clock
from verify.evidence import Alone, Evidence, Fact, Failure, Recording, Verdict
from verify.request import Request

TRAINED = Recording("train.py", True, None, (1.0,), (), ((0.1,),), 1, 1, 1, (), (), "cpu", "32", 1.0)
MANY = tuple(f"code{number:02}" for number in range(32))


@pytest.mark.parametrize(
    ("culprits", "most"),
    [({"code00"}, 10), ({"code31"}, 10), ({"code13"}, 10), ({"code03", "code29"}, 20), ({"code14", "code15"}, 20)],
)
def test_few_trials_find_all_culprits_and_nobody_else(culprits: set[str], most: int) -> None:
    trials: list[frozenset[str]] = []

    def works(gone: frozenset[str]) -> bool:
        trials.append(gone)
        return culprits <= gone

    assert set(narrow(MANY, works)) == culprits
    assert len(trials) <= most


def rename(number: int, new: str) -> Rule:
    """A rule that renames one name."""
    old = f"old_{number}"

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Name) and node.id == old:
                yield Match(
                    file.span(node), f"`{old}`", "safe", "Certainly.", edits=(NodeEdit(node, lambda _: cst.Name(new)),)
                )

    return Rule(
        code=f"BAD{number:03}",
        name=f"rename-{number}",
        summary="One name becomes another",
        why="To see which of them lands.",
        fix="safe",
        versions="all",
        triggers=(old.encode(),),
        check=check,
        examples=(),
    )


@pytest.mark.parametrize(("bad", "rest"), [({5}, "preserved"), ({0, 11}, "preserved"), ({5}, "inconclusive")])
def test_the_culprits_are_taken_out_and_the_rest_lands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: set[int], rest: Verdict
) -> None:
    """Also where a script still trains that executes nothing of what is left."""
    lines = b"".join(b"print(old_%d)\n" % number for number in range(12))
    project = open_commit(old_project(tmp_path / "project", {"train.py": lines}), None)
    rules = tuple(rename(number, f"{'broken' if number in bad else 'new'}_{number}") for number in range(12))
    options = replace(options_for(SharedOptions(project.root), project), rules=rules)
    made = plan(sources_of(project), options)
    proofs: list[str] = []

    def judged(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        text = (after / "train.py").read_text()
        proofs.append(text)
        failed = "broken" in text
        verdict: Verdict = "regressed" if failed else rest
        return Evidence("", (), None, verdict, "it broke", before=TRAINED, after=replace(TRAINED, fitted=not failed))

    monkeypatch.setattr(proof, "prove", judged)
    kept, evidence = prove_plan(project, sources_of(project), options, made, ProofOptions(), lambda text: None)
    codes = {f"BAD{number:03}" for number in bad}
    assert {item.codes[0] for item in evidence if item.verdict == "regressed"} == codes
    assert {change.code for change in kept.changes} == {rule.code for rule in rules} - codes
    assert {finding.code for finding in kept.findings if not finding.applied} == codes
    assert all("it broke" in finding.reason for finding in kept.findings if finding.code in codes)
    assert len(proofs) <= TRIALS + 1


@pytest.mark.parametrize("alone", [False, True])
def test_a_group_of_which_nothing_was_executed_is_not_proven_by_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    """Nor does it keep the others from landing where a third one regresses."""
    files = {"train.py": b"print(old_0)\nprint(old_2)\n", "other.py": b"print(old_1)\n"}
    project = open_commit(old_project(tmp_path / "project", files), None)
    rules = (rename(0, "new_0"), rename(1, "new_1"), rename(2, "broken_2"))
    options = replace(options_for(SharedOptions(project.root), project), rules=rules)
    made = plan(sources_of(project), options)
    parts = (Alone("train.py:M", "", "", (), "preserved", "same", "", 0.0, 1e-6, TRAINED, TRAINED),) if alone else ()

    def judged(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        failed = "broken" in (after / "train.py").read_text()
        now = replace(TRAINED, fitted=not failed)
        good = Evidence("", (), "same", "preserved", "all is well", (), TRAINED, now, 0.0, 1e-6, alone=parts)
        left = tuple(path for path in request.changed if path == "other.py")
        return replace(good, verdict="regressed" if failed else "preserved", unexecuted=left)

    monkeypatch.setattr(proof, "prove", judged)
    kept, evidence = prove_plan(project, sources_of(project), options, made, ProofOptions(), lambda text: None)
    assert {change.code for change in kept.changes} == {"BAD000", "BAD001"}
    told = {item.codes: (item.verdict, item.rung, item.max_difference) for item in evidence}
    assert told[("BAD000",)] == ("preserved", "same", 0.0)
    assert told[("BAD001",)] == ("inconclusive", "conforms", None)
    assert evidence[-1].reason == "nothing was executed of what BAD001 changed"
    assert Fact("also", "the runs: all is well") in evidence[-1].facts


@pytest.mark.parametrize("alone", [False, True])
def test_where_the_trace_points_is_tried_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: bool) -> None:
    """Also that of a module which is not the first of those that were trained alone."""
    lines = b"".join(b"print(old_%d)\n" % number for number in range(12))
    project = open_commit(old_project(tmp_path / "project", {"train.py": lines}), None)
    rules = tuple(rename(number, f"{'broken' if number == 7 else 'new'}_{number}") for number in range(12))
    options = replace(options_for(SharedOptions(project.root), project), rules=rules)
    made = plan(sources_of(project), options)
    proofs: list[str] = []
    ended = replace(TRAINED, fitted=False, failure=Failure("NameError", "broken_7", "train.py:8"))
    good = Alone("a.py:A", "", "", (), "preserved", "same", "", 0.0, 1e-6, TRAINED, TRAINED)
    bad = replace(good, module="train.py:M", verdict="regressed", after=ended)

    def judged(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        proofs.append((after / "train.py").read_text())
        if "broken" not in proofs[-1]:
            return Evidence("", (), "same", "preserved", "all is well")
        wrong = Evidence("", (), None, "regressed", "it broke")
        return replace(wrong, alone=(good, bad), after=TRAINED) if alone else replace(wrong, after=ended)

    monkeypatch.setattr(proof, "prove", judged)
    kept, _ = prove_plan(project, sources_of(project), options, made, ProofOptions(), lambda text: None)
    assert {change.code for change in kept.changes} == {rule.code for rule in rules} - {"BAD007"}
    assert len(proofs) == 2


@pytest.mark.parametrize(
    ("odd", "moving", "said"),
    [
        ({1}, set(), "BAD001 at train.py:2: `old_1`"),
        ({0, 2}, {3}, "BAD000 at train.py:1: `old_0`; BAD002 at train.py:3: `old_2`"),
        ({1}, {0, 1}, "one of BAD000, BAD001, none of which can be left out alone"),
        ({1}, {0, 1, 2, 3}, "one of BAD000, BAD001, BAD002, BAD003, none of which can be left out alone"),
    ],
)
def test_other_numbers_are_explained_by_what_they_are_not_there_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: set[int], moving: set[int], said: str
) -> None:
    lines = b"".join(b"print(old_%d)\n" % number for number in range(5))
    project = open_commit(old_project(tmp_path / "project", {"train.py": lines}), None)
    rules = [rename(number, f"{'odd' if number in odd else 'new'}_{number}") for number in range(4)]
    rules = [replace(rule, breaks_in="2.0.0" if number in moving else None) for number, rule in enumerate(rules)]
    options = replace(options_for(SharedOptions(project.root), project), rules=(*rules, rename(4, "broken_4")))
    made = plan(sources_of(project), options)
    looked: list[str] = []

    def judged(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        text = (after / "train.py").read_text()
        looked.append(text)
        verdict: Verdict = "regressed" if "broken" in text else "changed" if "odd" in text else "preserved"
        return Evidence("", (), "trains", verdict, "so it is")

    monkeypatch.setattr(proof, "prove", judged)
    kept, evidence = prove_plan(project, sources_of(project), options, made, ProofOptions(), lambda text: None)
    assert {change.code for change in kept.changes} == {rule.code for rule in rules}
    reasons = {"; ".join(fact.text for fact in item.facts if fact.kind == "explained by") for item in evidence[1:]}
    assert {item.verdict for item in evidence[1:]} == {"changed"}
    assert reasons == {said}
    assert len(looked) <= TRIALS


def test_where_nothing_helps_nothing_lands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = open_commit(old_project(tmp_path / "project", {"train.py": b"print(old_0, old_1)\n"}), None)
    rules = (rename(0, "new_0"), replace(rename(1, "new_1"), last=True))
    options = replace(options_for(SharedOptions(project.root), project), rules=rules)
    made = plan(sources_of(project), options)
    wrong = Evidence("", (), None, "regressed", "it broke")
    monkeypatch.setattr(proof, "prove", lambda *_: wrong)
    kept, evidence = prove_plan(project, sources_of(project), options, made, ProofOptions(), lambda text: None)
    assert kept.changes == ()
    assert {item.verdict for item in evidence} == {"regressed"}
    assert {finding.applied for finding in kept.findings} == {False}


@pytest.mark.parametrize(("last", "gone"), [(0, {"BAD000", "BAD001", "BAD002", "BAD003"}), (1, {"BAD000", "BAD001"})])
def test_without_time_for_trials_what_works_is_taken_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int, gone: set[str]
) -> None:
    """The fewest that it is known to work without go, where the budget ends after so many trials."""
    lines = b"".join(b"print(old_%d)\n" % number for number in range(4))
    project = open_commit(old_project(tmp_path / "project", {"train.py": lines}), None)
    rules = tuple(rename(number, f"{'broken' if number == 0 else 'new'}_{number}") for number in range(4))
    options = replace(options_for(SharedOptions(project.root), project), rules=rules)
    made = plan(sources_of(project), options)
    clock, proofs = Clock(Budget(600, further="go on"), lambda: 0.0), list[str]()

    def judged(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        assert request.clock is clock
        text = (after / "train.py").read_text()
        proofs.append(text)
        if len(proofs) > last + 1:
            clock.ended("train.py")
            return Evidence("", (), None, "inconclusive", "it was cut")
        failed = "broken" in text
        verdict: Verdict = "regressed" if failed else "preserved"
        return Evidence("", (), None, verdict, "it broke", before=TRAINED, after=replace(TRAINED, fitted=not failed))

    monkeypatch.setattr(proof, "prove", judged)
    how = ProofOptions(clock=clock)
    kept, evidence = prove_plan(project, sources_of(project), options, made, how, lambda text: None)
    assert {finding.code for finding in made.findings} - {change.code for change in kept.changes} == gone
    dropped = [item for item in evidence if item.verdict == "regressed"]
    assert {code for item in dropped for code in item.codes} == gone
    told = "the budget of 10 min ended before this was done: finding the change that fails; go on"
    assert all(told in item.reason for item in dropped), dropped
