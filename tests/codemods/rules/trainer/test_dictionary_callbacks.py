"""LIT110: a ModelCheckpoint that a dictionary hands to a Trainer by itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = (
    "from pytorch_lightning import Trainer\n"
    "from pytorch_lightning.callbacks import LearningRateMonitor, ModelCheckpoint\n\n\n"
)
TEXT = HEAD + (
    "def build():\n"
    '    checkpoint = ModelCheckpoint(filename="here")\n'
    "    given = {\n"
    '        "max_epochs": 3,\n'
    '        "checkpoint_callback": checkpoint,\n'
    '        "logger": False,\n'
    '        "callbacks": [LearningRateMonitor()],\n'
    "    }\n"
    "    return Trainer(**given)\n"
)
KEY, LIST = '        "checkpoint_callback": checkpoint,\n', '"callbacks": [LearningRateMonitor()]'


def test_it_is_one_of_the_callbacks_of_the_dictionary() -> None:
    made = rewritten({"a.py": TEXT}, rule("LIT110"))["a.py"]
    assert made == TEXT.replace(KEY, "").replace(LIST, '"callbacks": [LearningRateMonitor(), checkpoint]')
    assert run_rules({"a.py": made}, rule("LIT110")).changes == ()
    space: dict[str, Any] = {}
    exec(made.replace("pytorch_lightning", "lightning.pytorch").replace('"logger": False', '"logger": True'), space)
    assert [each.filename for each in space["build"]().checkpoint_callbacks] == ["here"]


MADE = KEY.replace("checkpoint,", "ModelCheckpoint(),")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (LIST, '"callbacks": [checkpoint]', (KEY, "")),
        (f"{KEY}        \"logger\": False,\n        {LIST},\n", f"{MADE}        {LIST},\n",
         (f"{MADE}        {LIST}", '        "callbacks": [LearningRateMonitor(), ModelCheckpoint()]')),
    ],
    ids=["there", "made here"],
)  # fmt: skip
def test_other_lists(old: str, new: str, wanted: tuple[str, str]) -> None:
    text = TEXT.replace(old, new)
    assert text != TEXT
    assert rewritten({"a.py": text}, rule("LIT110"))["a.py"] == text.replace(*wanted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LIST, '"callbacks": others()'),
        (KEY, '        "checkpoint_callback": bring(),\n'),
        ("Trainer(**given)", "Trainer(callbacks=[], **given)"),
        ("    return", '    given["callbacks"] = []\n    return'),
        ("    return", "    keep(given)\n    return"),
        (KEY, f"        # the best one\n{KEY}"),
    ],
)
def test_what_may_be_something_else_is_left(old: str, new: str) -> None:
    assert old in TEXT
    made = run_rules({"a.py": TEXT.replace(old, new)}, rule("LIT110"), unsafe=True)
    assert made.changes == () and [each.fix for each in made.findings] == ["manual"]


def test_scripts_that_call_their_dictionaries_alike_do_not_share_them() -> None:
    body = TEXT.partition("def build():\n")[2].replace("    return Trainer", "    trainer = Trainer")
    script = f"{HEAD}if __name__ == '__main__':\n{body}"
    made = rewritten({"one.py": script, "two.py": script}, rule("LIT110"), unsafe=True)
    assert all("[LearningRateMonitor(), checkpoint]" in text for text in made.values())
    taking = {"one.py": script, "two.py": "from one import given\n\nprint(given)\n"}
    assert run_rules(taking, rule("LIT110"), unsafe=True).changes == ()
