"""Callbacks that something stands before, which others use too or make something else of: they are told, and stay."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n"


def levels(files: Mapping[str, str]) -> list[tuple[str, int, str]]:
    """The places and levels of what is found, of which nothing may be rewritten."""
    made = run_rules(files, rule("LIT230"))
    assert (made.bugs, made.changes) == ((), ())
    return sorted((item.path, item.span.line, item.fix) for item in made.findings)


PARTIAL = f"from functools import partial\n{HEAD}make = partial(ModelCheckpoint, period=2)\nmake()\n"


@pytest.mark.parametrize(
    "other",
    [
        "from a import make\nmake(period=4)\n",
        "from a import make as build\nbuild(period=4)\n",
        "import a\na.make(period=4)\n",
        "def test(monkeypatch):\n    from a import make\n    make(period=4)\n",
    ],
)
def test_a_partial_that_another_file_calls_too(other: str) -> None:
    line = 3 if other.startswith("def") else 2
    assert levels({"a.py": PARTIAL, "b.py": other}) == [("a.py", 3, "manual"), ("b.py", line, "manual")]


@pytest.mark.parametrize(
    "others",
    [
        {"b.py": "from a import *\nmake(every_n_epochs=4)\n"},
        {"b.py": "import a\nbuild = getattr(a, 'make')\n"},
        {"b.yaml": "callback:\n  _target_: a.make\n  period: 3\n"},
        {"b.py": "from a import *\n", "c.py": "from b import make\nmake(every_n_epochs=4)\n"},
    ],
)
def test_a_partial_that_another_file_may_call(others: Mapping[str, str]) -> None:
    assert levels({"a.py": PARTIAL, **others}) == [("a.py", 3, "manual")]


def test_a_partial_on_a_class_that_its_methods_call_too() -> None:
    body = "class Build:\n    make = partial(ModelCheckpoint, period=2)\n    one = make()\n\n"
    text = f"from functools import partial\n{HEAD}{body}    def two(self):\n        return self.make(period=4)\n"
    assert levels({"a.py": text}) == [("a.py", 4, "manual"), ("a.py", 8, "manual")]


@pytest.mark.parametrize("other", ["import a\n\ndef make(): ...\n", "# make\n", "from other import make\n"])
def test_a_partial_whose_name_other_files_have_for_something_else(other: str) -> None:
    after = rewritten({"a.py": PARTIAL, "b.py": other}, rule("LIT230"))
    assert after == {"a.py": PARTIAL.replace("period", "every_n_epochs"), "b.py": other}


OWN = (
    "from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n\n"
    "class Own({base}):\n    def __init__({taken}):\n        super().__init__({given})\n\n\n"
)


@pytest.mark.parametrize(
    ("base", "argument"),
    [("EarlyStopping", "mode='auto'"), ("ModelCheckpoint", "period=3"), ("ModelCheckpoint", "mode='auto'")],
)
@pytest.mark.parametrize(
    ("taken", "given"),
    [
        ("self, monitor='val_acc', **kw", "monitor, **kw"),
        ("self, *given, **kw", "*given, **{**kw}"),
        ("self, **kw", "**{**kw, 'verbose': True}"),
        ("self, **kw", "**merged(kw)"),
    ],
)
def test_what_a_class_of_the_project_may_hand_on_is_named(taken: str, given: str, base: str, argument: str) -> None:
    head = OWN.format(base=base, taken=taken, given=given)
    for call in (
        f"Own({argument})\n",
        f"class Below(Own):\n    def __init__(self):\n        super().__init__({argument})\n",
        f"class Below(Own):\n    pass\n\n\nBelow({argument})\n",
    ):
        [reason] = refusals({"train.py": head + call}, "LIT230")
        assert f"it reaches {base} through" in reason


@pytest.mark.parametrize(
    ("taken", "given", "call"),
    [
        ("self, period=1, **kw", "every_n_epochs=period, **kw", "Own(period=3)\n"),
        ("self, period=1", "every_n_epochs=period", "Own(period=3)\n"),
        (
            "self, period=1, *given, **kw",
            "*given, every_n_epochs=period, **kw",
            "class Below(Own):\n    def __init__(self):\n        super().__init__(period=3)\n",
        ),
        ("self, period=1, **kw", "every_n_epochs=period, **kw", "class Below(Own):\n    pass\n\n\nBelow(period=3)\n"),
    ],
)
def test_what_a_class_of_the_project_takes_itself_is_not(taken: str, given: str, call: str) -> None:
    text = OWN.format(base="ModelCheckpoint", taken=taken, given=given) + call
    assert run_rules({"train.py": text}, rule("LIT230")).findings == ()


def test_the_text_of_a_call_may_hold_braces() -> None:
    text = f"{HEAD}made = {{'a': ModelCheckpoint, '{{}}': EarlyStopping}}['a'](monitor='loss', period=2)\n"
    found = run_rules({"a.py": text}, rule("LIT230")).findings
    assert [item.message for item in found] == ["`period=` was removed in Lightning 1.5"]
