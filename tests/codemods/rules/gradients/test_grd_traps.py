"""The GRD family: what trains as it is, and what cannot be told."""

from __future__ import annotations

import pytest

from codemods.rule import Rule
from codemods.rules.gradients.grd001 import RULE as GRD001
from codemods.rules.gradients.grd002 import RULE as GRD002
from codemods.rules.gradients.grd003 import RULE as GRD003
from codemods.rules.gradients.grd004 import RULE as GRD004
from codemods.rules.gradients.grd005 import RULE as GRD005
from codemods.rules.gradients.grd006 import RULE as GRD006
from codemods.rules.gradients.grd007 import RULE as GRD007
from tests.codemods.support import run_rules

FAMILY = (GRD001, GRD002, GRD003, GRD004, GRD005, GRD006, GRD007)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch import LightningModule
from transformers import AutoConfig, AutoModel, AutoTokenizer


class Model(LightningModule):
    def __init__(self, other):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.other = other
        self.criterion = nn.CrossEntropyLoss()
"""
SGD = "\n    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), lr=0.1)\n"


def model(step: str, init: str = "", optimizers: str = SGD) -> str:
    lines = "".join(f"        {line}\n" for line in init.splitlines())
    body = "".join(f"        {line}\n" if line else "\n" for line in step.splitlines())
    return f"{HEAD}{lines}\n    def training_step(self, batch, batch_idx):\n        x, y = batch\n{body}{optimizers}"


def findings(text: str, *rules: Rule, **files: str) -> list[tuple[str, str]]:
    made = run_rules({"train.py": text, **files}, *(rules or FAMILY))
    assert made.bugs == ()
    return [(finding.code, finding.fix) for finding in made.findings]


def adam(what: str) -> str:
    return f"\n    def configure_optimizers(self):\n        return torch.optim.Adam({what})\n"


LEFT = {
    "logged": 'loss = F.mse_loss(self.layer(x), y)\nself.log("loss", loss.item())\nreturn loss',
    "detached beside": "loss = F.mse_loss(self.layer(x), y)\nreturn {'loss': loss, 'shown': loss.detach()}",
    "constant factor": "out = self.layer(x)\nreturn (out.detach().abs() * out).mean()",
    "running mean": "loss = self.layer(x).sum()\nself.total += loss.item()\nreturn loss / 2",
    "target": "with torch.no_grad():\n    target = self.other(x)\nreturn F.mse_loss(self.layer(x), target)",
    "metric": "out = self.layer(x)\nright = (out.argmax(1) == y).float().mean()\nself.log('acc', right)\n"
    "return self.criterion(out, y)",
    "one branch": "loss = self.layer(x).sum()\nif self.current_epoch > 3:\n    loss = loss.detach()\nreturn loss",
    "zero where nothing is there": "if len(x) == 0:\n    return torch.tensor(0.0, requires_grad=True)\n"
    "return self.layer(x).sum()",
    "a constant": "self.other.fit(x)\nreturn torch.tensor(0.0, requires_grad=True)",
    "nothing": "self.other.fit(x.detach())",
    "list": "losses = []\nfor part in x:\n    losses.append(self.layer(part).sum())\nreturn torch.stack(losses).mean()",
    "list filled elsewhere": "losses = []\nself.other.fill(losses, x)\nreturn sum(losses)",
    "list under another name": "losses = []\nalias = losses\nalias.append(self.layer(x).sum())\nreturn sum(losses)",
    "list in a closure": "losses = []\n\ndef add(part):\n    losses.append(self.layer(part).sum())\n\nadd(x)\n"
    "return sum(losses)",
    "dict": "losses = {}\nlosses['a'] = self.layer(x).sum()\nlosses['b'] = 0.0\nreturn sum(losses.values())",
    "written into": "out = torch.zeros(4)\nout[0] = self.layer(x).sum()\nreturn out.sum()",
    "in place": "out = torch.zeros(4)\nout.add_(self.layer(x).mean(0))\nreturn out.sum()",
    "switched on again": "with torch.no_grad():\n    h = self.other(x)\n    with torch.enable_grad():\n"
    "        loss = self.layer(h).sum()\nreturn loss",
    "not switched": "with torch.set_grad_enabled(self.other.trains):\n    loss = self.layer(x).sum()\nreturn loss",
    "maybe a tensor": "loss = self.other.loss(self.layer(x), y)\nif not torch.is_tensor(loss):\n"
    "    loss = torch.tensor(loss)\nreturn loss",
    "straight through": "h = self.layer(x)\nhard = h + (h.round() - h).detach()\nreturn hard.sum()",
    "parameter beside": "with torch.no_grad():\n    a = self.layer(x)\nreturn (a * self.scale.exp()).mean()",
    "adversarial": "x = x.detach().requires_grad_()\nreturn self.layer(x).sum()",
    "own backward": "loss = self.layer(x).sum()\nself.manual_backward(loss)\nreturn loss.item()",
}


@pytest.mark.parametrize("name", LEFT)
def test_a_loss_that_keeps_a_way_back_is_left(name: str) -> None:
    assert findings(model(LEFT[name])) == []


FITTED = "return self.layer(h).sum()"
ON = {
    "a block": f"\n    def fit(self, h):\n        with torch.enable_grad():\n            {FITTED}\n",
    "a decorator": f"\n    @torch.enable_grad()\n    def fit(self, h):\n        {FITTED}\n",
}


@pytest.mark.parametrize("name", ON)
def test_a_method_that_switches_gradients_on_again_is_left(name: str) -> None:
    step = "with torch.no_grad():\n    h = self.other(x)\n    loss = self.fit(h)\nreturn loss"
    assert findings(model(step, optimizers=SGD + ON[name])) == []
    off = f"\n    def fit(self, h):\n        {FITTED}\n"
    assert findings(model(step, optimizers=SGD + off)) == [("GRD002", "safe")]


OTHERS = {
    "no optimizer": "\n    def configure_optimizers(self):\n        return None\n",
    "own backward": SGD + "\n    def backward(self, loss):\n        self.other(loss)\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_step_whose_loss_is_not_differentiated_is_left(name: str) -> None:
    assert findings(model("return self.layer(x).sum().item()", optimizers=OTHERS[name])) == []


FIT_LOSS = "loss = F.mse_loss(self.layer(x), y)\n"
PARTLY = {
    "a number": "if batch_idx == 0:\n    return loss.item()\nreturn loss",
    "a copy": "if batch_idx == 0:\n    return torch.tensor(loss)\nreturn loss",
    "in a dict": "if batch_idx == 0:\n    return {'loss': loss.detach(), 'out': x}\nreturn {'loss': loss}",
}


@pytest.mark.parametrize("name", PARTLY)
def test_a_loss_that_one_return_alone_cuts_is_named(name: str) -> None:
    (found,) = run_rules({"train.py": model(FIT_LOSS + PARTLY[name])}, GRD001).findings
    assert (found.fix, "None to skip the batch" in found.reason) == ("manual", True)
    assert "backward fails" in found.message


@pytest.mark.parametrize(
    "step",
    [
        "if batch_idx == 0:\n    return None\nreturn loss",
        "if batch_idx == 0:\n    return torch.tensor(0.0, requires_grad=True)\nreturn loss",
        "if loss.isnan():\n    return torch.tensor(loss, requires_grad=True)\nreturn loss",
        "if not self.training:\n    return loss.item()\nreturn loss",
        "if batch_idx == 0:\n    return loss * 0\nreturn loss",
    ],
)
def test_a_return_that_means_no_training_is_left(step: str) -> None:
    assert findings(model(FIT_LOSS + step)) == []


def test_a_step_that_validation_calls_may_give_it_a_number() -> None:
    called = "\n    def validation_step(self, batch, batch_idx):\n        return self.training_step(batch, 0)\n"
    assert findings(model(FIT_LOSS + PARTLY["a number"], optimizers=called + SGD)) == []


def test_manual_optimization_is_judged_by_what_it_differentiates() -> None:
    manual = "loss = self.layer(x).sum().detach()\nself.manual_backward(loss)"
    text = model(manual, "self.automatic_optimization = False")
    assert findings(text) == [("GRD001", "safe")]
    unseen = model("return self.layer(x).sum().item()", "self.automatic_optimization = False")
    assert findings(unseen) == []


def test_a_helper_that_a_subclass_replaces_is_not_followed() -> None:
    text = model("return self.loss(x)").replace(
        "\n    def configure_optimizers", "\n    def loss(self, x):\n        return self.layer(x).sum().item()\n"
        "\n    def configure_optimizers"
    )  # fmt: skip
    assert findings(text) == [("GRD001", "safe")]
    below = "\n\nclass Other(Model):\n    def loss(self, x):\n        return self.layer(x).sum()\n"
    assert findings(text + below) == []


REFUSED = {
    "numpy": ("return torch.tensor(np.mean(self.layer(x).detach().numpy()))", "functions of torch"),
    "argmax": (
        "return F.mse_loss(self.layer(x).argmax(1).float(), y)",
        "from the scores, as `torch.nn.functional.cross_entropy(self.layer(x), ...)` does",
    ),
    "accuracy": ("return (self.layer(x) == y).float().mean()", "it is a metric"),
    "integer": ("return self.layer(x).long().sum()", "before it"),
    "list of numbers": ("return torch.tensor([self.layer(part).sum() for part in x]).mean()", "torch.stack"),
    "another type": ("return torch.tensor(self.layer(x).sum(), dtype=torch.float64)", ".to(...)"),
    "unknown": ("return self.other(x).item()", "what is inside has a gradient"),
    "number in use": (
        "loss = self.layer(x).sum().item()\nself.history.append(loss)\nreturn torch.tensor(loss)",
        "also used in line",
    ),
    "number in a test": (
        "loss = self.layer(x).sum().item()\nif loss > 3:\n    self.hot = True\nreturn torch.tensor(loss)",
        "also used in line",
    ),
    "revived": (
        "loss = self.layer(x).sum().detach()\nloss.requires_grad = True\nreturn loss",
        "only hides the error",
    ),
    "both": ("with torch.no_grad():\n    out = self.layer(x)\nreturn out.sum().detach()", "GRD002"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_cut_that_cannot_be_taken_out_is_named_with_the_reason(name: str) -> None:
    step, reason = REFUSED[name]
    made = run_rules({"train.py": model(step)}, GRD001)
    assert made.changes == () and made.findings
    assert {finding.fix for finding in made.findings} == {"manual"}
    assert all(reason in finding.reason for finding in made.findings)


def test_a_name_that_is_bound_twice_is_followed() -> None:
    step = "loss = self.layer(x).sum()\nself.log('a', loss.detach())\nloss = loss.item()\nreturn torch.tensor(loss)"
    assert findings(model(step)) == [("GRD001", "safe"), ("GRD001", "safe")]


def test_features_that_are_not_trained_are_no_block_to_open() -> None:
    text = model("with torch.no_grad():\n    out = self.layer(x)\nreturn F.mse_loss(out, y)")
    assert findings(text, GRD002) == [("GRD002", "manual")]


def test_a_forward_without_gradients_is_opened_only_when_asked() -> None:
    text = model("return self(x).sum()").replace(
        "\n    def training_step", "\n    @torch.no_grad()\n    def forward(self, x):\n        return self.layer(x)\n"
        "\n    def training_step"
    )  # fmt: skip
    assert findings(text, GRD002) == [("GRD002", "unsafe")]


def test_a_comment_above_a_decorator_stays() -> None:
    text = model("return self.layer(x).sum()").replace(
        "    def training_step", "    # one step\n    @torch.no_grad()\n    def training_step"
    )
    after = run_rules({"train.py": text}, GRD002).final()["train.py"].decode()
    assert after == text.replace("    @torch.no_grad()\n", "")
