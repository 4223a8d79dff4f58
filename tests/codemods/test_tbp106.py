"""TBP106: a state that is carried on with its history."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import BACKWARD, DETACH, RULES, STEP, ZERO, assert_refused, changed
from tests.codemods.support import run_rules

CODE = "TBP106"
REFUSED = {
    "through all chunks, perhaps meant": (
        changed(
            ("truncated_bptt_steps", "length"),
            (BACKWARD, BACKWARD.replace("loss)", "loss, retain_graph=True)")),
            (STEP + DETACH, STEP[4:]),
            (ZERO, ""),
            ("        hiddens = None\n", "        hiddens = None\n        optimizer.zero_grad()\n"),
        ),
        "If that is not meant",
    ),
    "a name that is taken": (
        changed((DETACH, ""), ("def main():", "apply_to_collection = 1\n\n\ndef main():")),
        "apply_to_collection",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


UNSEEN = changed((DETACH, ""), ("self.rnn(part, hiddens)", "self.network(part, hiddens)"))


def test_a_state_of_unseen_origin_is_cut_only_when_asked_for() -> None:
    assert run_rules({"train.py": UNSEEN}, *RULES).changes == ()
    made = run_rules({"train.py": UNSEEN}, *RULES, unsafe=True)
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert "apply_to_collection(hiddens," in made.final()["train.py"].decode()
    elsewhere = {"train.py": UNSEEN, "network.py": "def run(x, state):\n    return x, state.detach()\n"}
    assert run_rules(elsewhere, *RULES, unsafe=True).findings == ()


WIPED = changed((ZERO + BACKWARD, BACKWARD + ZERO), (DETACH, ""))


@pytest.mark.parametrize(("old", "new"), [("\n", "\r\n"), ("    ", "\t"), ("    ", "  ")])
def test_lines_are_laid_out_as_those_around_them(old: str, new: str) -> None:
    text = WIPED.replace(old, new)
    made = run_rules({"train.py": text}, *RULES)
    assert made.bugs == ()
    after = made.final()["train.py"].decode()
    assert "apply_to_collection(hiddens" in after
    assert after.count("\r") == (after.count("\n") if "\r" in text else 0)
    assert ("\n    " in after) == ("\n    " in text)
    assert after.index("zero_grad()") < after.index("manual_backward(loss)") < after.index("optimizer.step()")
