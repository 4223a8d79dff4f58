"""LIT211: hooks that were called at other times, where that makes no difference."""

from __future__ import annotations

import pytest
import torch
from lightning.pytorch import LightningModule, Trainer

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from lightning.pytorch import Callback, LightningModule\n\n\n"
STEP = "    def training_step(self, batch, batch_idx):\n        return self.layer(batch).sum()\n\n"
EVALUATED = "    def validation_step(self, batch, batch_idx):\n        pass\n\n"
CLASS = "class Model(LightningModule):\n"
COUNT = "    def on_epoch_end(self):\n        self.said.append(self.current_epoch)\n\n"


def levels(text: str, pins: tuple[str, ...] = (), **others: str) -> set[str]:
    files = {"a.py": HEAD + text, **{f"{name}.py": other for name, other in others.items()}}
    return {finding.fix for finding in run_rules(files, rule("LIT211"), pins=pins).findings}


@pytest.mark.parametrize("hook", [COUNT, COUNT.replace("_end", "_start")])
def test_a_class_that_is_never_evaluated_hears_of_training_alone(hook: str) -> None:
    assert levels(CLASS + STEP + hook) == {"safe"}
    assert levels(CLASS + STEP + EVALUATED + hook) == {"unsafe"}
    assert levels(CLASS + STEP + EVALUATED.replace("validation", "test") + hook) == {"unsafe"}


@pytest.mark.parametrize(
    "text",
    [
        f"class Base(LightningModule):\n{EVALUATED}\n\nclass Model(Base):\n{STEP}{COUNT}",
        f"{CLASS}{STEP}{COUNT}\nclass Below(Model):\n{EVALUATED}",
        f"from other import Unknown\n\n\nclass Model(Unknown, LightningModule):\n{STEP}{COUNT}",
        f"{CLASS}{STEP}{COUNT}\nModel.validation_step = Model.training_step\n",
        f"{CLASS}{STEP}{COUNT}\nsetattr(Model, 'validation_step', Model.training_step)\n",
        f"import objectives\n\n\nclass Model(LightningModule, objectives.Evaluates):\n{STEP}{COUNT}",
        f"{CLASS}{STEP}{COUNT}\nModel.validation_step: object = Model.training_step\n",
        "class Watch(Callback):\n    def on_epoch_end(self, trainer, pl_module):\n        print('end')\n",
    ],
    ids=["above", "below", "unseen-base", "set", "set-by-name", "another-base", "set-annotated", "callback"],
)
def test_what_may_be_evaluated_is_not_sure(text: str) -> None:
    assert levels(text) == {"unsafe"}


def test_a_lightning_that_told_of_training_alone_validated_behind_the_hook() -> None:
    assert levels(CLASS + STEP + EVALUATED + COUNT, ("pytorch-lightning==1.1.8",)) == {"unsafe"}


WATCH = "class Watch(Callback):\n    def on_epoch_start(self, trainer, pl_module):\n        print(trainer)\n"
OTHER = "class Late(Callback):\n    def on_train_epoch_start(self, trainer, pl_module):\n        pass\n"


@pytest.mark.parametrize("text", [CLASS + STEP + EVALUATED + COUNT.replace("_end", "_start"), WATCH])
@pytest.mark.parametrize(
    ("pin", "level"),
    [("==1.0.8", "safe"), ("<1.2,>=0.7", "safe"), ("==0.9.0", "safe"), (">=1.0", "unsafe"), ("", "unsafe")],
)  # fmt: skip
def test_a_lightning_that_told_of_training_alone_called_the_start_at_the_same_point(
    text: str, pin: str, level: str
) -> None:
    pins = (f"pytorch-lightning{pin}",)
    assert levels(text, pins) == {level}
    assert levels(text, pins, other=HEAD + OTHER) == {"unsafe"}
    told = level if text != WATCH and pin != "<1.2,>=0.7" else "unsafe"
    assert levels(text.replace("_start", "_end"), pins) == {told}


@pytest.mark.parametrize("read", ["global_step", "trainer", "optimizers()", "lr_schedulers"])
def test_what_the_end_of_an_epoch_reads_may_have_been_other(read: str) -> None:
    helper = f"    def show(self):\n        print(self.{read})\n\n"
    ending = COUNT.replace("self.said.append(self.current_epoch)", "self.show()")
    text = CLASS + STEP + EVALUATED + ending + helper
    assert levels(text, ("pytorch-lightning==1.0.8",)) == {"unsafe"}
    assert levels(text.replace(f"self.{read}", "self"), ("pytorch-lightning==1.0.8",)) == {"safe"}


OF_0 = "    @pl.data_loader\n    def train_dataloader(self):\n        return []\n\n"


@pytest.mark.parametrize("hook", [COUNT, COUNT.replace("_end", "_start")])
def test_a_file_that_only_a_lightning_before_1_runs_was_told_of_training_alone(hook: str) -> None:
    text = f"import pytorch_lightning as pl\n\n\n{CLASS}{STEP}{EVALUATED}{hook}{OF_0}"
    assert levels(text) == {"safe"}
    assert levels(text.replace("    @pl.data_loader\n", "")) == {"unsafe"}
    assert levels(text, other=HEAD + OTHER.replace("_start", "_end") + OTHER) == {"unsafe"}
    assert levels(text + "if pl.__version__ < '1':\n    print('old')\n") == {"unsafe"}
    assert levels(text, ("pytorch-lightning>=1.8",)) == {"unsafe"}


def test_a_lightning_that_told_of_every_stage_is_told_by_module_and_callback_otherwise() -> None:
    started = CLASS + STEP + EVALUATED + COUNT.replace("_end", "_start")
    assert levels(started, ("pytorch-lightning==1.2.0",)) == {"safe"}
    assert levels(WATCH, ("pytorch-lightning==1.2.0",)) == {"unsafe"}
    assert levels(started, ("pytorch-lightning==1.2.0",), other=HEAD + OTHER) == {"unsafe"}


def test_is_called_once_an_epoch() -> None:
    text = HEAD + CLASS + STEP + COUNT + COUNT.replace("_end", "_start").replace("self.current_epoch", "'start'")
    space: dict[str, type[LightningModule]] = {}
    exec(rewritten({"a.py": text}, rule("LIT211"))["a.py"], space)  # type: ignore[arg-type]

    class Trained(space["Model"]):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.said = torch.nn.Linear(1, 1), list[object]()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    model = Trained()
    trainer = Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(model, torch.utils.data.DataLoader(torch.ones(2, 1)))
    assert model.said == ["start", 0, "start", 1]


def test_another_hook_of_that_name_may_run_between() -> None:
    watch = "\n\nclass Watch(Callback):\n    def on_train_epoch_end(self, trainer, pl_module):\n        print('end')\n"
    assert levels(CLASS + STEP + COUNT + watch) == {"unsafe"}
