"""LIT121: which loaders of a Trainer are rewritten, what is left, and what both releases then hold."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules
from tests.training import same

OLD = ("pytorch-lightning<2",)
HEAD = "from pytorch_lightning import Callback, LightningModule, Trainer\n\n\n"
HOOK = "class Watch(Callback):\n    def on_test_start(self, trainer, pl_module):\n        "
HELD = "CombinedLoader(trainer.test_dataloaders).flattened"
LOOK = "if isinstance(trainer.test_dataloaders, list):\n            "


def made(body: str, *, head: str = HEAD, pins: tuple[str, ...] = OLD, unsafe: bool = False) -> tuple[str, list[str]]:
    """The text after the rule, and the levels of what it found."""
    plan = run_rules({"train.py": head + body + "\n"}, rule("LIT121"), unsafe=unsafe, pins=pins)
    assert plan.bugs == ()
    text = plan.final().get("train.py", (head + body + "\n").encode()).decode()
    return text.split("\n\n\n", 1)[1].rstrip("\n"), [finding.fix for finding in plan.findings]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = trainer.test_dataloaders[0]", f"x = {HELD}[0]"),
        ("for x in trainer.test_dataloaders: print(x)", f"for x in {HELD}: print(x)"),
        ("x = [len(y) for y in trainer.test_dataloaders]", f"x = [len(y) for y in {HELD}]"),
        ("x = len(trainer.test_dataloaders)", f"x = len({HELD})"),
        ("for i, x in enumerate(trainer.test_dataloaders): print(i)", f"for i, x in enumerate({HELD}): print(i)"),
        ("x = trainer.train_dataloader.loaders", "x = trainer.train_dataloader"),
        ("x = trainer.train_dataloader.loaders.dataset", "x = trainer.train_dataloader.dataset"),
    ],
)
def test_written(before: str, after: str) -> None:
    assert made(HOOK + before) == (HOOK + after, ["safe"])


def test_one_loader_is_only_likely() -> None:
    before, after = "x = trainer.train_dataloader.dataset.datasets", "x = trainer.train_dataloader.dataset"
    assert made(HOOK + before) == (HOOK + before, ["unsafe"])
    assert made(HOOK + before, unsafe=True)[0] == HOOK + after


def test_of_both_generations_a_list_is_only_likely() -> None:
    before = "x = trainer.test_dataloaders[0]"
    assert made(HOOK + before, pins=("pytorch-lightning>=1.6",)) == (HOOK + before, ["unsafe"])
    assert made(HOOK + before, pins=()) == (HOOK + before, ["unsafe"])


@pytest.mark.parametrize(
    "body",
    [
        "self.show(trainer.test_dataloaders)",
        "loaders = trainer.val_dataloaders",
        "return trainer.predict_dataloaders",
        "trainer.test_dataloaders = []",
        "trainer.train_dataloader = None",
    ],
)
def test_said(body: str) -> None:
    assert made(HOOK + body) == (HOOK + body, ["manual"])


@pytest.mark.parametrize(
    "body",
    [
        HOOK + "print(trainer.test_dataloaders is None)",
        HOOK + "x = trainer.val_dataloaders.dataset",
        HOOK + "x = trainer.val_dataloaders or ()",
        HOOK + f"{LOOK}x = trainer.test_dataloaders[0]",
        HOOK + "x = len(trainer.train_dataloader)",
        HOOK + "x = trainer.train_dataloader.dataset",
        HOOK + "x = trainer.datamodule.train_dataloader()",
        "class Data:\n    def show(self, loader):\n        return loader.val_dataloaders[0]",
        "def show(loader):\n    return loader.train_dataloader.loaders",
        "def show(trainer: int):\n    return trainer.val_dataloaders[0]",
        "class Model(LightningModule):\n    def go(self):\n        return self.train_dataloader.loaders",
    ],
)
def test_left_alone(body: str) -> None:
    assert made(body, unsafe=True) == (body, [])


def test_code_for_2_is_left_alone() -> None:
    body = HOOK + "x = [len(y) for y in trainer.test_dataloaders]"
    assert made(body, pins=("lightning>=2.0",), unsafe=True) == (body, [])


def test_a_name_that_the_file_has_is_not_taken() -> None:
    body = HOOK + "x = trainer.test_dataloaders[0]"
    assert made(body, head=f"CombinedLoader = None\n{HEAD}")[1] == ["manual"]


TRAIN = """\
import torch
from pytorch_lightning import Callback, LightningModule, Trainer
from torch.utils.data import DataLoader


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Count(Callback):
    def on_train_epoch_start(self, trainer, pl_module):
        pl_module.log("training", float(trainer.train_dataloader.loaders.batch_size))

    def on_validation_epoch_end(self, trainer, pl_module):
        if not trainer.sanity_checking:
            pl_module.log("loaders", float(len(trainer.val_dataloaders)))
            pl_module.log("images", float(sum(len(loader.dataset) for loader in trainer.val_dataloaders)))
            pl_module.log("size", float(trainer.val_dataloaders[0].batch_size))


def load(number, size):
    return DataLoader(torch.randn(number, 2), batch_size=size)


trainer = Trainer(max_epochs=2, callbacks=[Count()])
trainer.fit(Model(), load(6, 2), LOADERS)
"""


@pytest.mark.parametrize("loaders", ["load(9, 3)", "[load(9, 3), load(4, 2)]"])
def test_the_same_is_held(loaders: str) -> None:
    before = TRAIN.replace("LOADERS", loaders)
    plan = run_rules({"train.py": before}, rule("LIT121"), pins=OLD)
    old, new = same({"train.py": before}, {"train.py": plan.final()["train.py"].decode()})
    assert new.failure is None
    assert {"training", "loaders", "images", "size"} <= set(new.metrics)
    assert {name: old.metrics[name] for name in new.metrics} == dict(new.metrics)
