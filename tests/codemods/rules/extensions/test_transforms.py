"""LIT250: `train_transforms` and its like, which a data module had of Lightning's."""

from __future__ import annotations

import pytest
from lightning.pytorch import LightningDataModule

from tests.codemods.support import refusals, rewritten, rule

TEXT = """\
from pytorch_lightning import LightningDataModule


class Data(LightningDataModule):
    def __init__(self, root):
        super().__init__()  # Lightning's
        self.root = root

    def setup(self, stage=None):
        self.train = self.default() if self.train_transforms is None else self.train_transforms
        self.val = self.val_transforms or self.default()

    def default(self):
        return self.root
"""
SET = "# Lightning's\n        self.train_transforms = None\n        self.val_transforms = None\n"


def test_the_newest_has_none() -> None:
    assert not hasattr(LightningDataModule(), "train_transforms")


def test_the_constructor_sets_what_is_read() -> None:
    after = rewritten({"a.py": TEXT}, rule("LIT250"))["a.py"]
    assert after == TEXT.replace("# Lightning's\n", SET)
    assert rewritten({"a.py": after}, rule("LIT250"))["a.py"] == after
    space: dict[str, object] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), space)
    data = space["Data"]("here")  # type: ignore[operator]
    data.setup()
    assert (data.train, data.val) == ("here", "here")


def test_line_ends_stay() -> None:
    text = TEXT.replace("\n", "\r\n")
    assert rewritten({"a.py": text}, rule("LIT250"))["a.py"] == TEXT.replace("# Lightning's\n", SET).replace(
        "\n", "\r\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("super().__init__()", "super().__init__(root, *more)"),
        ("super().__init__()", "super().__init__(val_transforms=root, **more)"),
        ("super().__init__()", "super().__init__(root, root, root, root, root)"),
        ("super().__init__()", "super().__init__(  # why\n            root)"),
        ("super().__init__()", "super().__init__(**root)"),
        ("super().__init__()", "if root: super().__init__()"),
        ("super().__init__()", "super().__init__(); self.n = 1"),
        ("    def __init__(self, root):\n        super().__init__()  # Lightning's\n        self.root = root\n\n", ""),
    ],
)
def test_without_a_place_it_is_for_a_person(old: str, new: str) -> None:
    reasons = refusals({"a.py": TEXT.replace(old, new)}, "LIT250")
    assert len(reasons) == 3
    assert all("set it in __init__" in reason for reason in reasons)


@pytest.mark.parametrize(
    "more",
    ["\n\ndata = Data('x')\ndata.train_transforms = print\n", "\n\nclass Own(Data):\n    train_transforms = 3\n"],
)
def test_what_the_project_sets_itself_is_its_own(more: str) -> None:
    after = rewritten({"a.py": TEXT + more}, rule("LIT250"))["a.py"]
    assert "self.train_transforms = None" not in after
    assert "self.val_transforms = None" in after


GIVEN = """\
from pytorch_lightning import LightningDataModule


class Data(LightningDataModule):
    def __init__(self, root, first=None, last=None):
        super().__init__(CALL)
        self.root = root

    def setup(self, stage=None):
        self.both = self.train_transforms, self.val_transforms
"""


@pytest.mark.parametrize(
    ("call", "left", "train", "val"),
    [
        ("first, last", "", "first", "last"),
        ("first", "", "first", "None"),
        ("train_transforms=first, val_transforms=make(last)", "", "first", "make(last)"),
        ("first, last, None, (1, 2)", "dims=(1, 2)", "first", "last"),
        ("first, *root, val_transforms=last, **root", "*root, **root", "first", "last"),
        ("\n            val_transforms=last,\n        ", "", "None", "last"),
    ],
)
def test_what_the_constructor_gave_is_kept(call: str, left: str, train: str, val: str) -> None:
    after = rewritten({"a.py": GIVEN.replace("CALL", call)}, rule("LIT250"))["a.py"]
    test = "        self.test_transforms = None\n" if "None, (1" in call else ""
    lines = f"        self.train_transforms = {train}\n        self.val_transforms = {val}\n{test}"
    assert after == GIVEN.replace("CALL)\n", f"{left})\n{lines}")
    assert rewritten({"a.py": after}, rule("LIT250"))["a.py"] == after


def test_it_is_kept_as_lightning_kept_it() -> None:
    text = GIVEN.replace("CALL", "first, val_transforms=last")
    after = rewritten({"a.py": text}, rule("LIT250"), rule("LIT230"))["a.py"]
    space: dict[str, object] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), space)
    data = space["Data"]("here", 1, 2)  # type: ignore[operator]
    data.setup()
    assert data.both == (1, 2)


@pytest.mark.parametrize(
    "above",
    [
        "class Base(LightningDataModule):\n    def __init__(self, first, last):\n        super().__init__()\n\n\n",
        "from other import Base\n\n\n",
    ],
)
def test_a_base_of_the_project_may_take_it_for_something_else(above: str) -> None:
    text = GIVEN.replace("CALL", "first, last").replace("class Data(LightningDataModule)", f"{above}class Data(Base)")
    assert rewritten({"a.py": text}, rule("LIT250"))["a.py"] == text
