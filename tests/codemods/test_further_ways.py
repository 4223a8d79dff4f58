"""No way to write an argument of Trainer is silent, and what is rewritten gives Trainer what the direct way does."""

from __future__ import annotations

import pytest

from tests.codemods.fake_lightning import trained
from tests.codemods.further_ways import WAYS, files_of
from tests.codemods.ways import Case, outcome, planned, ways

CASES = (
    Case("weights_summary", "None"),
    Case("gpus", "2"),
    Case("process_position", "3"),
    Case("distributed_backend", "'ddp'"),
    Case("strategy", "'dp'"),
    Case("max_steps", "None"),
)
"""Arguments that are gone, and two that are not, of which a value is."""
REWRITTEN = ("dataclass as a dictionary", "named tuple", "two dictionaries")


def _given(files: dict[str, str]) -> list[str]:
    plan = planned(files)
    assert plan.bugs == ()
    final = plan.final()
    return trained({path: final[path].decode() if path in final else text for path, text in files.items()})


@pytest.mark.parametrize("way", WAYS)
def test_no_way_is_silent(way: str) -> None:
    assert [case for case in CASES if outcome(planned(files_of(way, case))) == "silent"] == []


@pytest.mark.parametrize("way", REWRITTEN)
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.argument not in ("weights_summary", "process_position")]
)
def test_what_is_rewritten_is_the_same(way: str, case: Case) -> None:
    files = files_of(way, case)
    if outcome(planned(files)) == "rewritten":
        assert _given(files) == _given(ways(case)["direct"])
