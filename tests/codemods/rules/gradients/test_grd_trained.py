"""The GRD family by training: what fails or does not learn before, and learns after."""

from __future__ import annotations

from typing import Any

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.rule import Rule
from codemods.rules.gradients.grd001 import RULE as GRD001
from codemods.rules.gradients.grd002 import RULE as GRD002
from codemods.rules.gradients.grd003 import RULE as GRD003
from codemods.rules.gradients.grd004 import RULE as GRD004
from codemods.rules.gradients.grd005 import RULE as GRD005
from codemods.rules.gradients.grd006 import RULE as GRD006
from codemods.rules.gradients.grd007 import RULE as GRD007
from tests.codemods.support import rewritten, run_rules, sources
from tests.training import Record, differences, same, train

NOTHING_REQUIRES = "element 0 of tensors does not require grad"
PROGRAM = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 4)
        self.second = torch.nn.Linear(4, 1)
{more}

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))

{step}

    def configure_optimizers(self):
        return {optimizer}


def main():
    model = Model()
    before = {{name: value.clone() for name, value in model.state_dict().items()}}
    data = torch.utils.data.TensorDataset(torch.randn(12, 2), torch.randn(12, 1))
    Trainer(max_epochs=2).fit(model, torch.utils.data.DataLoader(data, batch_size=4))
    return [name for name, value in model.state_dict().items() if not torch.equal(value, before[name])]
"""
STEP = """\
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.log("loss", loss.item())
        return loss
"""
SGD = "torch.optim.SGD(self.parameters(), lr=0.1)"
EVERY = ["first.weight", "first.bias", "second.weight", "second.bias"]


def program(step: str = STEP, more: str = "", optimizer: str = SGD) -> str:
    return PROGRAM.format(step=step, more=more, optimizer=optimizer)


def run(text: str, **files: str) -> Record:
    return train({"train.py": text, **files}, script=None)


def repaired(text: str, rule: Rule, **files: str) -> str:
    return rewritten({"train.py": text, **files}, rule)["train.py"]


FAILING = {
    "item": ("return loss", "return torch.tensor(loss.item())", GRD001),
    "tensor": ("return loss", "return torch.tensor(loss)", GRD001),
    "detach": ("F.mse_loss(self(x), y)", "F.mse_loss(self(x), y).detach()", GRD001),
    "data": ("return loss", 'return {"loss": loss.data}', GRD001),
    "of the forward": ("F.mse_loss(self(x), y)", "F.mse_loss(self(x).detach(), y)", GRD001),
    "decorator": ("    def training_step", "    @torch.no_grad()\n    def training_step", GRD002),
    "inference": ("    def training_step", "    @torch.inference_mode()\n    def training_step", GRD002),
    "block": (
        "        loss = F.mse_loss(self(x), y)",
        "        with torch.no_grad():\n            loss = F.mse_loss(self(x), y)",
        GRD002,
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_loss_without_history_fails_and_is_repaired(name: str) -> None:
    whole, cut, rule = FAILING[name]
    before = program(STEP.replace(whole, cut))
    broken = run(before)
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    trained = run(repaired(before, rule))
    assert trained.failure is None, trained.output
    assert trained.returned == EVERY
    assert list(differences(trained, run(program()))) == []


def test_a_loss_that_was_told_to_require_a_gradient_learns_nothing_before() -> None:
    before = program(STEP.replace("return loss", "return torch.tensor(loss, requires_grad=True)"))
    silent = run(before)
    assert silent.failure is None and silent.returned == []
    assert run(repaired(before, GRD001)).returned == EVERY


LIST = "        self.layers = [torch.nn.Linear(4, 4) for _ in range(2)]"
DICT = '        self.layers = {"one": torch.nn.Linear(4, 4), "two": torch.nn.Linear(4, 4)}'


@pytest.mark.parametrize(("kept", "each"), [(LIST, "self.layers"), (DICT, "self.layers.values()")])
def test_layers_in_a_plain_container_are_trained_after(kept: str, each: str) -> None:
    step = STEP.replace(
        "        loss = F.mse_loss(self(x), y)",
        f"        h = self.first(x)\n        for layer in {each}:\n            h = torch.tanh(layer(h))\n"
        "        loss = F.mse_loss(self.second(h), y)",
    )
    before = program(step, kept)
    old, new = run(before), run(repaired(before, GRD005))
    assert old.failure is None and old.returned == EVERY
    assert new.failure is None and len(new.returned) == len(EVERY) + 4
    assert old.losses[:1] == pytest.approx(new.losses[:1])


HUGGING_FACE = """\
import torch


class AutoModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout(0.5)
        self.layer = torch.nn.Linear(2, 2)

    @classmethod
    def from_pretrained(cls, name):
        return cls().eval()

    def forward(self, x):
        return self.dropout(self.layer(x))


class AdamW(torch.optim.SGD):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, correct_bias=True):
        super().__init__(params, lr=lr)

    @torch.no_grad()
    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.add_(parameter.grad, alpha=-group["lr"])
        return loss
"""


def test_a_pretrained_model_trains_as_before_2_2() -> None:
    loaded = '        self.model = AutoModel.from_pretrained("name")'
    step = STEP.replace("self(x)", "self(self.model(x))")
    before = program(step, loaded).replace("import torch\n", "import torch\nfrom transformers import AutoModel\n", 1)
    old_hook = "\n    def training_epoch_end(self, outputs):\n        pass\n"
    era = before.replace("\n    def configure_optimizers", f"{old_hook}\n    def configure_optimizers")
    after = repaired(era, GRD006).replace(old_hook, "")
    assert after == before.replace(loaded, f"{loaded}\n        self.model.train()")
    stub = {"transformers.py": HUGGING_FACE}
    how: dict[str, Any] = {"script": None}
    same({"train.py": before, **stub}, {"train.py": after, **stub}, **how)
    in_eval_mode = train({"train.py": before, **stub}, **how)
    assert in_eval_mode.failure is None
    assert in_eval_mode.losses != pytest.approx(train({"train.py": after, **stub}, **how).losses)


OPTIMIZER = "AdamW(self.parameters(), lr=0.1)"


def test_hugging_face_s_optimizer_fails_up_to_2_0_6_and_its_torch_twin_does_not() -> None:
    head = "import torch\nfrom transformers import AdamW\n"
    before = program(optimizer=OPTIMIZER).replace("import torch\n", head, 1)
    stub = {"transformers.py": HUGGING_FACE}
    for release in ("1.8.6", "1.9.5"):
        broken = train({"train.py": before, **stub}, on=release, script=None)
        assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    assert run(before, **stub).returned == EVERY
    options = Options((GRD007,), unsafe=True, pins=("pytorch-lightning==1.9.5",))
    made = plan(sources({"train.py": before}), options)
    after = made.final()["train.py"].decode()
    assert "torch.optim.AdamW(self.parameters(), lr=0.1, eps=1e-6, weight_decay=0.0)" in after
    assert "transformers" not in after
    assert train({"train.py": after}, on="1.9.5", script=None).returned == EVERY


def test_what_is_frozen_or_forgotten_is_named_and_does_not_move() -> None:
    frozen = program(more="        self.first.requires_grad_(False)\n        self.second.requires_grad_(False)")
    everything = frozen.replace(SGD, "torch.optim.SGD(self.first.parameters(), lr=0.1)")
    broken = run(everything)
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    found = run_rules({"train.py": everything}, GRD003).findings
    assert [finding.fix for finding in found] == ["manual"] and "are frozen" in found[0].message

    groups = "torch.optim.SGD([*self.first.parameters(), *self.second.parameters()], lr=0.1)"
    one = program(more="        self.first.requires_grad_(False)", optimizer=groups)
    assert run(one).returned == EVERY[2:]
    assert ["self.first" in finding.message for finding in run_rules({"train.py": one}, GRD003).findings] == [True]

    forgotten = program(optimizer="torch.optim.SGD(self.second.parameters(), lr=0.1)")
    assert run(forgotten).returned == EVERY[2:]
    found = run_rules({"train.py": forgotten}, GRD004).findings
    assert ["`self.first`" in finding.message for finding in found] == [True]
