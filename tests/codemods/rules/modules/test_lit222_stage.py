"""LIT222: setup() and teardown() that are called without their stage."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch import LightningDataModule, LightningModule

from tests.codemods.support import rewritten, rule, run_rules

DATA = """\
import pytorch_lightning as pl


class Data(pl.LightningDataModule):
    def train_dataloader(self):
        return 1


class More(Data):
    pass
"""
SCRIPT = "from pkg import data\n\n\ndef main():\n    dm = data.More()\n    dm.setup()\n"
FILES = {"pkg/__init__.py": "", "pkg/data.py": DATA, "a.py": SCRIPT}


@pytest.mark.parametrize("kind", [LightningModule, LightningDataModule])
def test_the_newest_wants_a_stage_and_does_nothing_with_it(kind: type) -> None:
    for name in ("setup", "teardown"):
        assert inspect.signature(getattr(kind, name)).parameters["stage"].default is inspect.Parameter.empty
        assert getattr(kind(), name)(stage=None) is None


@pytest.mark.parametrize("name", ["setup", "teardown"])
def test_told(name: str) -> None:
    files = FILES | {"a.py": SCRIPT.replace("setup", name)}
    assert rewritten(files, rule("LIT222"))["a.py"].endswith(f"    dm.{name}(stage=None)\n")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("pkg/data.py", "def train_dataloader(self)", "def setup(self, stage=None)"),
        ("pkg/data.py", "class Data(pl.LightningDataModule)", "class Data(Unseen, pl.LightningDataModule)"),
        ("pkg/data.py", "class Data(pl.", "from x import Unseen\n\n\nclass Data(Unseen, pl."),
        ("pkg/data.py", "pl.LightningDataModule", "object"),
        ("a.py", "setup()", 'setup("fit")'),
        ("a.py", "setup()", "setup(*stages)"),
        ("a.py", "data.More()", "wrap(data.More)"),
        ("a.py", "data.More()", "data.More() if x else None"),
        ("a.py", "    dm.setup", "    dm = other()\n    dm.setup"),
    ],
)
def test_left_alone(path: str, old: str, new: str) -> None:
    assert old in FILES[path]
    assert run_rules(FILES | {path: FILES[path].replace(old, new)}, rule("LIT222")).findings == ()


GIVEN = "from pkg import data\n\n\ndef main(dm: data.Data):\n    dm.setup()\n"


def test_of_what_is_said_to_be_one() -> None:
    files = FILES | {"a.py": GIVEN}
    assert rewritten(files, rule("LIT222"))["a.py"] == GIVEN.replace("setup()", "setup(stage=None)")
    generic = DATA.replace("(pl.LightningDataModule)", "(pl.LightningDataModule, Generic[T])")
    files["pkg/data.py"] = f"from typing import Generic, TypeVar\n\nT = TypeVar('T')\n{generic}"
    assert rewritten(files, rule("LIT222"))["a.py"] == GIVEN.replace("setup()", "setup(stage=None)")


def test_a_subclass_may_take_something_else() -> None:
    below = DATA.replace(
        "class More(Data):\n    pass", "class More(Data):\n    def setup(self, when=None):\n        pass"
    )
    files = FILES | {"a.py": GIVEN, "pkg/data.py": below}
    assert [item.fix for item in run_rules(files, rule("LIT222")).findings] == ["unsafe"]
    own = FILES | {
        "a.py": GIVEN,
        "pkg/data.py": DATA.replace("def train_dataloader(self)", "def setup(self, stage=None)"),
    }
    assert run_rules(own, rule("LIT222")).findings == ()
