"""STP003: comparisons that mean what they say."""

from __future__ import annotations

import pytest

from tests.codemods.rules.steps.test_stp003 import EST, HEAD, RAW, TWO, WINDOW, levels, method


@pytest.mark.parametrize(
    "lines",
    [
        (f"return {EST} * {WINDOW}",),
        (f"total = {EST} * {WINDOW}", "return self.batches_seen < total"),
        (f"return self.global_step < {EST}",),
        (f"return self.global_step < {EST} * self.hparams.window",),
        (f"return self.global_step * {WINDOW} < self.batches",),
        (f"return self.global_step * {WINDOW} < {EST} * {WINDOW}",),
        (f"window = {WINDOW}", f"return self.global_step * window / ({EST} * window)"),
        (f"return self.global_step * self.hparams.accumulate_grad_batches < {EST} * {WINDOW}",),
        (f"return self.global_step * self.grad_accum / ({EST} * {WINDOW})",),
        (f"return {EST} // self.trainer.max_epochs",),
        (f"return int({EST} * 0.1)",),
        ("return self.global_step >= self.trainer.max_steps",),
        ("return batch_idx % self.trainer.log_every_n_steps",),
        ("if self.trainer.max_steps > 0:", "    return self.trainer.max_steps // len(self.train_dataloader())"),
        ("return self.trainer.max_steps != -1",),
        ("return self.trainer.max_steps and self.trainer.max_steps > 0",),
        ("if self.trainer.max_steps is not None and self.trainer.max_steps >= 0:", "    return 1"),
        ("return self.hparams.max_steps or 1000",),
        ("return self.hparams.max_steps is None",),
        ("return self.global_step % 100 == 0",),
    ],
)
def test_left_alone(lines: tuple[str, ...]) -> None:
    assert levels(method(*lines)) == []


def test_another_trainer() -> None:
    plain = HEAD.replace("class Model(LightningModule)", "class Model(torch.nn.Module)")
    text = method(f"return self.global_step < {EST} * {WINDOW}").replace(HEAD, plain)
    assert levels(text) == []


def test_one_optimizer_or_automatic_optimization() -> None:
    assert levels(HEAD + TWO.replace("        second.step()\n", "")) == []
    assert levels(HEAD + TWO.replace("= False", "= True")) == []


@pytest.mark.parametrize("trainer", ["L.Trainer(max_epochs=5)", "L.Trainer(max_steps=-1)", "Other(max_steps=5)"])
def test_raw_optimizers_without_a_limit(trainer: str) -> None:
    assert levels(method(RAW, "optimizer.step()"), main=f"import lightning as L\n\n{trainer}\n") == []


def test_wrapped_optimizers() -> None:
    text = method(RAW.replace("use_pl_optimizer=False", ""), "optimizer.step()")
    assert levels(text, main="import lightning as L\n\nL.Trainer(max_steps=5)\n") == []


def test_the_property_that_stp002_replaces_is_not_named_twice() -> None:
    lines = (
        "if self.trainer.max_steps:",
        "    return self.trainer.max_steps",
        "return len(self.train_dataloader()) // self.trainer.accumulate_grad_batches * self.trainer.max_epochs",
    )
    assert levels(method(*lines, name="num_training_steps(self)")) == []
