"""LIT222: hooks that are called without what they require."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
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


def test_an_annotation_is_believed_but_not_for_sure() -> None:
    files = FILES | {"a.py": GIVEN}
    (found,) = run_rules(files, rule("LIT222")).findings
    assert found.fix == "unsafe" and "believes the annotation" in found.reason
    assert rewritten(files, rule("LIT222"), unsafe=True)["a.py"] == GIVEN.replace("setup()", "setup(stage=None)")
    generic = DATA.replace("(pl.LightningDataModule)", "(pl.LightningDataModule, Generic[T])")
    files["pkg/data.py"] = f"from typing import Generic, TypeVar\n\nT = TypeVar('T')\n{generic}"
    assert rewritten(files, rule("LIT222"), unsafe=True)["a.py"] == GIVEN.replace("setup()", "setup(stage=None)")


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


MOVES = """\
import pytorch_lightning as pl
import torch


class Model(pl.LightningModule):
    def move(self, batch):
        return self.transfer_batch_to_device(batch, torch.device("cpu"))


def moved(batch):
    model = Model()
    there = model.transfer_batch_to_device(
        batch, device=model.device,
    )
    return there, model.move(batch)
"""


def test_a_batch_is_moved_with_the_index_of_its_loader() -> None:
    made = rewritten({"a.py": MOVES}, rule("LIT222"))["a.py"]
    assert made == MOVES.replace('device("cpu"))', 'device("cpu"), dataloader_idx=0)').replace(
        "device=model.device,", "device=model.device, dataloader_idx=0,"
    )
    assert rewritten({"a.py": made}, rule("LIT222"))["a.py"] == made
    before: dict[str, Any] = {}
    exec(MOVES, before)
    with pytest.raises(TypeError, match="dataloader_idx"):
        before["moved"](torch.ones(2))
    after: dict[str, Any] = {}
    exec(made, after)
    assert [item.tolist() for item in after["moved"](torch.ones(2))] == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("batch, device=model.device,", "batch, model.device, 0"),
        ("batch, device=model.device,", "*batch"),
        ("batch, device=model.device,", "batch, device=model.device, **more"),
        ("batch, device=model.device,", "batch"),
        ("    def move(self, batch):", "    @classmethod\n    def move(self, batch):"),
        ("    def move(self, batch):", "    def transfer_batch_to_device(self, batch, device, index=1):"),
        ("pl.LightningModule", "object"),
    ],
    ids=["with it", "starred", "by a dictionary", "without a device", "of the class", "its own", "no module"],
)
def test_other_moves_are_left_alone(old: str, new: str) -> None:
    text = MOVES.replace(old, new)
    assert text != MOVES
    made = run_rules({"a.py": text}, rule("LIT222"), unsafe=True).final().get("a.py", text.encode()).decode()
    line = next(line for line in made.splitlines() if line not in text.splitlines()) if made != text else ""
    assert new in made and ("dataloader_idx=0" in line) == (old != "pl.LightningModule" and "index=1" not in new)


def test_a_subclass_that_moves_otherwise_may_be_the_one() -> None:
    more = (
        "\n\nclass More(Model):\n    def transfer_batch_to_device(self, batch, device, dataloader_idx):\n        pass\n"
    )
    found = run_rules({"a.py": MOVES + more}, rule("LIT222")).findings
    assert [item.fix for item in found] == ["unsafe", "safe"]
