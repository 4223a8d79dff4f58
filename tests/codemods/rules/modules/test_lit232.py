"""LIT232: `size()` of a data module."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import warm
from tests.codemods.support import rewritten, rule, run_rules
from tests.training.interpreters import python_for

DATA = """\
from pytorch_lightning import LightningDataModule


class Digits(LightningDataModule):
    def __init__(self):
        super().__init__()
        self.dims = (1, 28, 28)
"""
BASED = """\
from pytorch_lightning import LightningDataModule


class Base(LightningDataModule):
    dims = (1, 28, 28)


class Digits(Base):
    pass
"""
USE = "from data import Digits\n\ndm = Digits()\nmodel = Model({})\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("dm.size()", "dm.dims"),
        ("*dm.size()", "*dm.dims"),
        ("dm.size(0)", "dm.dims[0]"),
        ("dm.size(dim=-1)", "dm.dims[-1]"),
        ("dm.size(None)", "dm.dims"),
        ("dm.size( 1 )[0]", "dm.dims[1][0]"),
        ("(dm).size()", "(dm).dims"),
        ("(dm if x else dm).size(0)", "(dm if x else dm).dims[0]"),
        ("Digits().size()", "Digits().dims"),
    ],
)
def test_it_is_the_dims(before: str, after: str) -> None:
    files = {"data.py": DATA, "train.py": USE.format(before)}
    assert rewritten(files, rule("LIT232"))["train.py"] == USE.format(after)


def test_a_module_asks_its_trainer_and_a_data_module_itself() -> None:
    own = f"{DATA}\n    def shape(self):\n        return self.size()\n"
    assert rewritten({"data.py": own}, rule("LIT232"))["data.py"] == own.replace("self.size()", "self.dims")


@pytest.mark.parametrize(
    ("data", "level"),
    [
        (DATA, "safe"),
        (DATA.replace("    def __init__(self):\n        super().__init__()\n        self.dims", "    dims"), "safe"),
        (DATA.replace("__init__(self):\n        super().__init__()", "setup(self, stage):"), "unsafe"),
        (DATA.replace("self.dims = (1, 28, 28)", "if x:\n            self.dims = 1"), "unsafe"),
        (DATA.replace("self.dims", "self.shape"), "manual"),
        (BASED, "safe"),
    ],
)
def test_how_surely_they_are_set(data: str, level: str) -> None:
    made = run_rules({"data.py": data, "train.py": USE.format("dm.size()")}, rule("LIT232"))
    assert [item.fix for item in made.findings] == [level]


@pytest.mark.parametrize(
    "text",
    [
        USE.format("x.size(), dm.batch.size(0), size(dm)"),
        USE.format("dm.shape"),
        "import torch\n\ndm = torch.ones(3)\nprint(dm.size(0))\n",
        "def shape(batch, datamodule):\n    return batch.size()\n",
    ],
)
def test_what_is_no_data_module_or_asks_otherwise_stays(text: str) -> None:
    assert not run_rules({"data.py": DATA, "train.py": text}, rule("LIT232")).findings


@pytest.mark.parametrize(
    ("made", "levels"), [("Digits()", ["safe"]), ("Other()", ["manual"]), ("x or Digits()", ["manual"])]
)
def test_the_data_module_that_is_asked_tells(made: str, levels: list[str]) -> None:
    other = "\n\nclass Other(LightningDataModule):\n    pass\n"
    use = USE.format("dm.size()").replace("Digits()", made).replace("import Digits", "import Digits, Other")
    found = run_rules({"data.py": f"{DATA}{other}", "train.py": use}, rule("LIT232")).findings
    assert [item.fix for item in found] == levels


@pytest.mark.parametrize("use", ["dm.size", "dm.size(1, 2)", "dm.size(*more)", "apply(dm.size, 1)"])
def test_what_is_asked_for_otherwise_is_for_a_person(use: str) -> None:
    text = USE.format(f"{use}, x.size()")
    found = run_rules({"data.py": DATA, "train.py": text}, rule("LIT232")).findings
    assert [(item.fix, item.span.line) for item in found] == [("manual", 4)]


def test_what_may_be_a_data_module_by_its_name_is_for_a_person() -> None:
    text = "def shape(dm):\n    return dm.size()\n"
    [found] = run_rules({"data.py": DATA, "train.py": text}, rule("LIT232")).findings
    assert found.fix == "manual" and "cannot tell" in found.reason


def test_one_of_its_own_stays() -> None:
    own = f"{DATA}\n    def size(self):\n        return 3\n"
    assert not run_rules({"data.py": own, "train.py": USE.format("dm.size()")}, rule("LIT232")).findings


@pytest.mark.parametrize(("release", "asked"), [("1.6.5", "dm.size(), dm.size(0)"), ("2.6.6", "dm.dims, dm.dims[0]")])
def test_they_are_the_same_numbers(release: str, asked: str, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(DATA)
    ask = (
        f"import json\nfrom data import Digits\n\ndm = Digits()\nopen('told.json', 'w').write(json.dumps([{asked}]))\n"
    )
    (tmp_path / "ask.py").write_text(ask)
    done = warm.program(tmp_path / "ask.py", folder=tmp_path, python=python_for(release))
    assert done.returncode == 0, done.stdout
    assert json.loads((tmp_path / "told.json").read_text()) == [[1, 28, 28], 1]
