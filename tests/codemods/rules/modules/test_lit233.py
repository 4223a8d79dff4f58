"""LIT233: data modules whose constructor leaves out `super().__init__()`."""

from __future__ import annotations

import pytest
import torch
from lightning.pytorch import LightningDataModule, Trainer
from lightning.pytorch.demos.boring_classes import BoringModel
from torch.utils.data import DataLoader

from codemods.finding import Fix
from codemods.rules.modules.lit233 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\n\n\n"
CALL = "        super().__init__()\n"


def after(text: str) -> str:
    return rewritten({"a.py": text}, rule("LIT233"))["a.py"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("        self.a = a\n", 0),
        ('        """What it holds."""\n        self.a = a\n', 1),
        ('        """What it holds."""\n', 1),
        ("        # of old\n        self.a = a  # kept\n", 1),
        ("        if a:\n            self.a = a\n", 0),
        ("        self.a = (\n            a\n        )\n        self.save_hyperparameters()\n", 0),
    ],
)
def test_the_call_comes_first(body: str, place: int) -> None:
    text = f"{HEAD}class Data(pl.LightningDataModule):\n    def __init__(self, a):\n{body}"
    lines = body.splitlines(keepends=True)
    made = after(text)
    assert made == text.replace(body, "".join([*lines[:place], CALL, *lines[place:]]))
    assert after(made) == made


def test_line_ends_and_tabs_are_those_of_the_file() -> None:
    text = BEFORE.replace("    ", "\t").replace("\n", "\r\n")
    made = run_rules({"a.py": text}, rule("LIT233")).final()["a.py"]
    assert made == text.replace("\t\tself.folder", "\t\tsuper().__init__()\r\n\t\tself.folder").encode()


@pytest.mark.parametrize(
    "text",
    [
        "class Data(pl.LightningDataModule):\n    pass\n",
        "class Data(pl.LightningDataModule):\n    def __init__(self):\n        super().__init__()\n",
        "class Data(pl.LightningDataModule):\n    def __init__(self):\n        super(Data, self).__init__()\n",
        "class Data(pl.LightningDataModule):\n    def __init__(self):\n        pl.LightningDataModule.__init__(self)\n",
        "class Data(pl.LightningDataModule):\n    def __init__(self):\n        start(super())\n",
        "class Data:\n    def __init__(self):\n        self.a = 1\n",
        "class Data(Strange):\n    def __init__(self):\n        self.a = 1\n",
        "class Net(pl.LightningModule):\n    def __init__(self):\n        self.a = 1\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert run_rules({"a.py": HEAD + text}, rule("LIT233")).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "@dataclasses.dataclass\nclass Base(pl.LightningDataModule):\n    def __post_init__(self):\n"
        "        super().__init__()\n\n\n@dataclasses.dataclass\nclass Data(Base):\n    a: int = 1\n",
        "@dataclasses.dataclass(init=False)\nclass Data(pl.LightningDataModule):\n    a: int = 1\n",
        "@attr.s\nclass Data(pl.LightningDataModule):\n    def __attrs_post_init__(self):\n        self.begin()\n",
    ],
)
def test_a_dataclass_that_makes_the_call_is_left_alone(text: str) -> None:
    assert run_rules({"a.py": f"import attr\nimport dataclasses\n{HEAD}{text}"}, rule("LIT233")).findings == ()


def test_the_call_stands_before_a_decorator() -> None:
    body = "        @functools.cache\n        def load(i):\n            return i\n\n        self.load = load\n"
    text = f"import functools\n{HEAD}class Data(pl.LightningDataModule):\n    def __init__(self):\n{body}"
    assert after(text) == text.replace(body, CALL + body)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("class Data(pl.LightningDataModule, Mixin):\n    def __init__(self):\n        self.a = 1\n", "several bases"),
        ("class Data(pl.LightningDataModule):\n    def __init__(self): self.a = 1\n", "one line"),
        ("class Data(pl.LightningDataModule):\n    @wraps\n    def __init__(self):\n        self.a = 1\n", "unusual"),
        (
            "import dataclasses\n\n\n@dataclasses.dataclass\nclass Data(pl.LightningDataModule):\n    a: int = 1\n",
            "__post_init__",
        ),
    ],
)
def test_left_to_a_person(text: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + text}, "LIT233")
    assert why in reason and "super().__init__()" in reason


@pytest.mark.parametrize(
    ("above", "level"),
    [("    size = 1\n", "safe"), ("    def __init__(self, size):\n        super().__init__()\n", "manual")],
)
def test_a_base_of_the_project(above: str, level: Fix) -> None:
    base = f"{HEAD}class Base(pl.LightningDataModule):\n{above}"
    text = "from base import Base\n\n\nclass Data(Base):\n    def __init__(self):\n        self.a = 1\n"
    text += "\n    def train_dataloader(self):\n        return self.a\n"
    found = run_rules({"a.py": text, "base.py": base}, rule("LIT233")).findings
    assert [(item.path, item.fix) for item in found] == [("a.py", level)]


class Data(LightningDataModule):
    def __init__(self) -> None:
        self.rows = torch.zeros(4, 32)

    def train_dataloader(self) -> DataLoader[torch.Tensor]:
        return DataLoader(self.rows, batch_size=2)


class Whole(Data):
    def __init__(self) -> None:
        LightningDataModule.__init__(self)
        super().__init__()


def test_training_needs_it() -> None:
    def fit(data: LightningDataModule) -> int:
        trainer = Trainer(
            accelerator="cpu", max_steps=2, limit_val_batches=0, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(BoringModel(), datamodule=data)
        return trainer.global_step

    with pytest.raises(AttributeError, match="has no attribute"):
        fit(Data())
    assert fit(Whole()) == 2
