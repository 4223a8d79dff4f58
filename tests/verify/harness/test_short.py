from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from verify.harness.short import leave_out_searches, own_random, smoke
from verify.sandbox.process import scrubbed


class Listed(Sequence[Any]):
    """A list as hydra hands it over: no list, and with no attributes of what it holds."""

    def __init__(self, *held: Any) -> None:
        self.held = held

    def __getitem__(self, at: Any) -> Any:
        return self.held[at]

    def __len__(self) -> int:
        return len(self.held)


class EarlyStopping: ...


class ModelCheckpoint: ...


class DeviceStatsMonitor: ...


def test_lists_of_a_configuration_are_lists_to_the_trainer() -> None:
    names = frozenset({"callbacks", "logger", "max_epochs"})
    spec = {"device": "cpu", "scratch": ".", "limit_train_batches": 8, "limit_val_batches": 2, "max_epochs": 2}
    stopping, kept, loggers = EarlyStopping(), ModelCheckpoint(), Listed()
    found = smoke({"callbacks": Listed(stopping, kept, DeviceStatsMonitor()), "logger": loggers}, names, spec)
    assert found == {"callbacks": [stopping, kept], "logger": loggers, "max_epochs": 2}
    assert smoke({"callbacks": stopping, "logger": None}, names, spec)["callbacks"] == [stopping]


def test_no_argument_makes_a_training_longer() -> None:
    names = ("limit_train_batches", "limit_val_batches", "max_epochs", "overfit_batches", "fast_dev_run")
    spec = {"device": "cpu", "scratch": ".", "limit_train_batches": 8, "limit_val_batches": 2, "max_epochs": 2}

    def shortened(**given: Any) -> list[Any]:
        found = smoke(given, frozenset({*names, "num_sanity_val_steps"}), spec)
        assert found["num_sanity_val_steps"] == 2
        return [found.get(name) for name in names]

    assert shortened(num_sanity_val_steps=-1) == [8, 2, 2, None, None]
    assert shortened(limit_train_batches=1.0, limit_val_batches=50, max_epochs=-1) == [8, 2, 2, None, None]
    assert shortened(limit_train_batches=3, limit_val_batches=0, max_epochs=1) == [3, 0, 1, None, None]
    assert shortened(overfit_batches=100, fast_dev_run=20) == [8, 2, 2, 8, 8]
    assert shortened(overfit_batches=0.5, fast_dev_run=True) == [8, 2, 2, 8, True]
    assert shortened(overfit_batches=0.0, fast_dev_run=3) == [8, 2, 2, 0.0, 3]


@pytest.mark.parametrize(("device", "new", "old"), [("cuda", "gpu", {"gpus": 1}), ("cpu", "cpu", {})])
def test_one_gpu_is_used_where_there_is_one(device: str, new: str, old: dict[str, int]) -> None:
    spec = {"device": device, "scratch": ".", "limit_train_batches": 8, "limit_val_batches": 2, "max_epochs": 2}
    given = {"accelerator": "ddp", "devices": 4, "gpus": 4, "num_nodes": 2, "strategy": "ddp", "precision": 16}
    found = smoke(given, frozenset(given), spec)
    assert found == {"accelerator": new, "devices": 1, "precision": 16}
    given = {"gpus": 4, "distributed_backend": "ddp"}
    assert smoke(given, frozenset(given), spec) == old


def test_the_user_may_hide_the_gpu_for_a_second_opinion(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert scrubbed(tmp_path, 1)["CUDA_VISIBLE_DEVICES"] == ""


def test_a_search_whose_answer_nothing_reads_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from lightning import pytorch
    from lightning.pytorch.tuner.tuning import Tuner

    made: Any = Tuner
    monkeypatch.setattr(made, "scale_batch_size", made.scale_batch_size)
    monkeypatch.setattr(made, "lr_find", lambda self, model, num_training=100: "found")
    leave_out_searches(pytorch)
    tuner: Any = Tuner.__new__(Tuner)
    tuner.lr_find(None)
    assert tuner.lr_find(None, num_training=3) == "found"
    with pytest.raises(TypeError):
        tuner.lr_find(None, steps=3)
    with pytest.raises(TypeError):
        tuner.scale_batch_size()


def test_batches_leave_the_generator_of_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.Generator().manual_seed(7)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: gpu.get_state())
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: gpu.set_state(state))
    before = gpu.get_state()
    with own_random(3):
        torch.manual_seed(5)  # as a `worker_init_fn` does, where this process fetches what a worker would
        gpu.manual_seed(5)
    assert torch.equal(gpu.get_state(), before)
