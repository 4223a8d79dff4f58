"""TBP104: zero_grad in the wrong place, or nowhere."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import BACKWARD, SETUP, STEP, ZERO, assert_refused, assert_rewritten, changed, step
from tests.codemods.support import rewritten, rule, run_rules

CODE = "TBP104"
REWRITTEN = {
    "zero_grad before the step of a window": (
        step("""
optimizer = self.optimizers()
self.manual_backward(self.loss(batch) / 4)
if (batch_idx + 1) % 4 == 0:
    optimizer.zero_grad()
    optimizer.step()
"""),
        "    optimizer.step()\n            optimizer.zero_grad()\n",
    ),
    "zero_grad on both sides": (
        changed((BACKWARD + STEP, BACKWARD + ZERO + STEP)),
        BACKWARD + STEP,
    ),
    "optimizer asked for after backward": (
        step("""
loss = self.loss(batch)
self.manual_backward(loss)
optimizer = self.optimizers()
optimizer.zero_grad()
optimizer.step()
"""),
        "        optimizer.step()\n        optimizer.zero_grad()\n",
    ),
    "comments go along": (
        changed((ZERO + BACKWARD, BACKWARD + "            # start anew\n" + ZERO)),
        "            # start anew\n" + ZERO + BACKWARD,
    ),
}


@pytest.mark.parametrize(("text", "held"), REWRITTEN.values(), ids=REWRITTEN)
def test_is_rewritten(text: str, held: str) -> None:
    assert_rewritten(text, CODE, held)


REFUSED = {
    "two statements on a line of the step": (
        changed((ZERO + BACKWARD, "            self.manual_backward(loss); optimizer.zero_grad()\n")),
        "fixer cannot tell",
    ),
    "no zero_grad, two steps": (
        step("""
optimizer = self.optimizers()
self.manual_backward(self.loss(batch))
if batch_idx:
    optimizer.step()
else:
    self.log("first", 1.0)
    optimizer.step()
"""),
        "fixer cannot tell",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


PASSES = """
optimizer = self.optimizers()
optimizer.zero_grad()
fit, penalty = self.losses(batch)
self.manual_backward(fit, retain_graph=True)
BETWEEN
self.manual_backward(penalty)
LAST
"""
ZEROED = step(PASSES.replace("BETWEEN", "optimizer.zero_grad()").replace("LAST", "optimizer.step()"))
EARLY = step(PASSES.replace("BETWEEN", "optimizer.step()").replace("LAST\n", ""))
RIGHT_PASSES = step(PASSES.replace("BETWEEN\n", "").replace("LAST", "optimizer.step()"))


def test_zero_grad_between_passes_goes_only_when_asked_for() -> None:
    made = run_rules({"train.py": ZEROED}, rule(CODE))
    assert made.changes == () and [item.fix for item in made.findings] == ["unsafe"]
    assert rewritten({"train.py": ZEROED}, rule(CODE), unsafe=True)["train.py"] == RIGHT_PASSES


def test_a_step_in_front_of_the_last_pass_goes_behind_it() -> None:
    assert rewritten({"train.py": EARLY}, rule(CODE))["train.py"] == RIGHT_PASSES
    clip = "        self.clip_gradients(optimizer, 0.5)\n        optimizer.step()\n"
    clipped = changed(("        optimizer.step()\n", clip), text=EARLY)
    after = rewritten({"train.py": clipped}, rule(CODE))["train.py"]
    assert after == changed(("        optimizer.step()\n", clip), text=RIGHT_PASSES)


def test_a_forward_pass_behind_the_step_may_want_a_step_of_its_own() -> None:
    text = changed(
        ("        self.manual_backward(penalty)\n", "        self.manual_backward(self(batch))\n"), text=EARLY
    )
    assert_refused(
        changed(
            ("        self.manual_backward(self(", "        out = self(batch)\n        self.manual_backward(self("),
            text=text,
        ),
        CODE,
        "cannot tell where it belongs here",
    )


USED = {
    "gradients read": (
        ZEROED,
        (
            "        optimizer.zero_grad()\n        self.man",
            "        self.keep(self.rnn.weight_hh_l0.grad)\n        optimizer.zero_grad()\n        self.man",
        ),
    ),
    "gradients used by a function": (
        ZEROED,
        (
            "        optimizer.zero_grad()\n        self.man",
            "        attack.disturb()\n        optimizer.zero_grad()\n        self.man",
        ),
    ),
    "hooks on gradients": (ZEROED, (SETUP, "    def on_after_backward(self):\n        self.keep()\n\n" + SETUP)),
    "a step in a hook": (
        EARLY,
        (SETUP, "    def on_train_batch_end(self, *_):\n        self.optimizers().step()\n\n" + SETUP),
    ),
    "a step of its own": (
        EARLY,
        (
            "        self.manual_backward(penalty)\n",
            "        self.manual_backward(penalty)\n        optimizer.step()\n",
        ),
    ),
}


@pytest.mark.parametrize(("text", "more"), USED.values(), ids=USED)
def test_gradients_that_somebody_may_use_are_left(text: str, more: tuple[str, str]) -> None:
    made = run_rules({"train.py": changed(more, text=text)}, rule(CODE), unsafe=True)
    assert (made.findings, made.changes, made.bugs) == ((), (), ())
