"""An argument of Trainer is found, and rewritten to the same, whatever way it is written in."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from functools import cache

import pytest

from codemods.engine.plan import Plan
from tests.codemods.fake_lightning import trained
from tests.codemods.ways import Case, cases, outcome, planned, ways

SAMPLE = 12
"""So many arguments are tried besides those that are always; `python -m tests.codemods.ways` tries all."""
ALWAYS = (Case("weights_summary", "None"), Case("max_steps", "None"), Case("gpus", "2"), Case("process_position", "3"))
NAMES = tuple(ways(ALWAYS[0]))
ENOUGH = 0.85
UNCERTAIN = frozenset({"argparse"})
"""Ways in which a value is one that the user may change when the program is started."""


@cache
def rewritten_directly() -> Mapping[Case, list[str]]:
    """Some cases that are rewritten when they are written directly, with what their Trainer is then given."""
    others = random.Random(17).sample([case for case in cases() if case not in ALWAYS], SAMPLE)
    made = {case: planned(ways(case)["direct"]) for case in (*ALWAYS, *others)}
    return {case: given(case, "direct", plan) for case, plan in made.items() if outcome(plan) == "rewritten"}


def given(case: Case, way: str, plan: Plan) -> list[str]:
    """What the Trainer of a rewritten program is given."""
    assert plan.bugs == ()
    final = plan.final()
    files = ways(case)[way]
    return trained({path: final[path].decode() if path in final else text for path, text in files.items()})


@pytest.mark.parametrize("way", NAMES[1:])
def test_each_way_says_and_gives_what_the_direct_one_does(way: str) -> None:
    counted = Counter[str]()
    assert len(rewritten_directly()) > len(ALWAYS)
    for case, wanted in rewritten_directly().items():
        plan = planned(ways(case)[way])
        counted[outcome(plan)] += 1
        if outcome(plan) == "rewritten" and way not in UNCERTAIN:
            assert given(case, way, plan) == wanted, case
    assert counted["silent"] == 0
    assert way in UNCERTAIN or counted["rewritten"] >= ENOUGH * counted.total()


def test_there_are_ways_enough() -> None:
    assert len(NAMES) >= 14
    assert ways(ALWAYS[0])["direct"]["train.py"].count("weights_summary=None") == 1


TRAPS = {
    "a name that is bound again": "limit = None\nlimit = 5\npl.Trainer(max_steps=limit)\n",
    "a parameter of which a call is not seen": "def go(limit=5):\n    pl.Trainer(max_steps=limit)\n\n\nrun(go)\n",
    "an attribute of another class": "class A:\n    limit = None\n\n\nclass B:\n    limit = 5\n\n\n"
    "pl.Trainer(max_steps=B.limit)\n",
    "a name that is not None there": "if limit is not None:\n    pl.Trainer(max_steps=limit)\n",
    "a Trainer that says it itself": "class Own(pl.Trainer):\n    def __init__(self, max_steps):\n"
    "        super().__init__(max_steps=max_steps or -1)\n\n\nOwn(max_steps=None)\n",
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_what_cannot_be_is_not_found(trap: str) -> None:
    text = f"import pytorch_lightning as pl\n\n{TRAPS[trap]}"
    assert [item for item in planned({"train.py": text}).findings if item.code == "STP004"] == []


LEFT = {
    "a parameter that may be something else": "def go(summary=None):\n    pl.Trainer(weights_summary=summary)\n\n\n"
    "run(go)\n",
    "a partial that is called twice": "from functools import partial\n\n"
    "make = partial(pl.Trainer, weights_summary=None)\nmake()\nmake(max_epochs=1)\n",
    "a dictionary that is used elsewhere": "o = {'weights_summary': None}\npl.Trainer(**o)\nsave(o)\n",
    "values that become different things": "def go(x):\n    pl.Trainer(weights_summary=None if x else 'full')\n\n\n"
    "go(1)\n",
}  # fmt: skip


@pytest.mark.parametrize("left", LEFT)
def test_what_cannot_be_proved_is_left_to_a_person(left: str) -> None:
    text = f"import pytorch_lightning as pl\n\n{LEFT[left]}"
    plan = planned({"train.py": text})
    assert plan.changes == ()
    assert {item.fix for item in plan.findings if item.row == "M045"} == {"manual"}
