"""TBP106: a state that is carried on with its history."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import BACKWARD, CLASS, DETACH, RULES, SETUP, STEP, ZERO, assert_refused, changed
from tests.codemods.support import rule, run_rules
from tests.training import Case, train_many

CODE = "TBP106"
SELDOM = "            if batch_idx % 2 == 0:\n    " + DETACH
REPACKAGED = "            hiddens = self.repackage(hiddens)\n"
METHOD = "    def repackage(self, state):\n        return tuple(part.clone() for part in state)\n\n"
FUNCTION = (
    "def repackage(state):\n    return [repackage(part) for part in state] if isinstance(state, tuple) else state\n\n\n"
)
SUM = "            total = total + loss\n            self.manual_backward(total)\n"
START = "        hiddens = None\n"
REFUSED = {
    "through all chunks, perhaps meant": (
        changed(
            ("truncated_bptt_steps", "length"),
            (BACKWARD, BACKWARD.replace("loss)", "loss, retain_graph=True)")),
            (STEP + DETACH, STEP[4:]),
            (ZERO, ""),
            ("        hiddens = None\n", "        hiddens = None\n        optimizer.zero_grad()\n"),
        ),
        "If that is not the intention",
    ),
    "cut on some batches": (changed((DETACH, SELDOM)), "where `batch_idx % 2 == 0` alone"),
    "a method that cuts nothing": (changed((DETACH, REPACKAGED), (SETUP, METHOD + SETUP)), "`self.repackage` gives it"),
    "a function that cuts nothing": (
        changed((DETACH, REPACKAGED.replace("self.", "")), (CLASS, FUNCTION + CLASS)),
        "`repackage` gives it back with its history",
    ),
    "a sum that cuts nothing": (
        changed((START, f"{START}        total = 0\n"), (BACKWARD, SUM)),
        "its second backward pass fails",
    ),
    "another sum that cuts nothing": (
        changed((START, f"{START}        total = 0\n"), (BACKWARD, SUM.replace("total = total +", "total +="))),
        "its second backward pass fails",
    ),
    "a name that is taken": (
        changed((DETACH, ""), ("def main():", "apply_to_collection = 1\n\n\ndef main():")),
        "apply_to_collection",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


CUTS = {
    "of each batch": changed((DETACH, SELDOM.replace("% 2 == 0", "% 1 == 0"))),
    "before the next sum": changed(
        (START, f"{START}        total = 0\n"),
        (BACKWARD, SUM),
        (DETACH, DETACH + "            total = total.detach()\n"),
    ),
    "of the sum in place": changed(
        (START, f"{START}        total = torch.zeros(())\n"),
        (BACKWARD, SUM.replace("total = total +", "total +=")),
        (DETACH, DETACH + "            with torch.no_grad():\n                total.detach_()\n"),
    ),
    "in the sum": changed(
        (START, f"{START}        total = 0\n"),
        (BACKWARD, SUM.replace("total +", "float(total) +")),
    ),
    "where it is no tensor yet": changed((DETACH, SELDOM.replace("batch_idx % 2 == 0", "hiddens is not None"))),
    "in either branch": changed((DETACH, SELDOM + "            else:\n    " + DETACH)),
    "by a method": changed((DETACH, REPACKAGED), (SETUP, METHOD.replace("clone", "detach") + SETUP)),
    "by values": changed(
        (DETACH, REPACKAGED), (SETUP, METHOD.replace("part.clone()", "torch.tensor(part.tolist())") + SETUP)
    ),
    "by a method of a child": changed(
        (DETACH, REPACKAGED),
        (SETUP, METHOD + SETUP),
        ("def main():", f"class Child(Model):\n{METHOD.replace('clone', 'detach')}\ndef main():"),
    ),
    "by None": changed((DETACH, REPACKAGED), (SETUP, METHOD[: METHOD.index("tuple")] + "None\n\n" + SETUP)),
    "on some batches, with a step for all chunks": changed(
        (DETACH, SELDOM + STEP[4:]),
        (BACKWARD + STEP, BACKWARD.replace("loss)", "loss, retain_graph=True)")),
        (ZERO, ""),
        ("        hiddens = None\n", "        hiddens = None\n        optimizer.zero_grad()\n"),
    ),
}


@pytest.mark.parametrize("text", CUTS.values(), ids=CUTS)
def test_is_left_alone(text: str) -> None:
    assert run_rules({"train.py": text}, rule(CODE)).findings == ()


def test_what_cuts_trains_and_what_does_not_fails() -> None:
    wrong = [text for name, (text, _) in REFUSED.items() if "cut" in name]
    right = [text for name, text in CUTS.items() if "child" not in name]
    assert (len(wrong), len(right)) == (5, 10)
    records = train_many([(Case({"train.py": text}), "target") for text in (*wrong, *right)])
    failures = [record.failure and record.failure.message for record in records]
    assert all("backward through the graph a second time" in (failure or "") for failure in failures[: len(wrong)])
    assert failures[len(wrong) :] == [None] * len(right)


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


@pytest.mark.parametrize(
    "idle", ["tuple(part.detach() for part in hiddens)", "(hiddens[0].detach(), hiddens[1].detach())"]
)
def test_a_detached_state_that_nobody_keeps_cuts_nothing(idle: str) -> None:
    line = f"            {idle}\n"
    for text in (changed((DETACH, line)), changed((DETACH, ""), (BACKWARD, line + BACKWARD))):
        made = run_rules({"train.py": text}, *RULES)
        assert [(item.code, item.fix) for item in made.findings] == [(CODE, "safe")]
        after = made.final()["train.py"].decode()
        old, new = train_many([(Case({"train.py": text}), "target"), (Case({"train.py": after}), "target")])
        assert old.failure is not None and new.failure is None and new.losses
