"""What stands around a case changes nothing of what a rule finds in it, and makes nothing of it surer."""

from __future__ import annotations

import pytest

from tests.codemods.around import AROUND, put
from tests.codemods.neutrality import fired, outcome
from tests.codemods.support import run_rules

LOST = {
    ("TBP108-0", "subclass"): "what the class and its Trainer say is one finding where it is left to a person",
}
"""What vanishes, by example and surroundings, each with the reason."""
CASES = fired()


@pytest.mark.parametrize("around", AROUND)
def test_nothing_vanishes(around: str) -> None:
    every = [(case, files) for case in CASES if (files := put(case, around))]
    assert len(every) > 5
    made = [outcome(case, around, 0, files) for case, files in every]
    lost = {(item.fired.name, around) for item in made if item.kind in ("vanished", "crashed")}
    assert lost == {known for known in LOST if known[1] == around}
    assert sum(item.kind == "kept" for item in made) >= 0.85 * len(made)


@pytest.mark.parametrize("around", AROUND)
def test_no_rewrite_is_thrown_away(around: str) -> None:
    made = [
        run_rules(files, case.rule, unsafe=True, pins=case.example.pins)
        for case in CASES
        if (files := put(case, around))
    ]
    assert any(item.changes for item in made)
    assert [item.bugs for item in made if item.bugs] == []
