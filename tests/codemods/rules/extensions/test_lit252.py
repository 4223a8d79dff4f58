from __future__ import annotations

import pytest

from codemods.finding import Fix
from codemods.rules.extensions.lit252 import RULE
from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning import Trainer\nfrom pytorch_lightning.callbacks import ProgressBar\n\n"
CALL = "Trainer(callbacks=[ProgressBar()])\n"
CHILD = "class Bar(ProgressBar):\n    def get_metrics(self, trainer, model):\n        return {}\n"
OLD, BOTH, TODAY = "pytorch-lightning==1.4.9", "pytorch-lightning>=1.4", "pytorch-lightning>=2.0"
HOOK = (
    "from pytorch_lightning import LightningModule\n\n\nclass Net(LightningModule):\n"
    "    def training_epoch_end(self, outputs):\n        print(outputs)\n"
)


def look(text: str, pin: str = OLD, **more: str) -> tuple[set[Fix], str]:
    """The levels of what is found, and the text after all repairs."""
    files = {"a.py": text, **{f"{name}.py": other for name, other in more.items()}}
    made = run_rules(files, RULE, unsafe=True, pins=(pin,) if pin else ())
    assert made.bugs == () and made.final().keys() <= {"a.py"}
    return {item.fix for item in made.findings}, made.final().get("a.py", text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        HEAD + CALL,
        HEAD + CHILD,
        HEAD + f"{CHILD}\n\nassert isinstance(Bar(), ProgressBar)\n",
        HEAD + "print(isinstance(ProgressBar(), Callback))\n",
        HEAD + "print(type(bar) is ProgressBar)\n",
        "from pytorch_lightning.callbacks.progress import ProgressBar\n\nbar = ProgressBar(refresh_rate=3)\n",
        "import pytorch_lightning as pl\n\nbar = pl.callbacks.ProgressBar(refresh_rate=3)\n",
        "from pytorch_lightning import callbacks\n\n\nclass Bar(callbacks.ProgressBar):\n    pass\n",
        "from pytorch_lightning.callbacks import ProgressBar as PB\n\n\nclass Bar(PB):\n    pass\n",
    ],
)
@pytest.mark.parametrize(("pin", "level"), [(OLD, "safe"), ("pytorch-lightning<1.7", "safe"), (BOTH, "unsafe")])
def test_every_use_in_a_file_of_then_is_the_bar_of_tqdm(text: str, pin: str, level: Fix) -> None:
    assert look(text, pin) == ({level}, text.replace("ProgressBar", "TQDMProgressBar"))


@pytest.mark.parametrize("text", [HEAD + CALL, HEAD + CHILD])
def test_without_a_pin_the_code_tells(text: str) -> None:
    made = run_rules({"a.py": text, "net.py": HOOK}, unsafe=True)
    assert {item.fix for item in made.findings if item.code == "LIT252"} == {"unsafe"}
    assert made.final()["a.py"].decode().count("TQDMProgressBar") == 2


@pytest.mark.parametrize(
    ("text", "pin"),
    [
        (HEAD + CALL, TODAY),
        (HEAD + CHILD, TODAY),
        (HEAD + CHILD, ""),
        ("from lightning.pytorch.callbacks import ProgressBar\n\nbar = ProgressBar()\n", OLD),
        ("from pytorch_lightning.callbacks import TQDMProgressBar\n\nbar = TQDMProgressBar()\n", OLD),
        ("import lightning.pytorch as pl\n\nbar = pl.callbacks.ProgressBar()\n", OLD),
        ("from tqdm_bars import ProgressBar\n\nbar = ProgressBar()\n", OLD),
        ("from .callbacks import ProgressBar\n\nbar = ProgressBar()\n", OLD),
        ("from pytorch_lightning.callbacks import ProgressBarBase\n\n\nclass Bar(ProgressBarBase):\n    pass\n", OLD),
        ("import bars\n\nbar = bars.ProgressBar()\n", OLD),
        (HEAD + "bars = [each for each in trainer.callbacks if isinstance(each, ProgressBar)]\n", OLD),
        (HEAD + "print(isinstance(bar, (Bar, ProgressBar)), not isinstance(bar, ProgressBar))\n", OLD),
        ("import pytorch_lightning as pl\n\nprint(isinstance(bar, pl.callbacks.progress.ProgressBar))\n", OLD),
    ],
)
def test_other_bars_are_left_alone(text: str, pin: str) -> None:
    assert look(text, pin) == (set(), text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "from pytorch_lightning.callbacks import ProgressBarBase\n\n\nclass Bar(ProgressBarBase):\n    pass\n",
            "from pytorch_lightning.callbacks.progress.progress_bar import ProgressBar\n\n\n"
            "class Bar(ProgressBar):\n    pass\n",
        ),
        (
            "import pytorch_lightning as pl\n\n\n"
            "class A(pl.callbacks.ProgressBar, pl.callbacks.ProgressBarBase):\n    pass\n",
            "import pytorch_lightning as pl\n\n\n"
            "class A(pl.callbacks.TQDMProgressBar, pl.callbacks.progress.progress_bar.ProgressBar):\n    pass\n",
        ),
    ],
)
def test_the_base_of_all_bars_becomes_no_bar_of_tqdm_by_its_new_name(text: str, after: str) -> None:
    made = run_rules({"a.py": text}, RULE, rule("LIT001"), pins=(OLD,))
    assert made.final()["a.py"].decode() == after


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (HEAD + CALL + "from pytorch_lightning.callbacks import TQDMProgressBar\n", ""),
        (HEAD + CALL + "ProgressBar = choose(ProgressBar)\n", ""),
        (HEAD + CALL + "def f(ProgressBar):\n    return ProgressBar()\n", ""),
        (HEAD + CALL + "from bars import Bar as ProgressBar\n", ""),
        (HEAD + CALL + "__all__ = ['ProgressBar']\n", ""),
        (HEAD + CALL + "print(globals()['ProgressBar'])\n", ""),
        (HEAD + CALL, "from a import ProgressBar\n"),
        (HEAD + CALL, "from pack.a import *\n\nprint(ProgressBar)\n"),
    ],
)
def test_a_name_that_may_be_another_one_or_is_taken_elsewhere_is_left_to_a_person(text: str, more: str) -> None:
    assert look(text, other=more) == ({"manual"}, text)


def test_a_call_in_code_of_no_known_age_is_left_to_a_person() -> None:
    assert look(HEAD + CALL, "") == ({"manual"}, HEAD + CALL)


def test_what_only_the_bar_of_tqdm_takes_is_answered_by_the_name() -> None:
    text = HEAD + (
        "class Bar(ProgressBar):\n    def init_validation_tqdm(self):\n"
        "        return super().init_validation_tqdm()\n\n\n"
        "Trainer(callbacks=[ProgressBar(refresh_rate=3, process_position=1)])\n"
    )
    made = run_rules({"a.py": text}, pins=(OLD,))
    mine = [item for item in made.findings if item.code in ("LIT230", "LIT250", "LIT252")]
    assert made.bugs == () and {item.code for item in mine} == {"LIT230", "LIT250", "LIT252"}
    assert all(item.applied for item in mine)
    assert made.final()["a.py"].decode().count("TQDMProgressBar") == 3


TOLD = HEAD + (
    "class Bar(ProgressBar):\n    def __init__(self, rate):\n        super().__init__(refresh_rate=rate)\n\n"
    "    def init_train_tqdm(self):\n        return None\n"
)


def test_a_class_that_only_the_bar_of_tqdm_serves_tells_what_is_meant() -> None:
    assert look(TOLD, "") == ({"safe"}, TOLD.replace("ProgressBar", "TQDMProgressBar"))
    unsure = TOLD.replace("refresh_rate=rate", "")
    assert look(unsure, "") == ({"unsafe"}, unsure.replace("ProgressBar", "TQDMProgressBar"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("init_train_tqdm", "make_bar"),
        ("        return None\n", "        return None\n\n    def go(self):\n        self.init_train_tqdm()\n"),
        ("class Bar(ProgressBar)", "class Bar(object)"),
    ],
)
def test_a_class_that_may_be_a_bar_of_its_own_tells_nothing(old: str, new: str) -> None:
    text = TOLD.replace(old, new)
    assert text != TOLD and look(text, "") == (set(), text)


def test_a_class_for_the_base_of_all_bars_stays() -> None:
    assert look(TOLD, "pytorch-lightning>=2.0") == (set(), TOLD)
