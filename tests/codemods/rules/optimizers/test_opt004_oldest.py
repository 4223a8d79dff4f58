"""OPT004: `backward` as releases up to 0.9 called it, with the Trainer before the loss."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = """\
import torch
from pytorch_lightning import LightningModule


class Net(LightningModule):
    def training_step(self, batch, batch_idx):
        return self(batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

"""


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "(self, trainer, loss, optimizer, optimizer_idx: int) -> None:\n        pass",
            "(self, loss) -> None:\n        pass",
        ),
        ("(self, trainer, loss, opt, i):\n        loss.backward()", "(self, loss):\n        loss.backward()"),
        (
            "(self, trainer, loss, optimizer, optimizer_idx):\n"
            "        super().backward(trainer, loss, optimizer, optimizer_idx)",
            "(self, loss):\n        super().backward(loss)",
        ),
        ("(self, loss, optimizer, optimizer_idx):\n        loss.backward()", "(self, loss):\n        loss.backward()"),
        ("(self, loss, loss_opt, i):\n        loss.backward()", "(self, loss):\n        loss.backward()"),
    ],
)
def test_the_loss_is_what_stays(before: str, wanted: str) -> None:
    text = f"{HEAD}    def backward{before}\n"
    assert rewritten({"a.py": text}, rule("OPT004"))["a.py"] == f"{HEAD}    def backward{wanted}\n"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("(self, trainer, loss, optimizer, optimizer_idx):\n        trainer.scale(loss).backward()", "`trainer`"),
        ("(self, trainer, loss, optimizer, optimizer_idx):\n        optimizer.backward(loss)", "`optimizer`"),
        ("(self, use_amp, loss, optimizer):\n        loss.backward()", "does not take"),
        ("(self, a, b, c, optimizer_idx):\n        pass", "is the loss"),
    ],
)
def test_what_reads_more_or_is_not_seen_is_left(body: str, why: str) -> None:
    [reason] = refusals({"a.py": f"{HEAD}    def backward{body}\n"}, "OPT004")
    assert why in reason


@pytest.mark.parametrize(
    ("hook", "given"),
    [
        ("backward", "loss, optimizer, optimizer_idx"),
        ("lr_scheduler_step", "scheduler, optimizer_idx, metric"),
        ("on_before_optimizer_step", "optimizer, optimizer_idx"),
    ],
)
def test_what_a_base_by_its_name_is_given_is_left(hook: str, given: str) -> None:
    text = f"{HEAD}    def {hook}(self, {given}):\n        LightningModule.{hook}(self, {given})\n"
    made = run_rules({"a.py": text}, rule("OPT004"))
    assert [item.fix for item in made.findings] == ["manual"]
    assert made.bugs == () and not made.final()


CLIPPING = """\
    def configure_gradient_clipping(
        self, optimizer, optimizer_idx, gradient_clip_val=None, gradient_clip_algorithm=None, loud=False
    ):
        self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)
"""
STEPPING = "    def lr_scheduler_step(self, scheduler, metric, loud=False):\n        scheduler.step()\n"


def test_a_parameter_of_its_own_behind_those_of_2_is_no_old_signature() -> None:
    after = rewritten({"a.py": HEAD + CLIPPING}, rule("OPT004"))["a.py"]
    assert after == HEAD + CLIPPING.replace("optimizer_idx, ", "")
    assert rewritten({"a.py": after}, rule("OPT004"))["a.py"] == after
    assert rewritten({"a.py": HEAD + STEPPING}, rule("OPT004"))["a.py"] == HEAD + STEPPING
