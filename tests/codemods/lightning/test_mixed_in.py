"""A class without a base is looked at as a part of what it is mixed into, where it is nothing else."""

from __future__ import annotations

import pytest

from tests.codemods.support import notebook, rewritten, rule, run_rules

PART = """\
class Part:
    def on_train_batch_start(self, batch, batch_idx, dataloader_idx):
        print(batch_idx)
"""
IMPORTS = "from part import Part\nfrom lightning.pytorch import LightningModule\n"
MODEL = (
    f"{IMPORTS}\n\nclass Model(Part, LightningModule):\n    pass\n\n    # def on_train_batch_start is that of Part\n"
)
RULE = rule("LIT210")
OTHERWISE = {
    "built": "from part import Part\n\nPart().on_train_batch_start(1, 2, 0)\n",
    "a plain class": "from part import Part\n\n\nclass Worker(Part):\n    pass\n",
    "a class of torch": "import torch\nfrom part import Part\n\n\nclass Worker(Part, torch.nn.Module):\n    pass\n",
    "a base that is not known": "from part import Part\nfrom its import Base\n\n\nclass W(Part, Base):\n    x = 1\n",
    "its hook called by name": "import part\n\n\ndef run(model):\n    part.Part.on_train_batch_start(model, 1, 2, 0)\n",
    "imported under another name": "from part import Part as Other\n\nOther().on_train_batch_start(1, 2, 0)\n",
    "under another name": "import part\n\nOther = part.Part\n",
    "in a file that does not parse": "from part import Part\nprint Part\n",
}


def test_it_is_rewritten_as_a_part_of_the_class() -> None:
    new = rewritten({"part.py": PART, "model.py": MODEL}, RULE)
    assert "def on_train_batch_start(self, batch, batch_idx):" in new["part.py"]


READ = "\n# def on_train_batch_start\n"
"""What makes a rule read a file that it would pass over, and know nothing of, otherwise."""


def beside(other: str) -> list[dict[str, str]]:
    """The files of a part, and another text beside them as a script and as a notebook."""
    files = {"part.py": PART, "model.py": MODEL}
    return [{**files, "other.py": other + READ}, {**files, "other.ipynb": notebook(other + READ)}]


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_it_is_besides_leaves_it_alone(name: str) -> None:
    assert [run_rules(files, RULE).changes for files in beside(OTHERWISE[name])] == [(), ()]


def test_what_makes_nothing_else_of_it_leaves_it_a_part() -> None:
    for files in beside("from part import Part\n"):
        assert "def on_train_batch_start(self, batch, batch_idx):" in rewritten(files, RULE)["part.py"]


IN_FRONT = {
    "LightningModule": PART,
    "EarlyStopping": PART.replace("self, batch,", "self, trainer, pl_module, batch,"),
}


@pytest.mark.parametrize("base", IN_FRONT)
def test_what_lightning_stands_in_front_of_is_left_alone(base: str) -> None:
    head = "from lightning.pytorch import LightningModule\nfrom lightning.pytorch.callbacks import EarlyStopping\n"
    model = f"{head}from part import Part\n\n\nclass Model({{}}):\n    pass\n\n    # def on_train_batch_start\n"
    files = {"part.py": IN_FRONT[base], "model.py": model.format(f"{base}, Part")}
    assert run_rules(files, RULE).changes == ()
    files["model.py"] = model.format(f"Part, {base}")
    assert rewritten(files, RULE)["part.py"] == IN_FRONT[base].replace(", dataloader_idx", "")


def test_a_constructor_that_another_may_pass_by_is_left_alone() -> None:
    part = PART.replace("class Part:\n", "class Part:\n    def __init__(self):\n        super().__init__()\n\n")
    text = MODEL.replace("    pass\n", "    def __init__(self):\n        LightningModule.__init__(self)\n")
    assert run_rules({"part.py": part, "model.py": text}, RULE).changes == ()
    assert run_rules({"part.py": part, "model.py": MODEL}, RULE).changes != ()


HIDDEN = {
    "a class": "from lightning.pytorch import LightningModule\n\n\nclass LightningModule:\n    pass\n",
    "a star": "from lightning.pytorch import LightningModule\nfrom mine import *\n",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_module_that_binds_the_name_anew_is_not_lightning(name: str) -> None:
    text = f"from compat import LightningModule\n\n\n{PART.replace('class Part:', 'class Model(LightningModule):')}"
    files = {"compat.py": HIDDEN[name], "mine.py": "class LightningModule:\n    pass\n", "train.py": text}
    assert run_rules(files, RULE).changes == ()
    plain = {**files, "compat.py": "from lightning.pytorch import LightningModule\n"}
    assert "def on_train_batch_start(self, batch, batch_idx):" in rewritten(plain, RULE)["train.py"]


def test_a_base_of_which_a_file_has_two_is_of_their_kind() -> None:
    base = "class Base(LightningModule):\n    x = {}\n\n\n"
    head = "from lightning.pytorch import LightningModule\n\n\n"
    model = PART.replace("class Part:", "class Model(Base):")
    text = f"{head}{base.format(1)}{base.format(2)}{model}"
    assert [item.fix for item in run_rules({"train.py": text}, RULE).findings] == ["safe"]


@pytest.mark.parametrize("star", ["from torch.nn import *\n", ""])
def test_a_star_of_torch_hides_no_class(star: str) -> None:
    files = {
        "m/__init__.py": f"from .a import *\n{star}",
        "m/a.py": "from lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n    pass\n",
        "train.py": f"from m import Base\n\n\n{PART.replace('class Part:', 'class Model(Base):')}",
    }
    assert "def on_train_batch_start(self, batch, batch_idx):" in rewritten(files, RULE)["train.py"]


def test_copies_of_a_package_know_their_own() -> None:
    own = {
        "__init__.py": "from .models import Base\n",
        "models.py": "from lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n    pass\n",
        "x.py": f"from . import Base\n\n\n{PART.replace('class Part:', 'class Model(Base):')}",
    }
    files = {f"{folder}{name}": text for folder in ("p/", "build/p/") for name, text in own.items()}
    assert {item.path for item in run_rules(files, RULE).findings} == {"p/x.py", "build/p/x.py"}
