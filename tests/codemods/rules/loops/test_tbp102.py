"""TBP102: the flag that is lost."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import BACKWARD, FLAG, SETUP, STEP, SUPER, ZERO, assert_refused, changed, step

CODE = "TBP102"
REFUSED = {
    "two statements on a line": (
        changed((SUPER + FLAG, "        self.n = 1; self.automatic_optimization = False\n" + SUPER)),
        "share a line",
    ),
    "several backward passes": (
        step(
            """
optimizer = self.optimizers()
optimizer.zero_grad()
first, second = self.losses(batch)
self.manual_backward(first, retain_graph=True)
self.manual_backward(second)
optimizer.step()
""",
            (SUPER + FLAG, FLAG + SUPER),
        ),
        "several times",
    ),
    "a lost flag that nothing answers": (
        changed((SUPER + FLAG, FLAG + SUPER), (ZERO + BACKWARD + STEP, ""), (SETUP, "        return loss\n\n" + SETUP)),
        "Lightning optimizes automatically as it is",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)
