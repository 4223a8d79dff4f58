"""What stands around a case changes nothing of what a rule finds in it, and makes nothing of it surer."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable

import pytest

from codemods.testing.around import AROUND, mixin_of_all, put
from codemods.testing.neutrality import Fired, look, outcome
from tests.codemods.support import fired_examples, run_rules

ONE = "what the class and its Trainer say is one finding where it is left to a person"
LOST = {("TBP108-0", "subclass"): ONE}
"""What vanishes, by example and surroundings, each with the reason."""
AGAIN = {"BWD004-0": "what keeps the nodes may be what the other file means by the name"}
"""What is left to a person where another file says the same, by example."""
ELSEWHERE = "what keeps the nodes, or the hook, may be what the other class uses"
WHICH = "there are two classes of the name, and which one others mean is not known"
BESIDE = {
    **dict.fromkeys(("BWD004-0", "BWD004-1"), ELSEWHERE),
    **dict.fromkeys(("LIT201-0", "LIT201-1", "LIT201-2", "LIT201-3", "OPT001-0", "OPT002-0", "OPT002-1"), WHICH),
    **dict.fromkeys(("TBP001-0", "TBP001-1"), WHICH),
}
"""What is left to a person where the file has a class twice, by example."""
STEP = 1 if os.environ.get("FIXER_NEUTRAL") else 3
"""Every which example is rewritten in each of the surroundings, in each one others; all of them where FIXER_NEUTRAL is
set."""


@pytest.mark.parametrize("around", AROUND)
def test_nothing_vanishes(around: str) -> None:
    every = [(case, files) for case in fired_examples() if (files := put(case, around))]
    assert len(every) > 5
    made = [outcome(case, around, 0, files) for case, files in every]
    lost = {(item.fired.name, around) for item in made if item.kind in ("vanished", "crashed")}
    assert lost == {known for known in LOST if known[1] == around}
    assert sum(item.kind == "kept" for item in made) >= 0.85 * (len(made) - len(lost))


Region = tuple[str, int, int]
"""A file, and its lines from one to another."""


def whole(case: Fired, files: dict[str, str]) -> list[Region]:
    return [(path, 1, text.count("\n") + 1) for path, text in files.items()]


def classes(case: Fired, files: dict[str, str]) -> list[Region]:
    """The classes that have the name of the last one of an example."""
    names = [node.name for node in ast.parse(case.example.before).body if isinstance(node, ast.ClassDef)]
    nodes = [node for node in ast.walk(ast.parse(files["train.py"])) if isinstance(node, ast.ClassDef)]
    return [("train.py", node.lineno, node.end_lineno or 0) for node in nodes if node.name == names[-1]]


def found_in(case: Fired, files: dict[str, str], regions: list[Region]) -> list[list[tuple[str, int, str]]]:
    """What is found in each region: by which code, in which line of it, and how sure."""
    found = look(files, case.rule, case.example.pins)
    return [
        sorted(
            (item.code, item.span.line - first, item.fix)
            for item in found
            if item.path == path and first <= item.span.line <= last
        )
        for path, first, last in regions
    ]


@pytest.mark.parametrize(
    ("around", "regions", "lower"),
    [("twice", whole, AGAIN), ("two classes", classes, BESIDE), ("class in branches", classes, BESIDE)],
)
def test_each_copy_is_found(
    around: str, regions: Callable[[Fired, dict[str, str]], list[Region]], lower: dict[str, str]
) -> None:
    missing, lowered = [], set()
    for case in fired_examples():
        if (files := put(case, around)) is None:
            continue
        (alone,) = found_in(case, case.files, regions(case, case.files))
        made = found_in(case, files, regions(case, files))
        first, second = ([place for *place, _ in copy] for copy in made)
        if not first == second == [place for *place, _ in alone]:
            missing.append((case.name, made))
        elif made != [alone, alone]:
            lowered.add(case.name)
    assert missing == [] and lowered == set(lower)


@pytest.mark.parametrize("around", AROUND)
def test_no_rewrite_is_thrown_away(around: str) -> None:
    every = [(case, files) for case in fired_examples() if (files := put(case, around))]
    step = STEP if len(every) > 30 else 1
    made = [
        run_rules(files, case.rule, unsafe=True, pins=case.example.pins)
        for case, files in every[[*AROUND].index(around) % step :: step]
    ]
    assert any(item.changes for item in made)
    assert [item.bugs for item in made if item.bugs] == []


def test_what_lightning_stands_in_front_of_is_not_rewritten() -> None:
    """Of a class that is mixed in behind Lightning's, Python takes no hook and runs no constructor."""
    made = [
        (case.name, run_rules(files, case.rule, pins=case.example.pins))
        for case in fired_examples()
        if case.rule.code[:3] in ("TBP", "OPT", "BWD") and (files := mixin_of_all(case.example.before, behind=True))
    ]
    assert len(made) > 20
    assert [(name, item.findings[0].message) for name, item in made if item.changes] == []
