"""AMP005: half-precision modules under mixed precision."""

from __future__ import annotations

import pytest
import torch

from codemods.rules.autocast.amp005 import RULE
from tests.codemods.amp import levels

CODE = "AMP005"
SCRIPT = RULE.examples[0].before
MODULE = """import lightning.pytorch as pl
import torch


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 8)
        self.frozen = torch.nn.Linear(8, 8)
        self.net.half()
        self.frozen.half()

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)
"""
TRAINER = "from lightning.pytorch import Trainer\n\ntrainer = Trainer(precision={})\n"


def test_a_scaler_refuses_half_gradients() -> None:
    net = torch.nn.Linear(4, 1).half()
    optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
    scaler.scale(net(torch.ones(2, 4).half()).sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


def test_bfloat16_weights_lose_small_updates() -> None:
    net = torch.nn.Linear(1, 1, bias=False).bfloat16()
    torch.nn.init.ones_(net.weight)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for _ in range(10):
        optimizer.zero_grad()
        net(torch.ones(1, 1).bfloat16()).sum().backward()
        optimizer.step()
    assert net.weight.item() == 1.0


@pytest.mark.parametrize("cast", ["model.half()", "model.bfloat16()", "model = model.cuda().half()"])
def test_a_script_with_a_scaler(cast: str) -> None:
    assert [fix for _, fix in levels(SCRIPT.replace("model.half()", cast), CODE)] == ["manual"]


def test_a_lightning_module_names_the_trained_part_alone() -> None:
    assert levels(MODULE, CODE, fit=TRAINER.format('"16-mixed"')) == [(10, "manual")]


@pytest.mark.parametrize("precision", ["32", '"16-true"', "args.precision"])
def test_other_precisions_stay(precision: str) -> None:
    assert levels(MODULE, CODE, fit=TRAINER.format(precision)) == []


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT.replace('scaler = torch.amp.GradScaler("cuda")\n', ""),
        SCRIPT.replace("SGD(model.", "SGD(other."),
        SCRIPT.replace("model.half()", "batch = torch.rand(2, 2).half()"),
        SCRIPT.replace("model.half()", "model.float()"),
    ],
)
def test_trap_stays(text: str) -> None:
    assert levels(text, CODE) == []


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("self.net = torch.nn.Linear(8, 8).half()", 1),
        ("self.net = torch.nn.Linear(8, 8).cuda().half().to(memory_format=None)", 1),
        ("self.net = torch.nn.Linear(8, 8)", 0),
        ("self.net = torch.nn.Linear(8, 8).half().requires_grad_(False)", 0),
        ("self.other = torch.nn.Linear(8, 8).half()", 0),
    ],
)
def test_a_cast_where_the_module_is_made(made: str, found: int) -> None:
    text = MODULE.replace("        self.net.half()\n", "").replace("self.net = torch.nn.Linear(8, 8)", made)
    assert len(levels(text, CODE, fit=TRAINER.format('"16-mixed"'))) == found
