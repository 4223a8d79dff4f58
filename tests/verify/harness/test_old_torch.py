"""What is watched on a torch and a Python that lack what newer ones have."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch

from verify.harness import main as harness
from verify.harness.gradients import Gradients
from verify.harness.measures import autocast
from verify.harness.watch import around_steps
from verify.judging.record import read


def test_steps_are_seen_where_torch_has_no_hooks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"):
        monkeypatch.delattr(sys.modules["torch.optim.optimizer"], name)
    monkeypatch.setattr(torch.optim.Optimizer, "__init__", torch.optim.Optimizer.__init__)
    told: list[tuple[str, Any]] = []
    around_steps(lambda this, *_: told.append(("before", this)), lambda this, *_: told.append(("after", this)))

    class Own(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            told.append(("step", self))
            return closure()

    net = torch.nn.Linear(1, 1)
    first, second = (Own(net.parameters(), lr=0.1) for _ in range(2))
    torch.optim.lr_scheduler.StepLR(second, 1)
    for optimizer in (first, second):
        assert optimizer.step(lambda: "loss") == "loss"
    assert told == [(what, each) for each in (first, second) for what in ("before", "step", "after")]


def test_gradients_are_counted_before_they_are_added_where_that_is_all_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(torch.Tensor, "register_post_accumulate_grad_hook")
    net = torch.nn.Linear(2, 1)
    net.bias.requires_grad = False
    seen = Gradients("/nowhere")
    for _ in range(3):
        seen.hook(net)
        net(torch.ones(1, 2)).sum().backward()
    (row,) = seen.report(net)["parameters"]
    assert (row["name"], row["reached"], row["zero"], row["finite"], row["gradient"]) == (
        "weight", 3, False, True, "float32",
    )  # fmt: skip


def test_autocast_is_known_where_it_is_not_asked_by_device(monkeypatch: pytest.MonkeyPatch) -> None:
    on = {"gpu": False, "cpu": False}
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda: on["gpu"])
    monkeypatch.setattr(torch, "is_autocast_cpu_enabled", lambda: on["cpu"])
    monkeypatch.setattr(torch, "get_autocast_gpu_dtype", lambda: torch.float16)
    monkeypatch.setattr(torch, "get_autocast_cpu_dtype", lambda: torch.bfloat16)
    assert autocast() is None
    on["cpu"] = True
    assert autocast() == "bfloat16"
    on["gpu"] = True
    assert autocast() == "float16"


@pytest.mark.parametrize("name", ["OLDEST", "lightning_packages"])
def test_what_cannot_be_watched_is_told_as_such_and_is_no_failure_of_the_project(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, name: str
) -> None:
    def fails(names: list[str]) -> None:
        raise ImportError("torch is too old")

    monkeypatch.setattr(harness, name, (99, 0) if name == "OLDEST" else fails)
    idle = dict.fromkeys(("watch_trackers", "lend", "lend_loading"), lambda *given: None)
    part = type("Part", (), {**idle, "LENT": {}})
    monkeypatch.setattr(harness, "beside", lambda name: part)
    record = harness.Record(str(tmp_path / "record"))
    assert harness.prepared({"namespaces": [], "seed": 1}, record) is None
    told = read(tmp_path / "record", "train.py")
    assert told.unusable in ("RuntimeError: a proof runs on Python 99.0 or newer", "ImportError: torch is too old")
    assert told.recording.failure is None
