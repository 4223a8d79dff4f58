"""OPT001, executed: overridden hooks, clipping and windows of several batches train as on Lightning 1.9.5."""

from __future__ import annotations

import pytest

from codemods.lightning.pins.stated import pins_of
from tests.codemods.gan_programs import (
    OTHER,
    PLUGIN,
    SCALER,
    SKIPPED,
    STEPPED,
    both,
    changed,
    configured,
    program,
)
from tests.codemods.support import rewritten, rule, run_rules, sources
from tests.training import same, train

OLD_STEP = "def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False, "
WARM = (
    OLD_STEP
    + """\
using_native_amp=False, using_lbfgs=False):
    if self.global_step < 6:
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (self.global_step + 1)
    optimizer.step(closure=optimizer_closure)
"""
)
LATE = (
    OLD_STEP
    + """\
using_native_amp=False, using_lbfgs=False):
    optimizer.step(closure=optimizer_closure)
    if self.trainer.global_step < 6:
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (self.global_step + 1)
"""
)
ONCE = (
    OLD_STEP
    + """\
using_native_amp=False, using_lbfgs=False):
    if optimizer_idx == 0 and batch_idx % 2:
        optimizer_closure()
    else:
        super().optimizer_step(
            epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=on_tpu, using_lbfgs=using_lbfgs
        )
"""
)
ZERO = """\
def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):
    if optimizer_idx == 0 or batch_idx % 2 == 0:
        optimizer.zero_grad(set_to_none=True)
"""
OWN_CLIP = """\
def configure_gradient_clipping(self, optimizer, optimizer_idx, gradient_clip_val, gradient_clip_algorithm):
    self.clip_gradients(optimizer, gradient_clip_val=gradient_clip_val, gradient_clip_algorithm="value")
"""
HOOKS = {
    "clipping by norm": program(trainer="gradient_clip_val=0.05"),
    "clipping by value": program(trainer='gradient_clip_val=0.01, gradient_clip_algorithm="value"'),
    "clipping of its own": program(more=OWN_CLIP, trainer="gradient_clip_val=0.01"),
    "clipping after a hook": program(
        more='def on_before_optimizer_step(self, optimizer, optimizer_idx):\n    self.log("lr", '
        'optimizer.param_groups[0]["lr"])\n',
        trainer="gradient_clip_val=0.05",
    ),
    "warm-up": program(more=WARM),
    "warm-up after the step": program(more=LATE),
    "zero_grad of its own": program(more=ZERO),
    "before zero_grad": program(
        more="def on_before_zero_grad(self, optimizer):\n    with torch.no_grad():\n"
        "        self.third.weight.mul_(0.9)\n"
    ),
    "backward of its own, with what else there may be": program(
        more="def backward(self, loss, optimizer, optimizer_idx, *args, **kwargs):\n"
        "    (loss * 2).backward(*args, **kwargs)\n"
    ),
    "backward of its own": program(
        more="def backward(self, loss, optimizer, optimizer_idx):\n    (loss * 2).backward()\n"
    ),
}
WINDOWS = {
    "accumulation": program(trainer="accumulate_grad_batches=2"),
    "accumulation, clipping, scheduler": program(
        configure=configured(f'[g, d], [{{"scheduler": {STEPPED}, "interval": "step"}}, {OTHER}]'),
        trainer="accumulate_grad_batches=3, gradient_clip_val=0.05",
    ),
    "accumulation, some left out": program(SKIPPED, trainer="accumulate_grad_batches=2"),
    "accumulation, warm-up after the step": program(more=LATE, trainer="accumulate_grad_batches=2"),
    "accumulation, warm-up": program(more=WARM, trainer="accumulate_grad_batches=2"),
}


@pytest.mark.parametrize("files", HOOKS.values(), ids=HOOKS.keys())
def test_hooks_and_trainer_arguments(files: dict[str, str]) -> None:
    both(files)


@pytest.mark.parametrize("files", WINDOWS.values(), ids=WINDOWS.keys())
def test_several_batches_make_a_step(files: dict[str, str]) -> None:
    both(files, windows=True)


def test_the_same_weights_but_another_count_where_a_hook_leaves_steps_out() -> None:
    files = program(more=ONCE)
    old, new = train(files, on="1.9.5"), train(changed(files, "unsafe"))
    assert old.failure is None
    assert new.failure is None
    assert old.global_step == 20
    assert new.global_step == 16
    assert old.losses == pytest.approx(new.losses, abs=1e-6)


HELPED = (
    OLD_STEP
    + """\
using_native_amp=False, using_lbfgs=False):
    optimizer.step(closure=optimizer_closure)
    self.warm(optimizer)

def warm(self, optimizer):
    optimizer.param_groups[0]["lr"] = 0.01 * (self.trainer.global_step + 1)
"""
)


def test_a_method_that_counts_behind_the_step_counts_one_more() -> None:
    """1.x counts a step when optimizer_step is over, manual optimization when it is made."""
    files = program(more=HELPED)
    old, new = train(files, on="1.9.5"), train(changed(files, "unsafe"))
    assert (old.failure, new.failure) == (None, None)
    assert [step.rates[0] for step in old.steps][1:] != [step.rates[0] for step in new.steps][1:]
    assert new.steps[2].rates[0] == pytest.approx(old.steps[2].rates[0] + 0.01)


LOGGED = (
    OLD_STEP
    + """\
using_native_amp=False, using_lbfgs=False):
    optimizer.step(closure=optimizer_closure)
    self.log("rate", optimizer.param_groups[0]["lr"])
"""
)


def test_what_1_x_lost_where_a_hook_logs_is_kept() -> None:
    files = program(more=LOGGED)
    old, new = train(files, on="1.9.5"), train(changed(files, "unsafe"))
    assert (old.failure, new.failure) == (None, None)
    assert old.losses == pytest.approx(new.losses, abs=1e-6)
    assert old.metrics.keys() == new.metrics.keys()
    assert {name for name, value in old.metrics.items() if value != pytest.approx(new.metrics[name], abs=1e-6)} == {
        "g_loss", "g_loss_epoch",
    }  # fmt: skip
    assert "which is kept now" in run_rules(files, rule("OPT001")).findings[0].reason


def test_gradients_are_clipped_unscaled() -> None:
    plain = changed(program(trainer="gradient_clip_val=0.05"))["train.py"]
    text = plain.replace("max_epochs=2", f"max_epochs=2, {SCALER}").replace(
        "import torch\n", f"import torch\n{PLUGIN}", 1
    )
    scaled = train({"train.py": text})
    assert scaled.failure is None
    assert all(step.gradient <= 0.0501 for step in scaled.steps)
    assert any(step.gradient > 0.04 for step in scaled.steps)
    assert [step.gradient for step in scaled.steps] == pytest.approx(
        [step.gradient for step in train({"train.py": plain}).steps], abs=5e-3
    )


END = "def training_step_end(self, output):\n    self.log('twice', 2 * output)\n    return 2 * output\n"
BOTH_LOSSES = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    return self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
"""


def test_a_step_that_hands_over_to_its_end_keeps_it_in_the_loop() -> None:
    before = program(BOTH_LOSSES, more=END)
    assert not run_rules(before, rule("OPT001")).changes
    after = rewritten(before, rule("OPT001"), rule("LIT211"))
    assert "return self.training_step_end(self.g_loss" in after["train.py"]
    assert "def training_step_for(self, batch, batch_idx, optimizer_idx):" in after["train.py"]
    assert rewritten(after, rule("OPT001"), rule("LIT211")) == after
    old, new = same(before, after)
    assert (old.automatic, new.automatic) == (True, False)
    assert old.metrics["twice"] == pytest.approx(new.metrics["twice"])


def test_what_another_rule_opens_is_judged_by_the_pins_that_were_there() -> None:
    counting = BOTH_LOSSES.replace("return self.g_loss(batch) if", "return self.global_step * self.g_loss(batch) if")
    files = {**program(counting, more=END), "requirements.txt": "pytorch-lightning==1.5.10\ntorch==1.10.0\n"}
    every = rule("OPT001"), rule("LIT211"), rule("PIN001")
    made = run_rules(files, *every, pins=pins_of(sources(files)))
    after = {path: data.decode() for path, data in made.final().items()}
    assert "pytorch-lightning==1.5.10" not in after["requirements.txt"]
    assert "def training_step_for(self, batch, batch_idx, optimizer_idx):" in after["train.py"]
    assert "return super().global_step // 2" in after["train.py"]
