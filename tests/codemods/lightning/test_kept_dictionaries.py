"""What a dictionary has under a key where it is read: known only where nothing may have changed it."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule

HEAD = "from pytorch_lightning import Trainer\n\n"


def after(text: str) -> str:
    """The text that becomes of one, with the head."""
    return rewritten({"a.py": f"{HEAD}{text}"}, rule("LIT101"))["a.py"].removeprefix(HEAD)


@pytest.mark.parametrize(
    "text",
    [
        'c = {"gpus": 2, "x": 1}\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2, "x": 1}\nd = c\nprint(d["x"])\nTrainer(gpus=d["gpus"])\nmodel(d)\n',
        'if flag:\n    c = {"gpus": 2}\n    Trainer(gpus=c["gpus"])\n    c["gpus"] = "3"\n',
        'def f(x):\n    c = {"gpus": 2, "x": x}\n    Trainer(gpus=c["gpus"])\n    return c\n',
        'c = {"gpus": 2}\nTrainer(gpus=c["gpus"])\nmodel(c=c)\n',
        'n = 2\nc = {"gpus": n}\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
    ],
)
def test_what_is_only_read_before_is_known(text: str) -> None:
    assert ", devices=" in after(text)


@pytest.mark.parametrize(
    "text",
    [
        'c = {"gpus": 2}\nchange(c)\nTrainer(gpus=c["gpus"])\n',
        'c = {"gpus": 2}\nc.update(given)\nTrainer(gpus=c["gpus"])\n',
        'c = {"gpus": 2}\nc["gpus"] = given\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\nd = c\nd["gpus"] = given\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\nheld = [c]\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\nc |= given\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\nself.c = c\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\nfor i in range(2):\n    Trainer(gpus=c["gpus"])\n    change(c)\n',
        'c = {"gpus": 2}\nmake = lambda: Trainer(gpus=c["gpus"])\nchange(c)\nmake()\n',
        'c = {"gpus": 2, **given}\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2, "gpus": given}\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2, key: given}\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\n\n\ndef f():\n    Trainer(gpus=c["gpus"])\n\n\nchange(c)\nf()\n',
        'def g():\n    change(c)\n\n\nc = {"gpus": 2}\ng()\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\nfrom other import *\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": 2}\nexec(given)\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": given}\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
        'c = {"gpus": [1]}\nmodel(c["gpus"])\nTrainer(gpus=c["gpus"])\nmodel(c)\n',
    ],
)
def test_what_may_be_changed_is_not_known(text: str) -> None:
    assert after(text) == text


def test_what_is_never_handed_on_is_written_as_shortly_as_its_value() -> None:
    text = 'c = {"gpus": 2, "x": 1}\nTrainer(gpus=c["gpus"])\nprint(c)\n'
    assert after(text) == text.replace("gpus=c", 'accelerator="gpu", devices=c')
