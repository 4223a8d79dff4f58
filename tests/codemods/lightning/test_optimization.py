"""How a module is optimized, in every spelling of the flag: one answer, for all rules that ask.

The spellings are run as well, on a stand-in for Lightning's module, so that the answers are those of Python.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import Any

import pytest

from codemods.engine.scan import Options, scan
from codemods.lightning.optimization import Optimization, optimization, said_by
from codemods.rule import all_rules
from codemods.rules.backward.training import ProjectTraining
from codemods.rules.loops.classes import state_of
from codemods.rules.steps.optimization import optimized
from tests.codemods.support import sources

SUPER = "def __init__(self, x=0):\n    super().__init__()\n"
SET = "    self.automatic_optimization = False\n"
MANUAL = {
    "constructor": SUPER + SET,
    "old super": f"def __init__(self):\n    super(Model, self).__init__()\n{SET}",
    "the base by its name": f"def __init__(self):\n    LightningModule.__init__(self)\n{SET}",
    "class body": "automatic_optimization = False\n",
    "annotated": "automatic_optimization: bool = False\n",
    "property": "@property\ndef automatic_optimization(self) -> bool:\n    return False\n",
    "property of a lambda": "automatic_optimization = property(lambda self: False)\n",
    "setattr": SUPER + "    setattr(self, 'automatic_optimization', False)\n",
    "object.__setattr__": SUPER + "    object.__setattr__(self, 'automatic_optimization', False)\n",
    "super().__setattr__": SUPER + "    super().__setattr__('automatic_optimization', False)\n",
    "self.__setattr__": SUPER + "    self.__setattr__('automatic_optimization', False)\n",
    "the private name": SUPER + "    self._automatic_optimization = False\n",
    "tuple": SUPER + "    self.automatic_optimization, self.x = False, 1\n",
    "two targets": SUPER + "    self.automatic_optimization = self.x = False\n",
    "variable": SUPER + "    value = False\n    self.automatic_optimization = value\n",
    "constant": SUPER + "    self.automatic_optimization = BY_LIGHTNING\n",
    "not": SUPER + "    self.automatic_optimization = not True\n",
    "bool": SUPER + "    self.automatic_optimization = bool(0)\n",
    "a method": f"{SUPER}    self.prepare()\n\ndef prepare(self):\n{SET}",
    "a method, and another behind": f"{SUPER}    self.prepare()\n    self.done()\n\ndef prepare(self):\n{SET}\n"
    "def done(self):\n    self.x = 1\n",
    "both branches": f"{SUPER}    if x:\n    {SET}    else:\n    {SET}",
    "with": f"{SUPER}    with nullcontext():\n    {SET}",
    "try": f"{SUPER}    try:\n    {SET}    finally:\n        pass\n",
    "unless it raises": f"{SUPER}    if x:\n        raise ValueError\n{SET}",
    "twice": SUPER + SET.replace("False", "True") + SET,
}  # fmt: skip
AUTOMATIC = {
    "nothing": "x = 1\n",
    "constructor alone": SUPER,
    "annotation alone": "automatic_optimization: bool\n",
    "read": SUPER + "    print(self.automatic_optimization)\n",
    "before super": f"def __init__(self):\n{SET}    super().__init__()\n",
    "on": SUPER + SET.replace("False", "True"),
    "on again": SUPER + SET + SET.replace("False", "True"),
    "a hook that sets it on": f"def setup(self, stage=None):\n{SET.replace('False', 'True')}",
}
SILENT = {
    "nothing": "x = 1\n",
    "constructor alone": SUPER,
    "hyperparameters": SUPER + "    self.save_hyperparameters()\n",
    "a method that builds": f"{SUPER}    self.build()\n\ndef build(self):\n    self.x = 1\n",
    "a method before super": "def __init__(self):\n    self.build()\n    super().__init__()\n",
    "a comment": "# automatic_optimization\n" + SUPER + "    self.save_hyperparameters()\n",
    "log": "# automatic_optimization\ndef training_step(self, batch, batch_idx):\n    self.log('loss', 1)\n",
}
"""What says nothing of the flag: the rules on manual loops take such a class for one that forgot it."""
UNKNOWN = {
    "one branch": f"{SUPER}    if x:\n    {SET}",
    "an early return": f"{SUPER}    if x:\n        return\n{SET}",
    "a loop": f"{SUPER}    for _ in range(x):\n    {SET}",
    "parameter": "def __init__(self, on=False):\n    super().__init__()\n    self.automatic_optimization = on\n",
    "a hook": f"def setup(self, stage=None):\n{SET}",
    "at times in the body": "if find():\n    automatic_optimization = False\n",
    "worked out": SUPER + "    self.automatic_optimization = find()\n",
    "augmented": SUPER + "    self.automatic_optimization &= x\n",
    "a dictionary of the instance": SUPER + "    self.__dict__['automatic_optimization'] = False\n",
}
HEAD = "from pytorch_lightning import LightningModule\n\nBY_LIGHTNING = False\n\n\n"
STEP = "    def training_step(self, batch, batch_idx):\n        pass\n"
SPELLINGS = [
    *((name, body, "manual") for name, body in MANUAL.items()),
    *((name, body, "automatic") for name, body in AUTOMATIC.items()),
    *((name, body, "unknown") for name, body in UNKNOWN.items()),
]
PLACES = ("itself", "a base", "a base of a base", "a base of another file")
LOOPS = {"manual": {"off"}, "automatic": {"", "lost", "unclear"}, "unknown": {"unclear"}}
"""What the rules on manual loops take an answer for: one that is said aloud is no plain case for them."""


def program(body: str, place: str) -> dict[str, str]:
    """The texts of a project whose Model is said to be optimized somehow: by itself, or by what is above it."""
    said = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines()) + "\n"
    if place == "itself":
        return {"a.py": f"{HEAD}class Model(LightningModule):\n{said}{STEP}"}
    base = f"class Base(LightningModule):\n{said.replace('Model', 'Base')}\n\n"
    if place == "a base":
        return {"a.py": f"{HEAD}{base}class Model(Base):\n{STEP}"}
    if place == "a base of a base":
        return {"a.py": f"{HEAD}{base}class Middle(Base):\n    y = 1\n\n\nclass Model(Middle):\n{STEP}"}
    return {"a.py": f"from base import Base\n\n\nclass Model(Base):\n{STEP}", "base.py": f"{HEAD}{base}"}


def check(files: dict[str, str], wanted: Optimization) -> None:
    """That each room of rules is told how the class Model of `a.py` is optimized."""
    facts = scan(sources(files), Options(all_rules())).facts
    file = facts.open("a.py")
    assert file is not None
    item = next(each for each in file.classes if each.qualname == "Model")
    fact = facts.files["a.py"].find("Model")
    assert fact is not None
    assert optimization(facts, file, fact) == wanted
    assert optimized(facts, file, item) == wanted
    assert ProjectTraining(facts, "BWD001").mode(fact) == wanted
    assert state_of(fact, facts, "TBP101", file) in LOOPS[wanted]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SILENT)
def test_who_says_nothing_is_taken_for_silent(name: str, place: str) -> None:
    files = program(SILENT[name], place)
    facts = scan(sources(files), Options(all_rules())).facts
    fact, file = facts.files["a.py"].find("Model"), facts.open("a.py")
    assert fact is not None and file is not None
    assert state_of(fact, facts, "TBP101", file) == ""
    assert all(said_by(file, item) is None for item in file.classes)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "body", "wanted"), SPELLINGS, ids=[name for name, _, _ in SPELLINGS])
def test_all_rules_are_told_the_same(name: str, body: str, wanted: Optimization, place: str) -> None:
    check(program(body, place), wanted)


class LightningModule:
    """What Lightning's module does with the flag."""

    def __init__(self) -> None:
        self._automatic_optimization = True

    @property
    def automatic_optimization(self) -> bool:
        return self._automatic_optimization

    @automatic_optimization.setter
    def automatic_optimization(self, value: bool) -> None:
        self._automatic_optimization = value


KNOWN = [item for item in SPELLINGS if item[2] != "unknown"]


@pytest.mark.parametrize("place", PLACES[:3])
@pytest.mark.parametrize(("name", "body", "wanted"), KNOWN, ids=[name for name, _, _ in KNOWN])
def test_python_says_so_too(name: str, body: str, wanted: Optimization, place: str) -> None:
    text = program(body, place)["a.py"].replace("from pytorch_lightning import LightningModule\n", "")
    space: dict[str, Any] = {"LightningModule": LightningModule, "nullcontext": nullcontext}
    exec(text, space)
    assert space["Model"]().automatic_optimization is (wanted == "automatic")


GIVEN: dict[str, Optimization] = {
    "super().__init__(automatic_optimization=False)": "manual",
    "super().__init__(False)": "manual",
    "super().__init__(automatic_optimization=not True)": "manual",
    "super().__init__()": "automatic",
    "super().__init__(True)": "automatic",
    "super().__init__(**find())": "unknown",
    "super().__init__(*find())": "unknown",
    "super().__init__(find())": "unknown",
}


@pytest.mark.parametrize("call", GIVEN)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_the_constructor_above_is_given(call: str, elsewhere: bool) -> None:
    base = (
        "class Base(LightningModule):\n    def __init__(self, automatic_optimization=True):\n"
        "        super().__init__()\n        self.automatic_optimization = automatic_optimization\n\n\n"
    )
    own = f"class Model(Base):\n    def __init__(self):\n        {call}\n\n{STEP}"
    apart = {"a.py": f"from base import Base\n\n\n{own}", "base.py": HEAD + base}
    check(apart if elsewhere else {"a.py": f"{HEAD}{base}{own}"}, GIVEN[call])


def test_what_a_constructor_above_sets_hides_what_the_body_of_a_class_says() -> None:
    own = f"class Model(Base):\n    automatic_optimization = True\n\n{STEP}"
    files = program(MANUAL["constructor"], "a base")
    files["a.py"] = files["a.py"].replace(f"class Model(Base):\n{STEP}", own)
    check(files, "manual")
    space: dict[str, Any] = {"LightningModule": LightningModule}
    exec(files["a.py"].replace("from pytorch_lightning import LightningModule\n", ""), space)
    assert space["Model"]().automatic_optimization is False


def test_a_method_that_a_class_below_replaces() -> None:
    base = (
        "class Base(LightningModule):\n    def __init__(self):\n        super().__init__()\n        self.prepare()\n\n"
    )
    base += "    def prepare(self):\n        self.automatic_optimization = False\n\n\n"
    check({"a.py": f"{HEAD}{base}class Model(Base):\n    def prepare(self):\n        pass\n\n{STEP}"}, "automatic")


CLASS = "class Model(LightningModule):\n    def __init__(self, x=0, auto=None):\n        super().__init__()\n"
BASE = CLASS.replace("Model", "Base") + "        self.automatic_optimization = False\n\n\n"
SETTER = (
    "def off(self):\n    self.automatic_optimization = False\n\ndef on(self):\n    self.automatic_optimization = True\n"
)
INSIDE = {
    "try, raise": "try:\n    OFF\n    raise ValueError\nexcept ValueError:\n    pass",
    "try, fail, on": "try:\n    OFF\n    int('x')\n    ON\nexcept ValueError:\n    pass",
    "return, finally": "try:\n    return\nfinally:\n    OFF",
    "break": "OFF\nfor i in (1, 2):\n    if i:\n        ON\n        break\n    OFF",
    "continue": "for i in (1, 2):\n    if i == 2:\n        continue\n    OFF",
    "suppress": "with suppress(ValueError):\n    int('x')\n    OFF",
    "a parameter that is bound again": "if auto is None:\n    auto = False\nself.automatic_optimization = auto",
    "a nested function": "def go():\n    OFF\nON\ngo()",
    "a lambda": "go = lambda: setattr(self, 'automatic_optimization', False)\nON\ngo()",
    "off, on, off": "self.off()\nself.on()\nself.off()\nself.on()",
    "a name in a loop": "for name in ('automatic_optimization',):\n    setattr(self, name, False)",
    "its dictionary": "vars(self).update(_automatic_optimization=False)",
    "another name": "me = self\nme.automatic_optimization = False",
}
"""Constructors whose answer has to be that of Python, or unknown."""
BELOW = "class Model(Base):\n"
ANOTHER_ON = CLASS.replace("Model", "A") + "        self.automatic_optimization = True\n\n"
MODULES = {
    "a constant that is rebound": (
        f"AUTO = False\n\ndef main():\n    global AUTO\n    AUTO = True\n\n{CLASS}"
        "        self.automatic_optimization = AUTO\n\nmain()\n"
    ),
    "a name of the class": (
        "flag = True\n\nclass Model(LightningModule):\n    flag = False\n    automatic_optimization = flag\n"
    ),
    "set in a function": f"{CLASS}\ndef main():\n    Model.automatic_optimization = False\n\nmain()\n",
    "set under a condition": f"{CLASS}\nif True:\n    Model.automatic_optimization = False\n",
    "set on an instance": f"{CLASS}\nmade = Model()\nsetattr(made, 'automatic_optimization', False)\n",
    "set where it is kept": f"{CLASS}\nmade = Model()\nmade._automatic_optimization = False\n",
    "a decorator": f"def manual(c):\n    setattr(c, 'automatic_optimization', False)\n    return c\n\n@manual\n{CLASS}",
    "the base of the base": f"{BASE}{BELOW}    def __init__(self):\n        LightningModule.__init__(self)\n",
    "super of the base": f"{BASE}{BELOW}    def __init__(self):\n        super(Base, self).__init__()\n",
    "behind Lightning's": (
        "class Base:\n    def __init__(self):\n        self.automatic_optimization = False\n\n"
        "class Model(LightningModule, Base):\n    pass\n"
    ),
    "a diamond": f"{ANOTHER_ON}{BASE}class Model(A, Base):\n    pass\n",
    "a diamond's other side": (
        f"{ANOTHER_ON}class B(A):\n    pass\n\n{BASE.replace('(LightningModule)', '(A)')}"
        "class Model(B, Base):\n    pass\n"
    ),
    "two classes of the name": (
        f"{CLASS}        self.automatic_optimization = False\n\n"
        "if not str:\n    class Model(LightningModule):\n        pass\n"
    ),
    "after a method before super": (
        "class Model(LightningModule):\n    automatic_optimization = True\n\n"
        "    def __init__(self):\n        self.off()\n        super().__init__()\n\n"
        "    def off(self):\n        self.automatic_optimization = False\n"
    ),
}
"""Modules whose Model is optimized as Python says, or as nobody can tell."""


def answered(files: dict[str, str]) -> Optimization:
    facts = scan(sources(files), Options(all_rules())).facts
    file, fact = facts.open("a.py"), facts.files["a.py"].find("Model")
    assert file is not None and fact is not None
    return optimization(facts, file, fact)


def run(text: str) -> Optimization:
    space: dict[str, Any] = {"LightningModule": LightningModule, "suppress": suppress}
    exec(text.replace("from pytorch_lightning import LightningModule\n", ""), space)
    made = space.get("made") or space["Model"]()
    return "automatic" if made.automatic_optimization else "manual"


@pytest.mark.parametrize("name", INSIDE)
def test_what_may_leave_a_constructor(name: str) -> None:
    body = INSIDE[name].replace("OFF", SET.strip()).replace("ON", SET.strip().replace("False", "True"))
    more = "".join(f"    {line}\n" for line in SETTER.splitlines())
    text = HEAD + CLASS + "".join(f"        {line}\n" for line in body.splitlines()) + f"\n{more}"
    assert answered({"a.py": text}) in ("unknown", run(text))


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_makes_of_its_class(name: str) -> None:
    text = HEAD + MODULES[name]
    assert answered({"a.py": text}) in ("unknown", run(text))


@pytest.mark.parametrize(("line", "wanted"), [("super().setup(stage)", "unknown"), ("pass", "automatic")])
def test_a_hook_that_calls_what_it_replaces(line: str, wanted: Optimization) -> None:
    base = f"{CLASS.replace('Model', 'Base')}\n    def setup(self, stage=None):\n    {SET}\n\n"
    own = f"{BELOW}    def setup(self, stage=None):\n        {line}\n\n{STEP}"
    assert answered({"a.py": HEAD + base + own}) == wanted


def test_a_constant_that_another_file_sets() -> None:
    text = f"{HEAD}{CLASS}        self.automatic_optimization = BY_LIGHTNING\n"
    assert answered({"a.py": text}) == "manual"
    assert answered({"a.py": text, "b.py": "import a\n\na.BY_LIGHTNING = True\n"}) == "unknown"


@pytest.mark.parametrize(
    "outside",
    [
        "model.automatic_optimization = False",
        "Model().automatic_optimization = find()",
        "model._automatic_optimization = False",
        "setattr(model, 'automatic_optimization', False)",
        "def main():\n    Model.automatic_optimization = False",
        "for name in ('automatic_optimization',):\n    setattr(model, name, False)",
    ],
)
def test_what_others_set_is_not_known(outside: str) -> None:
    files = {**program("x = 1\n", "itself"), "b.py": f"from a import Model\n\nmodel = Model()\n{outside}\n"}
    check(files, "unknown")


def test_a_class_by_itself_may_be_silent() -> None:
    files = program(MANUAL["constructor"], "a base")
    file = scan(sources(files), Options(all_rules())).facts.open("a.py")
    assert file is not None
    said = {item.qualname: said_by(file, item) for item in file.classes}
    assert said == {"Base": "manual", "Model": None}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("automatic_optimization=False", "unknown"),
        ("automatic_optimization=flag", "unknown"),
        ("automatic_optimization=True", "automatic"),
        ("max_epochs=1", "automatic"),
    ],
)
def test_a_trainer_of_1_0_may_leave_it_to_a_module_that_says_nothing(given: str, wanted: Optimization) -> None:
    silent, manual = program("x = 1", "itself"), program(f"{SUPER}{SET}", "itself")
    fit = {"fit.py": f"from pytorch_lightning import Trainer\n\ntrainer = Trainer({given})\n"}
    check({**silent, **fit}, wanted)
    check({**manual, **fit}, "manual")
