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
    ("text", "after"),
    [
        (
            "from functools import partial\nmake = partial(pl.Trainer, max_epochs=3)\nmake(gpus=1)\n",
            'partial(pl.Trainer, max_epochs=3)\nmake(accelerator="gpu", devices=1)\n',
        ),
        (
            "from functools import partial\nmake = partial(pl.Trainer, gpus=1)\nmake(max_epochs=3)\n",
            'partial(pl.Trainer, accelerator="gpu", devices=1)\nmake(max_epochs=3)\n',
        ),
    ],
)
def test_a_partial_that_is_called_once_is_one(text: str, after: str) -> None:
    assert rewritten({"train.py": HEAD + text}, rule("LIT101"))["train.py"].endswith(after)


@pytest.mark.parametrize(
    "text",
    [
        "from functools import partial\nmake = partial(pl.Trainer, gpus=1)\nmake()\nmake()\n",
        "from functools import partial\nmake = partial(pl.Trainer, gpus=1)\nmake()\nhand_on(make)\n",
        "def go(made=None):\n    if made is None:\n        made = pl.Trainer\n    return made(gpus=1)\n",
        "T = pl.Trainer\nT = Mine\nT(gpus=1)\n",
        "T = pl.Trainer\ndef put():\n    global T\n    T = Mine\nT(gpus=1)\n",
        "if fake:\n    T = Fake\nelse:\n    T = pl.Trainer\nT(gpus=1)\n",
        "T = pl.Trainer if real else Fake\nT(gpus=1)\n",
        "def make(cls=pl.Trainer, **rest):\n    return cls(gpus=1, **rest)\n",
        "def make(*, cls=Trainer):\n    return cls(gpus=1)\n",
        "class A:\n    kind = pl.Trainer\n    def go(self):\n        return self.kind(gpus=1)\n",
        "make = Given or pl.Trainer\nmake(**{'gpus': 1})\n",
        "print(T := pl.Trainer)\nT(gpus=1)\n",
        "T = pl.Trainer\nmake = lambda T: T(gpus=1)\n",
        "def go(x):\n    import lightning as L\n    T = L.Trainer if x else object\n    return T(gpus=1)\n",
        "for cls in (pl.Trainer, Mine):\n    cls(gpus=1)\n",
        "made = [cls(gpus=1) for cls in [Mine, pl.Trainer]]\n",
        "for n, cls in ((1, pl.Trainer), (2, Mine)):\n    cls(gpus=1)\n",
        "(pl.Trainer if x else Mine)(gpus=1)\n",
        "{'pl': pl.Trainer}[x](gpus=1)\n",
        "KINDS = {'pl': pl.Trainer}\ndef go(x):\n    return KINDS[x](gpus=1)\n",
        "KINDS = {'pl': pl.Trainer}\ndef go(x):\n    return KINDS.get(x)(gpus=1)\n",
        "T, n = (pl.Trainer if x else Mine), 2\nT(gpus=1)\n",
        "import pytest\n@pytest.mark.parametrize('cls', [pl.Trainer])\ndef test(cls):\n    cls(gpus=1)\n",
        "def go(cls=pl.Trainer):\n    def inner():\n        return cls(gpus=1)\n    return inner\n",
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
        "def go(cls=pl.Trainer):\n    return cls()\nclass Budget:\n    @classmethod\n    def small(cls):\n"
        "        return cls(gpus=1)\n",
        "def go(cls=pl.Trainer):\n    return cls()\ndef other(cls):\n    return cls(gpus=1)\n",
        "def go(cls=pl.Trainer):\n    return cls()\ndef other():\n    cls = Pool\n    return cls(gpus=1)\n",
        "T = pl.Trainer if x else Mine\ndef test():\n    with patch('T') as T:\n        T(gpus=1)\n",
        "T = pl.Trainer if x else Mine\ndef go(kind):\n    match kind:\n        case (T, _):\n            T(gpus=1)\n",
        "KINDS = [pl.Trainer]\ndef go(KINDS):\n    return KINDS[0](gpus=1)\n",
        "(Pool if x else Mine)(gpus=1)\n",
        "import pytest\n@pytest.mark.parametrize('cls', [Pool])\ndef test(cls):\n    cls(gpus=1)\n",
    ],
)
def test_what_is_no_trainer_is_left(text: str) -> None:
    assert run_rules({"train.py": HEAD + text}, rule("LIT101")).findings == ()


@pytest.mark.parametrize("made", ["T = pl.Trainer\n", "from pytorch_lightning import Trainer as T\n"])
def test_what_is_built_by_another_name_is_a_trainer(made: str) -> None:
    text = HEAD + made + "t = T()\nt.fit(m, train_dataloader=d)\nprint(t.use_amp)\n"
    after = rewritten({"train.py": text}, rule("LIT114"), rule("LIT120"))["train.py"]
    assert "t.fit(m, train_dataloaders=d)\nprint(t.precision == " in after


@pytest.mark.parametrize(
    "named", ["from pytorch_lightning import Trainer\n", "import lightning as L\nTrainer = L.Trainer\n"]
)
def test_a_trainer_that_another_file_hands_on_is_one(named: str) -> None:
    files = {
        "core/base.py": named,
        "core/__init__.py": "from .base import Trainer\n",
        "train.py": "from core import Trainer as T\n\nT(gpus=1)\n",
        "other.py": "from core.base import Trainer\n\nTrainer(**{'gpus': 1})\n",
    }
    after = rewritten(files, rule("LIT101"))
    assert after["train.py"] == 'from core import Trainer as T\n\nT(accelerator="gpu", devices=1)\n'
    assert after["other.py"] == "from core.base import Trainer\n\nTrainer(**{'accelerator': \"gpu\", 'devices': 1})\n"


@pytest.mark.parametrize(
    "named", ["from pytorch_lightning import Trainer\nTrainer = wrap(Trainer)\n", "from ray import *\n"]
)
def test_a_trainer_that_another_file_makes_anew_is_not(named: str) -> None:
    files = {"core.py": named, "train.py": "from core import Trainer\n\nTrainer(gpus=1)\n"}
    assert run_rules(files, rule("LIT101"), unsafe=True).changes == ()


def test_a_trainer_of_another_file_s_own_is_not() -> None:
    files = {
        "core.py": "from pytorch_lightning import LightningModule\n\n\nclass Trainer:\n    pass\n",
        "train.py": "from core import Trainer\n\nTrainer(gpus=1)\n",
    }
    assert run_rules(files, rule("LIT101")).findings == ()
