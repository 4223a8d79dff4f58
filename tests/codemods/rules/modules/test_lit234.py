"""LIT234: gradients in a test or a prediction, which run in inference mode."""

from __future__ import annotations

import pytest
import torch
from lightning.pytorch import Trainer
from lightning.pytorch.demos.boring_classes import BoringModel

from codemods.rules.modules.lit234 import BEFORE, REASON
from tests.codemods.support import refusals, rule, run_rules

HEAD = "import torch\nimport pytorch_lightning as pl\n\n\n"
STEP = f"{HEAD}class Net(pl.LightningModule):\n    def test_step(self, batch, batch_idx):\n"


@pytest.mark.parametrize(
    "text",
    [
        BEFORE,
        f"{STEP}        with torch.no_grad(), torch.enable_grad():\n            self.attack(batch)\n",
        f"{STEP}        with torch.set_grad_enabled(True):\n            self.attack(batch)\n",
        f"{STEP}        torch.set_grad_enabled(True)\n        self.attack(batch)\n",
        f"{STEP}        self(batch)\n\n    @torch.enable_grad()\n    def forward(self, batch):\n        return batch\n",
        STEP.replace("test_step", "on_predict_start") + "        torch.set_grad_enabled(True)\n",
        f"{STEP}        self.one()\n\n    def one(self):\n        self.two()\n\n"
        "    @torch.enable_grad()\n    def two(self):\n        pass\n",
    ],
)
def test_named(text: str) -> None:
    [reason] = refusals({"a.py": text}, "LIT234")
    assert "Trainer(inference_mode=False)" in reason


@pytest.mark.parametrize(
    "text",
    [
        BEFORE.replace("test_step", "training_step"),
        BEFORE.replace("test_step", "validation_step"),
        BEFORE.replace("LightningModule", "Callback"),
        f"{STEP}        with torch.set_grad_enabled(self.training):\n            self.attack(batch)\n",
        f"{STEP}        with torch.set_grad_enabled(False):\n            self.attack(batch)\n",
        f"{STEP}        with torch.no_grad():\n            self.attack(batch)\n",
        STEP.replace("test_step", "test_time_gradient") + "        torch.set_grad_enabled(True)\n",
        STEP.replace("test_step", "on_test_end") + "        torch.set_grad_enabled(True)\n",
        f"{STEP}        other.forces(batch)\n\n    @torch.enable_grad()\n    def forces(self, batch):\n        pass\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert run_rules({"a.py": text}, rule("LIT234")).findings == ()


SHARED = (
    STEP
    + "        self.shared(batch, {given})\n\n    def shared(self, batch, stage={default}):\n        if {test}:\n"
    + "            with torch.enable_grad():\n                self.attack(batch)\n"
)


@pytest.mark.parametrize(
    ("given", "default", "test"),
    [
        ("'test'", "None", "stage == 'train'"),
        ("stage='test'", "'train'", "stage == 'train'"),
        ("", "'test'", "stage in ('train', 'val')"),
        ("'test'", "None", "'train' == stage and self.adversarial"),
        ("False", "True", "stage"),
        ("True", "None", "not stage"),
        ("batch", "None", "self.training"),
    ],
)
def test_what_the_stage_keeps_from_running_is_left_alone(given: str, default: str, test: str) -> None:
    text = SHARED.format(given=given, default=default, test=test)
    assert run_rules({"a.py": text}, rule("LIT234")).findings == ()
    twice = text.replace("batch_idx):\n", "batch_idx):\n        self.shared(batch, stage=mine)\n")
    assert refusals({"a.py": twice}, "LIT234") == ([] if "training" in test else [REASON])


@pytest.mark.parametrize(
    ("given", "default", "test"),
    [
        ("'test'", "None", "stage == 'test'"),
        ("'test'", "None", "stage != 'train'"),
        ("'test'", "None", "stage == 'train' or self.adversarial"),
        ("", "'train'", "stage == 'train'"),
        ("*batch", "'test'", "stage == 'train'"),
        ("**batch", "'test'", "stage == 'train'"),
        ("self.stage", "None", "stage == 'train'"),
        ("'test'", "None", "(stage := 'train') == stage"),
        ("batch", "None", "self.train() and self.training"),
    ],
)
def test_what_may_run_is_named(given: str, default: str, test: str) -> None:
    assert refusals({"a.py": SHARED.format(given=given, default=default, test=test)}, "LIT234") == [REASON]


def test_a_project_that_knows_inference_mode_is_left_alone() -> None:
    other = "import pytorch_lightning as pl\n\ntrainer = pl.Trainer(inference_mode=False)\n"
    assert run_rules({"a.py": BEFORE, "b.py": other}, rule("LIT234")).findings == ()


def test_the_step_of_a_base_class_counts() -> None:
    base = STEP.replace("Net", "Base") + "        self.adapt(batch)\n"
    derived = "import torch\nfrom base import Base\n\n\nclass Net(Base):\n"
    derived += "    @torch.enable_grad()\n    def adapt(self, batch):\n        pass\n"
    found = run_rules({"a.py": derived, "base.py": base}, rule("LIT234")).findings
    assert [(item.path, item.span.line) for item in found] == [("a.py", 6)]


class Forces(BoringModel):
    def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
        self.test_step(batch, batch_idx)

    @torch.enable_grad()
    def test_step(self, batch: torch.Tensor, batch_idx: int) -> None:
        positions = batch.clone().requires_grad_(True)
        torch.autograd.grad(self.layer(positions).sum(), positions)


def test_a_test_has_no_gradients_and_validation_within_fit_has() -> None:
    def trainer(inference_mode: bool) -> Trainer:
        return Trainer(
            accelerator="cpu", max_steps=2, limit_val_batches=1, limit_test_batches=1, logger=False,
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
            inference_mode=inference_mode,
        )  # fmt: skip

    trainer(True).fit(Forces())
    with pytest.raises(RuntimeError, match=r"[Ii]nference|grad"):
        trainer(True).test(Forces(), verbose=False)
    assert trainer(False).test(Forces(), verbose=False) == [{}]
