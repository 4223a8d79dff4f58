"""What stands around a case changes nothing of what a rule finds in it, and makes nothing of it surer."""

from __future__ import annotations

import pytest

from tests.codemods.around import AROUND, mixin_of_all, put
from tests.codemods.neutrality import fired, outcome
from tests.codemods.support import run_rules

ONE = "what the class and its Trainer say is one finding where it is left to a person"
TAKEN = "open: of what a module of the project takes from Lightning, classes and Trainers alone are known to others"
LOST = {
    ("TBP108-0", "subclass"): ONE,
    ("TBP108-0", "mixin of all"): ONE,
    **{(name, "own import"): TAKEN for name in (
        "BWD007-0", "BWD007-3", "LIT001-0", "LIT004-0", "LIT004-1", "LIT113-1", "LIT114-0", "LIT117-0", "LIT130-0",
        "LIT130-1", "LIT214-0", "LIT223-0", "LIT225-0", "TBP103-0", "TBP105-0", "TBP108-0",
    )},
}  # fmt: skip
"""What vanishes, by example and surroundings, each with the reason."""
CASES = fired()


@pytest.mark.parametrize("around", AROUND)
def test_nothing_vanishes(around: str) -> None:
    every = [(case, files) for case in CASES if (files := put(case, around))]
    assert len(every) > 5
    made = [outcome(case, around, 0, files) for case, files in every]
    lost = {(item.fired.name, around) for item in made if item.kind in ("vanished", "crashed")}
    assert lost == {known for known in LOST if known[1] == around}
    assert sum(item.kind == "kept" for item in made) >= 0.85 * (len(made) - len(lost))


@pytest.mark.parametrize("around", AROUND)
def test_no_rewrite_is_thrown_away(around: str) -> None:
    made = [
        run_rules(files, case.rule, unsafe=True, pins=case.example.pins)
        for case in CASES
        if (files := put(case, around))
    ]
    assert any(item.changes for item in made)
    assert [item.bugs for item in made if item.bugs] == []


def test_what_lightning_stands_in_front_of_is_not_rewritten() -> None:
    """Of a class that is mixed in behind Lightning's, Python takes no hook and runs no constructor."""
    made = [
        (case.name, run_rules(files, case.rule, pins=case.example.pins))
        for case in CASES
        if case.rule.code[:3] in ("TBP", "OPT", "BWD") and (files := mixin_of_all(case.example.before, behind=True))
    ]
    assert len(made) > 20
    assert [(name, item.findings[0].message) for name, item in made if item.changes] == []
