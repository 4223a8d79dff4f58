"""TBP001: the hooks around an optimizer's step that a class overrides go on as on Lightning 1.x, executed."""

from __future__ import annotations

import pytest

from tests.codemods.chunk_programs import CLIPPED, GAN_STEP, INIT, SGD, STEP, TWO, both, optimizers, program
from tests.codemods.gan_programs import PLUGIN, SCALER
from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same, train

TBP = rule("TBP001")
OLD = """
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False,
                       using_native_amp=False, using_lbfgs=False):
"""
RATE = """\
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (self.trainer.global_step + 1)
"""
STEPS = "        optimizer.step(closure=optimizer_closure)\n"
WARM = OLD + RATE + STEPS
LATE = (
    OLD
    + STEPS
    + "        if self.global_step < 9:\n"
    + RATE.replace("        for", "            for").replace("    group[", "        group[")
)
BASE = (
    OLD
    + "        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=on_tpu)\n"
    + "        self.seen = epoch + batch_idx\n"
)
TURN = (
    OLD
    + "        if optimizer_idx == 1:\n"
    + RATE.replace("        for", "            for").replace("    group[", "        group[")
    + STEPS
)
ZERO = """
    def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):
        if batch_idx % 2 == 0:
            optimizer.zero_grad(set_to_none=True)
"""
ZERO_BY_INDEX = ZERO.replace("batch_idx % 2 == 0", "optimizer_idx == 0 or batch_idx % 2")
CLIP = """
    def configure_gradient_clipping(self, optimizer, optimizer_idx, gradient_clip_val, gradient_clip_algorithm):
        self.clip_gradients(optimizer, gradient_clip_val=gradient_clip_val, gradient_clip_algorithm="value")
"""
ALWAYS = CLIP.replace("gradient_clip_val=gradient_clip_val", "gradient_clip_val=0.01")
CLIP_SECOND = CLIP.replace("        self.clip", "        if optimizer_idx == 1:\n            self.clip")
BACK = """
    def backward(self, loss, optimizer, optimizer_idx, *args, **kwargs):
        (2 * loss).backward(*args, **kwargs)
"""
BEFORE_ZERO = """
    def on_before_zero_grad(self, optimizer):
        with torch.no_grad():
            self.head.bias.mul_(0.95)
"""
BEFORE_STEP = """
    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        self.trainer.optimizers[optimizer_idx].param_groups[0]["lr"] *= 0.9
"""
READS = """
    def training_epoch_end(self, outputs):
        self.log("mean", sum(chunk["loss"] for batch in outputs for chunk in batch) / len(outputs))
"""
PROGRAMS = {
    "rate before the step": program(INIT, STEP, SGD, WARM),
    "rate after the step": program(INIT, STEP, SGD, LATE),
    "the base's step": program(INIT, STEP, SGD, BASE),
    "step and outputs of the epoch": program(INIT, STEP, SGD, WARM, READS),
    "zero_grad of its own": program(INIT, STEP, SGD, ZERO),
    "zero_grad and step of its own, a scheduler": program(
        INIT,
        STEP,
        ZERO,
        BASE,
        optimizers(
            "optimizer = torch.optim.SGD(self.parameters(), lr=0.1)",
            "return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)]",
        ),
    ),
    "before zero_grad": program(INIT, STEP, SGD, BEFORE_ZERO),
    "clipping of its own": program(INIT, STEP, SGD, CLIP, main=CLIPPED),
    "clipping of its own, unasked": program(INIT, STEP, SGD, ALWAYS),
    "backward of its own": program(INIT, STEP, SGD, BACK),
    "all of them": program(INIT, STEP, SGD, LATE, ZERO, CLIP, BACK, BEFORE_ZERO, main=CLIPPED),
    "two optimizers": program(INIT, GAN_STEP, TWO, LATE, ZERO, CLIP, BACK, BEFORE_ZERO, main=CLIPPED),
    "two optimizers, by the index": program(
        INIT, GAN_STEP, TWO, TURN, ZERO_BY_INDEX, CLIP_SECOND, BEFORE_STEP, main=CLIPPED
    ),
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_trains_as_it_did(files: dict[str, str]) -> None:
    both(files)


@pytest.mark.parametrize("name", ["rate after the step", "two optimizers, by the index"])
def test_trains_as_it_did_on_1_8_6(name: str) -> None:
    same(PROGRAMS[name], rewritten(PROGRAMS[name], TBP), old="1.8.6")


def test_the_count_of_before_the_step_is_what_differs() -> None:
    after = rewritten(PROGRAMS["rate after the step"], TBP)["train.py"]
    assert "        global_step = self.trainer.global_step  # the step below counts at once\n" in after
    ahead = after.replace("global_step = self.trainer.global_step  #", "global_step = self.trainer.global_step + 1  #")
    assert train({"train.py": ahead}).losses != pytest.approx(train({"train.py": after}).losses, abs=1e-6)


def test_own_clipping_sees_unscaled_gradients() -> None:
    plain = rewritten(program(INIT, STEP, SGD, WARM, CLIP, main=CLIPPED), TBP)["train.py"]
    text = plain.replace("max_epochs=2", f"max_epochs=2, {SCALER}").replace(
        "import torch\n", f"import torch\n{PLUGIN}", 1
    )
    scaled, full = train({"train.py": text}), train({"train.py": plain})
    assert (scaled.failure, full.failure) == (None, None)
    assert [step.gradient for step in scaled.steps] == pytest.approx([step.gradient for step in full.steps], abs=5e-3)


HELPED = OLD + STEPS + "        self.warm(optimizer)\n\n    def warm(self, optimizer):\n" + RATE
TWICE = OLD + "        if batch_idx % 2:\n            optimizer_closure()\n        else:\n    " + STEPS
DOUBTED = {
    "a method that reads the count after the step": (HELPED, "uses `self.warm` after the step"),
    "a function that is given the module": (OLD + STEPS + "        warm(self)\n", "uses `self` after the step"),
    "an inherited method": (OLD + STEPS + "        self.warm()\n", "uses `self.warm` after the step"),
    "a batch without a step": (TWICE, "more or fewer than one step"),
}


@pytest.mark.parametrize("case", DOUBTED.values(), ids=DOUBTED.keys())
def test_unsafe_with_the_reason(case: tuple[str, str]) -> None:
    more, reason = case
    (found,) = run_rules(program(INIT, STEP, SGD, more), TBP).findings
    assert (found.fix, found.applied) == ("unsafe", False)
    assert reason in found.reason


REFUSED = {
    "a closure that may not run": (OLD + "        if batch_idx % 2:\n    " + STEPS, "may not run its closure"),
    "a step without the closure": (OLD + "        optimizer.step()\n", "may not run its closure"),
    "the index of one optimizer": (ZERO_BY_INDEX, "which is 0 for one"),
    "a backward that reads the optimizer": (
        BACK.replace("2 * loss", "loss * len(optimizer.param_groups)"),
        "optimizer",
    ),
    "a name that is taken": (
        OLD + "        global_step = 1\n" + STEPS + "        print(self.global_step, global_step)\n",
        "has a variable of that name",
    ),
    "a toggle of its own": ("\n    def toggle_optimizer(self, optimizer):\n        ...\n", "the loop calls it"),
    "a clipping that logs by epoch": (
        CLIP + '        self.log("clipped", 1.0, on_epoch=True)\n',
        "configure_gradient_clipping logs between two chunks",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[str, str]) -> None:
    more, reason = case
    (found,) = refusals(program(INIT, STEP, SGD, more), "TBP001")
    assert reason in found
