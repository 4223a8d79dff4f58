"""Trainers under another name: by an assignment, a walrus, a partial, a default."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\nfrom pytorch_lightning import Trainer\n"


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("Alias = pl.Trainer\nAlias(gpus=2)\n", "Alias("),
        ("T = Trainer\nx = T(gpus=2)\n", "x = T("),
        ("def go():\n    made = pl.Trainer\n    return made(gpus=2)\n", "return made("),
        ("(t := pl.Trainer)(gpus=2)\n", "(t := pl.Trainer)("),
    ],
)
def test_another_name_for_the_trainer_is_one(text: str, call: str) -> None:
    after = rewritten({"train.py": HEAD + text}, rule("LIT101"))["train.py"]
    assert f'{call}accelerator="gpu", devices=2)' in after


@pytest.mark.parametrize(
    "text",
    [
        "def go(made=None):\n    if made is None:\n        made = pl.Trainer\n    return made(gpus=1)\n",
        "T = pl.Trainer\nT = Mine\nT(gpus=1)\n",
        "T = pl.Trainer\ndef put():\n    global T\n    T = Mine\nT(gpus=1)\n",
        "if fake:\n    T = Fake\nelse:\n    T = pl.Trainer\nT(gpus=1)\n",
        "T = pl.Trainer if real else Fake\nT(gpus=1)\n",
        "def make(cls=pl.Trainer, **rest):\n    return cls(gpus=1, **rest)\n",
        "def make(*, cls=Trainer):\n    return cls(gpus=1)\n",
        "class A:\n    kind = pl.Trainer\n    def go(self):\n        return self.kind(gpus=1)\n",
        "from functools import partial\nmake = partial(pl.Trainer, max_epochs=3)\nmake(gpus=1)\n",
        "make = Given or pl.Trainer\nmake(**{'gpus': 1})\n",
        "print(T := pl.Trainer)\nT(gpus=1)\n",
        "T = pl.Trainer\nmake = lambda T: T(gpus=1)\n",
    ],
)
def test_what_may_be_the_trainer_is_named(text: str) -> None:
    made = run_rules({"train.py": HEAD + text}, rule("LIT101"), unsafe=True)
    assert made.changes == ()
    assert [item.fix for item in made.findings] == ["manual"]


@pytest.mark.parametrize(
    "text",
    [
        "a = b.Trainer\nb = a.Trainer\na(gpus=1)\n",
        "T = other.Trainer\nT(gpus=1)\n",
        "def go():\n    make = pl.Trainer\n    return make()\ndef other():\n    return self.make(gpus=1)\n",
    ],
)
def test_what_is_no_trainer_is_left(text: str) -> None:
    assert run_rules({"train.py": HEAD + text}, rule("LIT101")).findings == ()


@pytest.mark.parametrize("made", ["T = pl.Trainer\n", "from pytorch_lightning import Trainer as T\n"])
def test_what_is_built_by_another_name_is_a_trainer(made: str) -> None:
    text = HEAD + made + "t = T()\nt.fit(m, train_dataloader=d)\nprint(t.use_amp)\n"
    after = rewritten({"train.py": text}, rule("LIT114"), rule("LIT120"))["train.py"]
    assert "t.fit(m, train_dataloaders=d)\nprint((t.precision == " in after
