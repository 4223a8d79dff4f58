"""What is recorded of one training, by the harness as a proof starts it, and whether the documentation says it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import verify
from tests import warm
from verify.evidence import Failure, Recording
from verify.harness.measures import planned
from verify.harness.watch import Watch
from verify.judging.record import events, read

ROOT = Path(verify.__file__).parent
PROGRAM = """
import os
import warnings
import lightning.pytorch as pl
import torch
from torch import nn


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.given, self.held, self.head = nn.Linear(2, 4), nn.Linear(4, 4), nn.Linear(4, 1)
        self.unused = nn.Linear(1, 1)
        self.free = nn.Parameter(torch.zeros(1))

    def training_step(self, batch, batch_idx):
        assert torch.are_deterministic_algorithms_enabled() and not torch.backends.cudnn.benchmark
        hidden = torch.zeros(1, 4)
        for x in batch[0].split(2, 1):
            hidden = torch.tanh(self.given(x).sum(1) + self.held(hidden))
            loss = self.head(hidden).pow(2).mean()
            self.manual_backward(loss, retain_graph=True)
            self.log("of_chunk", loss)
            self.log_dict({"first": loss, "second": 2.0})
        self.logger.log_metrics({"handed": loss}, step=self.global_step)
        self.logger.experiment.add_scalar("scalar", scalar_value=loss, global_step=1)
        self.logger.experiment.add_scalars("many", {"a": 1, "b": loss.item()}, 1)
        self.logger.experiment.add_image("image", torch.rand(3, 2, 2))
        optimizer = self.optimizers()
        nn.utils.clip_grad_norm_(self.parameters(), 0.01)
        optimizer.step()
        optimizer.zero_grad()
        self.lr_schedulers().step()
        warnings.warn("mind the gap")

    def validation_step(self, batch, batch_idx):
        assert not self.trainer.sanity_checking or batch_idx < 2
        self.log("val", self.given(batch[0]).mean())

    def configure_optimizers(self):
        optimizer = torch.optim.SGD([each for name, each in self.named_parameters() if name != "free"], lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)]


def in_a_worker(number):
    assert torch.utils.data.get_worker_info().num_workers == 1 and os.getpid() == HERE


HERE = os.getpid()
held = torch.utils.data.TensorDataset(torch.rand(20, 6, 2))
data = torch.utils.data.DataLoader(held, 2, num_workers=1, worker_init_fn=in_a_worker, persistent_workers=True)
trainer = pl.Trainer(
    max_epochs=5, precision="bf16-mixed", check_val_every_n_epoch=5, overfit_batches=10, benchmark=True,
    callbacks=[pl.callbacks.ModelCheckpoint("here")], logger=pl.loggers.TensorBoardLogger("there"),
)
assert trainer.checkpoint_callback is not None and type(trainer.logger) is pl.loggers.TensorBoardLogger
trainer.fit(Model(), data, data)
warnings.warn("of what follows")
raise RuntimeError("after the training")
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "tree").mkdir()
    (folder / "tree" / "train.py").write_text(PROGRAM)
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["lightning.pytorch"],
        "seed": 1, "seconds": 100, "limit_train_batches": 4, "limit_val_batches": 1, "max_epochs": 2,
        "record": str(folder / "record.jsonl"), "scratch": str(folder / "scratch"),
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    warm.run(folder / "spec.json", folder / "tree")
    return folder / "record.jsonl"


@pytest.fixture(scope="module")
def seen(record: Path) -> Recording:
    return read(record, "train.py").recording


def test_losses_metrics_and_steps_are_counted_and_few(seen: Recording) -> None:
    assert seen.failure == Failure("RuntimeError", "after the training", f"train.py:{_line('after the')}")
    assert (seen.fitted, len(seen.losses), seen.optimizer_steps, seen.global_step, seen.epochs) == (True, 24, 8, 8, 2)
    logged = dict(seen.logged)
    assert logged["of_chunk"] == seen.losses
    assert {name: len(values) for name, values in logged.items()} == {
        "first": 24, "second": 24, "of_chunk": 24, "val": 10, "logger: handed": 8, "logger: scalar": 8,
        "logger: many/a": 8, "logger: many/b": 8,
    }  # fmt: skip
    assert logged["logger: handed"] == logged["logger: scalar"] == logged["logger: many/b"] == seen.losses[2::3]
    assert logged["logger: many/a"] == (1.0,) * 8
    assert dict(seen.metrics).keys() == {"first", "second", "of_chunk", "val"}
    assert [rate for (rate,) in seen.learning_rates[:5]] == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.025])
    assert [(one.name, one.steps) for one in seen.schedulers] == [("StepLR", 8)]
    assert seen.schedulers[0].rates == pytest.approx([0.1 / 16])
    assert dict(seen.planned) == {
        "batches": 10, "devices": None, "epochs": 5, "every": 5, "max_steps": None, "nodes": None, "steps": 50,
    }  # fmt: skip


def test_gradients_states_and_casts_are_looked_at(seen: Recording) -> None:
    assert len(seen.gradient_norms) == 8
    assert max(seen.gradient_norms) == pytest.approx(0.01, rel=1e-2)
    assert {gradient.name: gradient.reached for gradient in seen.gradients} == {
        "given.weight": 24, "given.bias": 24, "held.weight": 24, "held.bias": 24, "head.weight": 24, "head.bias": 24,
        "unused.weight": 0, "unused.bias": 0, "free": 0,
    }  # fmt: skip
    assert set(seen.unreached) == {"unused.weight", "unused.bias", "free"}
    assert seen.unheld == ("free",)
    first, second, third, again = (nodes for nodes, _ in seen.graphs[:4])
    assert first < second < third and first == again
    assert all(casts for _, casts in seen.graphs)
    assert (seen.autocast, seen.precision, seen.device) == ("bfloat16", "bf16-mixed", "cpu")


def test_weights_memory_time_and_warnings_are_told(seen: Recording) -> None:
    assert seen.digest and re.fullmatch("[0-9a-f]{64}", seen.digest)
    assert [name for name, norm in seen.weights if norm > 0][:2] == ["given.weight", "given.bias"]
    assert seen.peak_memory and seen.peak_memory > 2**20
    assert seen.step_seconds and 0 < seen.step_seconds < 100
    assert [text for text in seen.warnings if "mind" in text] == ["UserWarning: mind the gap"]
    assert seen.warnings[-1] == "UserWarning: of what follows"


def test_all_that_is_written_is_documented(record: Path) -> None:
    text = (ROOT.parent / "docs/recording.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    documented = {event: set(re.findall(r"`(\w+)`", told)) for event, told in rows}
    found = {event["event"]: event.keys() - {"event"} for event in events(record)}
    assert {
        "start",
        "batch",
        "built",
        "loss",
        "step",
        "logged",
        "handed",
        "gradients",
        "fitted",
        "failure",
        "loaded",
    } == found.keys()
    assert {event: keys - documented[event] for event, keys in found.items() if keys - documented[event]} == {}


def test_up_to_one_five_the_accelerator_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    net = torch.nn.Linear(2, 1)

    class Accelerator:
        lightning_module = net

        def training_step(self, given: dict[str, Any]) -> Any:
            with torch.autocast("cpu", torch.bfloat16):
                return net(given["batch"]).mean()

        def backward(self, closure_loss: torch.Tensor, *args: Any) -> torch.Tensor:
            (closure_loss * 1024).backward()  # type: ignore[no-untyped-call]
            return closure_loss

    package, inner = ModuleType("lightning_of_then"), ModuleType("lightning_of_then.accelerators")
    vars(package).update(
        Trainer=type("Trainer", (), {"fit": print, "save_checkpoint": print}),
        LightningModule=type("L", (), {"log": print}),
    )
    vars(inner).update(Accelerator=Accelerator)
    for module in (package, inner):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    told: list[dict[str, Any]] = []
    watch = Watch(lambda event, **values: told.append({"event": event, **values}), {"seed": 1, "scratch": "scratch"})
    watch.patch_lightning(package)
    loss = Accelerator().training_step({"batch": torch.ones(1, 2)})
    Accelerator().backward(loss)
    assert [(event["value"], event["autocast"]) for event in told] == [(float(loss.detach()), "bfloat16")]
    assert watch.gradients.seen[id(net.weight)].reached == 1


@pytest.mark.parametrize("counts_what_is_done", [True, False])
def test_batches_are_counted_in_every_release(counts_what_is_done: bool) -> None:
    class Loop:
        total_batch_idx = 7

    loop = Loop()
    if counts_what_is_done:
        loop.total_batch_idx = 8
    module = type("Module", (), {"automatic_optimization": False})
    trainer = ModuleType("trainer")
    vars(trainer).update(
        fit_loop=type("Fit", (), {"epoch_loop": loop}), train_dataloader=range(20), lightning_module=module
    )
    assert planned(trainer, {"max_epochs": 5}, 8)["steps"] == 100


def _line(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)
