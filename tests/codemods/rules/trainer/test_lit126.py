"""LIT126: two callbacks that Trainer cannot tell apart."""

from __future__ import annotations

import pytest
from lightning.pytorch import Trainer, callbacks

from tests.codemods.support import rule, run_rules

HEAD = "from datetime import timedelta\n\nfrom lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint\n\n\n"
SAME = [
    ("ModelCheckpoint(monitor='a')", "ModelCheckpoint(monitor='a', filename='b', save_top_k=-1, mode='min')"),
    ("ModelCheckpoint()", "ModelCheckpoint(every_n_epochs=1)"),
    ("ModelCheckpoint('here')", "ModelCheckpoint('there', 'name', every_n_train_steps=None)"),
    ("ModelCheckpoint(every_n_train_steps=5)", "ModelCheckpoint(every_n_train_steps=5, every_n_epochs=0)"),
    ("EarlyStopping('a')", "EarlyStopping(monitor='a', patience=9)"),
]
OTHER = [
    ("ModelCheckpoint(monitor='a')", "ModelCheckpoint(monitor='b')"),
    ("ModelCheckpoint(monitor='a')", "ModelCheckpoint(monitor='a', mode='max')"),
    ("ModelCheckpoint()", "ModelCheckpoint(every_n_epochs=2)"),
    ("ModelCheckpoint()", "ModelCheckpoint(every_n_train_steps=0)"),
    ("ModelCheckpoint()", "ModelCheckpoint(train_time_interval=timedelta(1))"),
    ("EarlyStopping('a')", "EarlyStopping('a', mode='max')"),
    ("EarlyStopping('a')", "ModelCheckpoint(monitor='a')"),
]


def found(text: str, pins: tuple[str, ...] = ()) -> list[str]:
    return [each.fix for each in run_rules({"a.py": HEAD + text}, rule("LIT126"), pins=pins).findings]


def is_refused(first: str, second: str) -> bool:
    space: dict[str, object] = {}
    exec(HEAD.replace("lightning.pytorch.callbacks", callbacks.__name__), space)
    given = [eval(each, space) for each in (first, second)]
    try:
        Trainer(callbacks=given, logger=False, accelerator="cpu", enable_progress_bar=False)
    except RuntimeError as error:
        return "more than one stateful callback" in str(error)
    return False


@pytest.mark.parametrize(("first", "second"), SAME)
def test_what_lightning_refuses_is_found(first: str, second: str) -> None:
    assert is_refused(first, second)
    assert found(f"def build():\n    return [{first}, {second}]\n") == ["manual"]


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_what_lightning_takes_is_not(first: str, second: str) -> None:
    assert not is_refused(first, second)
    assert found(f"def build():\n    return [{first}, {second}]\n") == []


A = "ModelCheckpoint(monitor=watched)"


@pytest.mark.parametrize(
    "text",
    [
        f"def build(watched):\n    best, more = {A}, print\n    last = {A}\n    return [{A}, last]\n",
        f"def build(watched):\n    made = []\n    made.append({A})\n    made.extend([{A}])\n    return made\n",
        f"def build(watched):\n    made = [{A}]\n    made += [{A}]\n    return made\n",
        f"def build(watched):\n    one = {A}\n    return [one, one]\n",
        f"def build(made, watched):\n    if made:\n        made.append({A})\n        made.append({A})\n",
    ],
    ids=["names", "appended", "added", "twice", "in a branch"],
)
def test_lists_that_grow_and_names(text: str) -> None:
    assert found(text) == ["manual"]


@pytest.mark.parametrize(
    "text",
    [
        f"def build(watched):\n    made = [{A}]\n    first = made\n    made = [{A}]\n    return first, made\n",
        f"def build(watched, one):\n    if one:\n        made = [{A}]\n    else:\n        made = [{A}]\n",
        f"def build(watched):\n    one = {A}\n    one = print\n    return [{A}, one]\n",
        f"def first(watched):\n    return [{A}]\n\n\ndef second(watched):\n    return [{A}]\n",
        "def build(pick):\n    return [ModelCheckpoint(monitor=pick()), ModelCheckpoint(monitor=pick())]\n",
        "def build(one, two):\n    return [ModelCheckpoint(monitor=one), ModelCheckpoint(monitor=two)]\n",
        "def build(given):\n    return [ModelCheckpoint(**given), ModelCheckpoint(**given)]\n",
        "class Own(ModelCheckpoint):\n    pass\n\n\nmade = [ModelCheckpoint(), Own()]\n",
        "for one in (ModelCheckpoint(), ModelCheckpoint()):\n    print([one])\n",
        "from mine import ModelCheckpoint\n\nmade = [ModelCheckpoint(), ModelCheckpoint()]\n",
    ],
    ids=["begun anew", "either", "bound twice", "two functions", "called", "two names", "spread", "own class",
         "one each", "another"],
)  # fmt: skip
def test_what_may_be_told_apart(text: str) -> None:
    assert found(text) == []


def test_the_period_of_1_x_is_an_interval() -> None:
    assert found("made = [ModelCheckpoint(period=2), ModelCheckpoint(every_n_epochs=2)]\n") == ["manual"]
    assert found("made = [ModelCheckpoint(period=2), ModelCheckpoint(period=3)]\n") == []
