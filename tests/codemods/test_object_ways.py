"""An argument of a callback, a logger or a profiler is found, and rewritten to the same, whatever way it is written
in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

import pytest

from codemods.engine.plan import Plan
from tests.codemods.fake_lightning import used
from tests.codemods.object_ways import Given, given, planned, ways
from tests.codemods.ways import outcome

CASES = tuple(given())
NAMES = tuple(ways(CASES[0]))
ENOUGH, OF_SOME = 0.85, 0.8
IN_OTHERS = ("subclass of another file", "handed on in another file", "dict of a variable")
"""Ways in which every argument is tried, also those that are left to a person."""
SOME = "argparse"
"""The way in which a value is one that the user may change when the program is started."""
LEVELS = frozenset(
    case
    for case in CASES
    if (case.argument == "period" and int(case.value) < 1)
    or (case.argument == "prefix" and case.value in ("None", "''"))
)
"""Values that go when they are written out, and of an option keep their place with the others."""


@cache
def rewritten_directly() -> Mapping[Given, list[str]]:
    """The cases that are rewritten when they are written directly, with what is then handed to `use`."""
    made = {case: planned(ways(case)["direct"]) for case in CASES}
    return {case: _used(case, "direct", plan) for case, plan in made.items() if outcome(plan) == "rewritten"}


def _used(case: Given, way: str, plan: Plan) -> list[str]:
    assert plan.bugs == ()
    final, files = plan.final(), ways(case)[way]
    return used({path: final[path].decode() if path in final else text for path, text in files.items()})


@pytest.mark.parametrize("way", NAMES[1:])
def test_each_way_gives_what_the_direct_one_does(way: str) -> None:
    counted = Counter[str]()
    for case, wanted in rewritten_directly().items():
        plan = planned(ways(case)[way])
        counted[outcome(plan)] += 1
        if outcome(plan) == "rewritten":
            made = _used(case, way, plan)
            same = [text.replace("Own", case.name) for text in made] == wanted
            assert same or (way == SOME and case in LEVELS), case
    assert counted.total() > 10
    assert counted["silent"] == 0
    assert counted["rewritten"] >= (OF_SOME if way == SOME else ENOUGH) * counted.total()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_none_is_silent(case: Given) -> None:
    for way in IN_OTHERS:
        assert planned(ways(case)[way]).findings, way


HEAD = "from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n\n"
TRAPS = {
    "a class that says the monitor itself": "class Own(EarlyStopping):\n    def __init__(self, **given):\n"
    "        super().__init__(monitor='loss', **given)\n\n\nOwn(patience=3)\n",
    "a class that has the argument itself": "class Own(ModelCheckpoint):\n    def __init__(self, period=1):\n"
    "        super().__init__(every_n_epochs=period)\n\n\nOwn(period=2)\n",
    "a name of its own": "Build = ModelCheckpoint\n\n\ndef go():\n    Build = find()\n    Build(period=2)\n",
    "a name of a function around": "def main(Build):\n    Build(period=2)\n",
    "a dictionary for another class": "options = {'period': 2}\nfind(**options)\nModelCheckpoint(monitor='a')\n",
    "a factory of something else": "def build(**given):\n    return find(**given)\n\n\nbuild(period=2)\n",
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_what_is_no_argument_of_lightnings_is_not_found(trap: str) -> None:
    assert planned({"train.py": HEAD + TRAPS[trap]}).findings == ()


LEFT = {
    "a dictionary that is used elsewhere": "options = {'period': 2}\nsave(options)\nModelCheckpoint(**options)\n",
    "a dictionary for two classes": "options = {'period': 2}\nModelCheckpoint(**options)\nfind(**options)\n",
    "a partial that is called twice": "from functools import partial\n\nmake = partial(ModelCheckpoint, period=2)\n"
    "make()\nmake(monitor='a')\n",
    "a dictionary of another file": "import settings\n\nModelCheckpoint(**settings.OPTIONS)\n",
    "two that would be one": "ModelCheckpoint(**{'period': 2, 'every_n_epochs': 1})\n",
    "a default": "def go(kind=ModelCheckpoint):\n    kind(period=2)\n",
    "one of several": "for kind in (ModelCheckpoint, find()):\n    kind(period=2)\n",
    "an item": "KINDS = {'a': ModelCheckpoint}\nKINDS.update(find())\n\nKINDS['a'](period=2)\n",
    "values of which different things become": "def go(x):\n    ModelCheckpoint(prefix='' if x else 'a')\n\n\ngo(1)\n",
}  # fmt: skip


@pytest.mark.parametrize("left", LEFT)
def test_what_cannot_be_proved_is_left_to_a_person(left: str) -> None:
    plan = planned({"train.py": HEAD + LEFT[left], "settings.py": "OPTIONS = {'period': 2}\n"})
    assert plan.changes == ()
    assert {item.fix for item in plan.findings} == {"manual"}
