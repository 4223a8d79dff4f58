"""LIT210: the index of one of several loaders, which a step has to call dataloader_idx, run and left."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import train

LIT = rule("LIT210")
PROGRAM = """\
import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen = []

    def validation_step(self, batch, batch_idx, which: int):
        self.seen.append(which)
        print({"which": which}, dict(which=which), batch_idx)


def main():
    loaders = [DataLoader(torch.ones(2, 2)), DataLoader(torch.ones(1, 2))]
    model = Model()
    Trainer(logger=False, enable_checkpointing=False).validate(model, loaders)
    return model.seen
"""


def test_the_index_is_known_by_its_name() -> None:
    after = rewritten({"train.py": PROGRAM}, LIT)["train.py"]
    assert "    def validation_step(self, batch, batch_idx, dataloader_idx: int = 0):\n" in after
    assert '        print({"which": dataloader_idx}, dict(which=dataloader_idx), batch_idx)\n' in after
    assert rewritten({"train.py": after}, LIT)["train.py"] == after
    done = train({"train.py": after}, script=None, module="train", function="main")
    assert done.failure is None and done.returned == [0, 0, 1]
    alone = after.replace("(model, loaders)", "(model, loaders[:1])")
    done = train({"train.py": alone}, script=None, module="train", function="main")
    assert done.failure is None and done.returned == [0, 0]
    assert train({"train.py": PROGRAM}, script=None, module="train", function="main").failure is not None


def test_what_only_own_calls_give_may_stand_behind_the_index() -> None:
    own = "    def test_step(self, batch, i, which):\n        return self.validation_step(batch, 0, which, False)\n"
    program = PROGRAM.replace("which: int)", "which: int, loud=True)").replace("\n\n\ndef", f"\n\n{own}\n\ndef")
    after = rewritten({"train.py": program}, LIT)["train.py"]
    assert "    def validation_step(self, batch, batch_idx, dataloader_idx: int = 0, loud=True):\n" in after
    assert "return self.validation_step(batch, 0, dataloader_idx, False)\n" in after
    assert rewritten({"train.py": after}, LIT)["train.py"] == after
    for way in ("validate", "test"):
        text = after.replace(".validate(", f".{way}(")
        done = train({"train.py": text}, script=None, module="train", function="main")
        assert done.failure is None and done.returned == [0, 0, 1]
    assert train({"train.py": program}, script=None, module="train", function="main").failure is not None


STEP = PROGRAM.split("\n\ndef main")[0]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("self.seen.append(which)", "self.seen.append(dataloader_idx)", "of its own"),
        ("self.seen.append(which)", "self.seen.append(lambda which: which)", "fixer cannot tell"),
        ("self.seen.append(which)", "self.seen.append(f'{which}')", "fixer cannot tell"),
        ("self.seen.append(which)", "self.validation_step(batch, 0, which=1)", "seems to give it"),
    ],
)
def test_left_with_the_reason(old: str, new: str, why: str) -> None:
    [reason] = refusals({"train.py": STEP.replace(old, new)}, "LIT210")
    assert why in reason


def test_a_relative_with_the_step_is_left() -> None:
    step = "    def validation_step(self, batch, i, which):\n        pass\n"
    child = f"from train import Model\n\n\nclass Child(Model):\n{step}"
    found = run_rules({"train.py": STEP, "child.py": child}, LIT).findings
    assert {each.fix for each in found} == {"manual"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("which: int", "dataloader_idx=0"),
        ("which: int", "optimizer_idx=0"),
        ("which: int", "dataset='val'"),
        (", which: int", ""),
        ("batch_idx, which: int", "*which"),
        ("which: int", "dataset_name=None, log=True"),
        ("which: int", "which, log"),
        ("which: int", "data_nb=0, dataloader_idx=0"),
        ("(LightningModule)", "(torch.nn.Module)"),
        ("validation_step", "training_step"),
    ],
)
def test_not_spoken_of(old: str, new: str) -> None:
    assert run_rules({"train.py": STEP.replace(old, new)}, LIT).findings == ()


def test_an_index_with_a_default_is_known_by_its_look() -> None:
    text = STEP.replace("which: int", "dataset_nb=None").replace("which", "dataset_nb")
    assert "batch_idx, dataloader_idx=None):" in rewritten({"train.py": text}, LIT)["train.py"]
    text = text.replace("dataset_nb=None", "dataset_nb=None, loud=True")
    assert "batch_idx, dataloader_idx=None, loud=True):" in rewritten({"train.py": text}, LIT)["train.py"]
