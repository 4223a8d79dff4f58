"""The gradient report: trained in the harness, as a proof does it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from verify.evidence import Recording
from verify.judging.record import read

PROGRAM = """\
import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 2)
        self.second = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        hidden = self.first(batch[0])
        loss = F.mse_loss(self.second(hidden), batch[0][:, :1])
        self.log("shown", loss.detach())
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(8, 2))
    Trainer(max_epochs=1).fit(Model(), torch.utils.data.DataLoader(data, batch_size=4))
"""
RETURN = "        return loss\n"
HIDDEN = "        hidden = self.first(batch[0])\n"


def trained(folder: Path, text: str) -> Recording:
    tree = folder / "tree"
    tree.mkdir()
    (tree / "train.py").write_text(text)
    spec: dict[str, Any] = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["lightning.pytorch"],
        "seed": 1, "seconds": 100, "limit_train_batches": 4, "limit_val_batches": 1, "max_epochs": 1,
        "record": str(folder / "record"), "scratch": str(folder / "scratch"),
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    warm.run(folder / "spec.json", tree)
    return read(folder / "record", "train.py").recording


def line(text: str, part: str) -> int:
    return next(number for number, found in enumerate(text.splitlines(), 1) if part in found)


def test_every_parameter_is_reached(tmp_path: Path) -> None:
    seen = trained(tmp_path, PROGRAM)
    assert seen.failure is None and seen.lost == ()
    assert [row.name for row in seen.gradients] == ["first.weight", "first.bias", "second.weight", "second.bias"]
    for row in seen.gradients:
        assert (row.reached, row.zero, row.finite, row.dtype, row.gradient) == (2, False, True, "float32", "float32")
        assert (row.losses, row.cut) == (("training_step",), None)


@pytest.mark.parametrize(
    ("change", "operation"),
    [
        ("        return torch.tensor(loss.item())\n", "item"),
        ("        return loss.data + 1\n", "data"),
        ("        return (self.second(hidden).argmax(1) == 0).float().mean()\n", "argmax"),
        ("        return torch.from_numpy(loss.detach().numpy())\n", "detach"),
    ],
)
def test_what_cut_a_loss_is_named_by_its_line(tmp_path: Path, change: str, operation: str) -> None:
    text = PROGRAM.replace(RETURN, change)
    seen = trained(tmp_path, text)
    assert seen.failure is not None and "element 0 of tensors does not require grad" in seen.failure.message
    place = f"{operation} at train.py:{line(text, change.strip())}"
    assert [(lost.loss, lost.cut) for lost in seen.lost] == [("training_step", place)]
    assert {row.cut for row in seen.gradients} == {place}


def test_a_loss_that_is_told_to_require_a_gradient_hides_nothing(tmp_path: Path) -> None:
    text = PROGRAM.replace(RETURN, "        return torch.tensor(loss.item(), requires_grad=True)\n")
    seen = trained(tmp_path, text)
    assert seen.failure is None and seen.fitted
    assert seen.lost[0].cut == f"item at train.py:{line(text, 'requires_grad=True')}"
    assert not any(row.reached for row in seen.gradients)


def test_a_part_that_is_cut_off_is_told_from_what_is_only_logged(tmp_path: Path) -> None:
    text = PROGRAM.replace(HIDDEN, HIDDEN.replace("(batch[0])", "(batch[0]).detach()"))
    seen = trained(tmp_path, text)
    place = f"detach at train.py:{line(text, 'hidden = ')}"
    assert [row.cut for row in seen.gradients] == [place, place, None, None]
    assert [row.reached for row in seen.gradients] == [0, 0, 2, 2]
    assert seen.lost == () and seen.unreached == ("first.weight", "first.bias")


def test_gradients_that_are_off(tmp_path: Path) -> None:
    off = "        with torch.no_grad():\n    " + HIDDEN
    text = PROGRAM.replace(HIDDEN, off)
    seen = trained(tmp_path, text)
    assert seen.gradients[0].cut is not None
    assert seen.gradients[0].cut.startswith("linear without gradients")
    assert seen.gradients[0].cut.endswith(f"train.py:{line(text, 'hidden = ')}")


def test_zero_and_infinite_gradients(tmp_path: Path) -> None:
    zero = trained(tmp_path, PROGRAM.replace(RETURN, "        return loss * 0\n"))
    assert all(row.zero and row.reached for row in zero.gradients)
    (tmp_path / "again").mkdir()
    odd = trained(tmp_path / "again", PROGRAM.replace(RETURN, "        return loss * float('inf')\n"))
    assert not any(row.finite for row in odd.gradients)


def test_which_loss_reached_a_parameter(tmp_path: Path) -> None:
    manual = (
        "        first, second = self.first(batch[0]).sum(), self.second(batch[0]).sum()\n"
        "        self.manual_backward(first)\n        self.manual_backward(second)\n"
    )
    text = PROGRAM.replace("super().__init__()", "super().__init__(); self.automatic_optimization = False")
    seen = trained(tmp_path, text.replace(RETURN, manual))
    lines = [f"train.py:{line(text.replace(RETURN, manual), name)}" for name in ("backward(first)", "backward(second)")]
    assert [row.losses for row in seen.gradients] == [(lines[0],), (lines[0],), (lines[1],), (lines[1],)]


def test_what_an_autograd_function_returns_is_in_the_graph(tmp_path: Path) -> None:
    """Its forward runs without gradients; that of DDP hands on the loss itself so."""
    sink = """\
class Sink(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Model"""
    text = PROGRAM.replace("class Model", sink).replace(RETURN, "        return Sink.apply(loss)\n")
    seen = trained(tmp_path, text)
    assert seen.failure is None and seen.lost == ()
    assert [(row.reached, row.cut) for row in seen.gradients] == [(2, None)] * 4
