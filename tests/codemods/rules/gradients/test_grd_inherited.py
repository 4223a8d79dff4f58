"""GRD001 and GRD002: a training step that a class inherits, and what the class puts into it."""

from __future__ import annotations

import pytest

from codemods.finding import Finding
from codemods.rules.gradients.grd001 import RULE as GRD001
from codemods.rules.gradients.grd002 import RULE as GRD002
from tests.codemods.rules.gradients.test_grd_trained import EVERY, NOTHING_REQUIRES, run
from tests.codemods.support import rewritten, run_rules

BASE = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer


class Base(LightningModule):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 4)
        self.second = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))

    def loss_of(self, out, y):
        return F.mse_loss(out, y)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.loss_of(self(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
MODEL = """\
import torch
import torch.nn.functional as F
from base import Base
from pytorch_lightning import Trainer


class Model(Base):
{methods}

def main():
    model = Model()
    before = {{name: value.clone() for name, value in model.state_dict().items()}}
    data = torch.utils.data.TensorDataset(torch.randn(12, 2), torch.randn(12, 1))
    Trainer(max_epochs=2).fit(model, torch.utils.data.DataLoader(data, batch_size=4))
    return [name for name, value in model.state_dict().items() if not torch.equal(value, before[name])]
"""
CUT = "    def loss_of(self, out, y):\n        return F.smooth_l1_loss(out, y){}\n"


def files(methods: str, base: str = BASE) -> dict[str, str]:
    return {"train.py": MODEL.format(methods=methods), "base.py": base}


def findings(project: dict[str, str]) -> tuple[Finding, ...]:
    made = run_rules(project, GRD001, GRD002)
    assert made.bugs == ()
    return made.findings


def test_a_loss_that_a_subclass_cuts_is_repaired_there() -> None:
    before = files(CUT.format(".detach()"))
    broken = run(before["train.py"], **{"base.py": BASE})
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    after = rewritten(before, GRD001)
    assert after == files(CUT.format(""))
    trained = run(after["train.py"], **{"base.py": BASE})
    assert trained.failure is None and trained.returned == EVERY


@pytest.mark.parametrize("decorator", ["@torch.no_grad()", "@torch.inference_mode()"])
def test_a_forward_that_a_subclass_runs_without_gradient_is_named(decorator: str) -> None:
    forward = f"    {decorator}\n    def forward(self, x):\n        return self.second(self.first(x))\n"
    (found,) = findings(files(forward))
    assert (found.code, found.path, found.span.line, found.fix) == ("GRD002", "train.py", 8, "unsafe")


def test_two_classes_of_one_file() -> None:
    text = BASE + "\n\nclass Model(Base):\n" + CUT.format(".item()")
    assert [(item.code, item.span.line) for item in findings({"train.py": text})] == [("GRD001", 28)]


def test_a_cut_in_the_base_is_named_once_and_there() -> None:
    base = BASE.replace("return self.loss_of(self(x), y)", "return self.loss_of(self(x), y).detach()")
    assert [(item.path, item.code) for item in findings(files(CUT.format(""), base))] == [("base.py", "GRD001")]


MANUAL = BASE.replace("        self.first", "        self.automatic_optimization = False\n        self.first", 1)
LEFT = {
    "kept": (CUT.format(""), BASE),
    "a detached copy beside it": (CUT.format(" + 0 * out.detach().sum()"), BASE),
    "manual optimization": (CUT.format(".detach()"), MANUAL),
    "no optimizer": (CUT.format(".detach()") + "\n    def configure_optimizers(self):\n        return None\n", BASE),
    "a base that is not seen": (CUT.format(".detach()"), BASE.replace("class Base", "class Other")),
    "a backward of its own": (
        CUT.format(".detach()"),
        BASE + "\n    def backward(self, loss):\n        loss.requires_grad_().backward()\n",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_trains_or_cannot_be_told_is_left(name: str) -> None:
    methods, base = LEFT[name]
    assert findings(files(methods, base)) == ()
