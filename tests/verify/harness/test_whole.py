from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.utilities import CombinedLoader
from torch import Tensor, nn, optim, rand
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from tests.verify.harness.test_standins import RAW
from verify.harness.whole import WholeLengths
from verify.retried import otherwise

ASKED = ("max_epochs", "limit_train_batches", "estimated_stepping_batches")


class Model(LightningModule):
    def __init__(self, whole: WholeLengths) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.whole = whole
        self.told: list[list[Any]] = []

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        self.whole.begun(self.trainer)
        if batch_idx == 0:
            self.told.append([getattr(self.trainer, name) for name in ASKED])
        while isinstance(batch, list):
            batch = batch[0]
        return self.layer(batch).sum()  # type: ignore[no-any-return]

    def configure_optimizers(self) -> optim.Optimizer:
        self.told.append([getattr(self.trainer, name) for name in ASKED])
        return optim.SGD(self.parameters(), lr=0.1)


def loader(count: int) -> Any:
    return DataLoader(TensorDataset(rand(count, 2)), batch_size=2)


class Stream(IterableDataset):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        yield from rand(9, 2)


def told(root: Path, tmp_path: Path, loaders: Any, **given: Any) -> list[list[Any]]:
    class Own(Trainer): ...

    counted: list[None] = []
    whole = WholeLengths(str(root), lambda: counted.append(None))
    whole.tell(Own)
    short = {**given, "max_epochs": 1, "limit_train_batches": 3}
    trainer = Own(
        **short, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=tmp_path,
    )  # fmt: skip
    whole.keep(trainer, given)
    model = Model(whole)
    trainer.fit(model, loaders)
    assert bool(counted) == (root != tmp_path)
    return model.told


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_epochs": 7}, [7, 1.0, 7 * 10]),
        ({"max_epochs": 7, "accumulate_grad_batches": 4}, [7, 1.0, 7 * 3]),
        ({"max_epochs": 7, "limit_train_batches": 0.5, "max_steps": 20}, [7, 0.5, 20]),
        ({"limit_train_batches": 4}, [1000, 4, 4000]),
        ({"max_steps": 500}, [-1, 1.0, 500]),
        ({"max_epochs": -1}, [-1, 1.0, math.inf]),
        ({"max_epochs": 7, "overfit_batches": 2}, [1, 2, 2]),
    ],
)
def test_a_project_is_told_of_its_whole_training_until_it_begins(
    given: dict[str, Any], expected: list[Any], tmp_path: Path
) -> None:
    before, running, *_ = told(Path(__file__).parent, tmp_path, loader(20), **given)
    assert before == expected
    assert running[:2] == [1, 2 if "overfit_batches" in given else 3]


def test_several_loaders_are_as_long_as_their_mode_makes_them(tmp_path: Path) -> None:
    for mode, count in (("max_size_cycle", 10), ("min_size", 4)):
        loaders = CombinedLoader([loader(20), loader(8)], mode)
        assert told(Path(__file__).parent, tmp_path, loaders, max_epochs=5)[0][2] == 5 * count


def test_what_cannot_be_counted_stays_as_it_is(tmp_path: Path) -> None:
    assert told(Path(__file__).parent, tmp_path, DataLoader(Stream(), batch_size=2), max_epochs=5)[0] == [5, 1.0, 3]


def test_lightning_itself_and_packages_see_the_short_training(tmp_path: Path) -> None:
    assert told(tmp_path, tmp_path, loader(20), max_epochs=7)[0] == [1, 3, 3]


def test_both_trees_are_told_where_one_alone_asks_and_numbers_differ() -> None:
    old, new = (replace(RAW, recording=replace(RAW.recording, fitted=True)) for _ in range(2))
    asks = replace(new, counted=True, recording=replace(new.recording, learning_rates=((0.1,),)))
    again = otherwise(old, asks, {})
    assert again is not None and again[0] == {"whole": ("lengths",)}
    assert otherwise(old, asks, again[0]) is None
    assert otherwise(replace(old, counted=True), asks, {}) is None
    assert otherwise(old, replace(new, counted=True), {}) is None
    assert otherwise(old, replace(asks, recording=replace(asks.recording, fitted=False)), {}) is None
    assert otherwise(None, asks, {}) is None
