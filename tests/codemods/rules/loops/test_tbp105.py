"""TBP105: no step, or one behind the loop."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import BACKWARD, DETACH, STEP, ZERO, assert_refused, assert_rewritten, changed, step

CODE = "TBP105"
REWRITTEN = {
    "clipping stays before the step": (
        changed((BACKWARD + STEP, BACKWARD + "            self.clip_gradients(optimizer, 0.5)\n")),
        "            self.clip_gradients(optimizer, 0.5)\n            optimizer.step()\n",
    ),
    "clipping goes into the loop with the step": (
        changed(
            (STEP, ""), (DETACH, DETACH + "        self.clip_gradients(optimizer, 0.5)\n        optimizer.step()\n")
        ),
        f"{BACKWARD}            self.clip_gradients(optimizer, 0.5)\n            optimizer.step()\n",
    ),
}


@pytest.mark.parametrize(("text", "held"), REWRITTEN.values(), ids=REWRITTEN)
def test_is_rewritten(text: str, held: str) -> None:
    assert_rewritten(text, CODE, held)


REFUSED = {
    "a returned loss that nobody uses": (
        step("return self.loss(batch)"),
        "Delete `automatic_optimization = False`",
    ),
    "no step and no zero_grad": (changed((ZERO + BACKWARD + STEP, BACKWARD)), "fixer cannot tell"),
    "step after a loop that carries nothing": (
        step("""
optimizer = self.optimizers()
for part in batch[0].split(4):
    optimizer.zero_grad()
    self.manual_backward(self.loss(part))
optimizer.step()
"""),
        "to sum the gradients of all chunks",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)
