"""TBP103: an optimizer that nobody sets."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import ASKED, RULES, SGD, STEP, ZERO, assert_refused, changed, step
from tests.codemods.support import run_rules

CODE = "TBP103"
REFUSED = {
    "a missing optimizer among several": (
        step(
            """
self.optimizer.zero_grad()
self.manual_backward(self.loss(batch))
self.optimizer.step()
""",
            (
                SGD,
                "        first = torch.optim.SGD(self.rnn.parameters(), 0.1)\n"
                "        return first, torch.optim.SGD(self.head.parameters(), 0.1)\n",
            ),
        ),
        "several optimizers",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


def test_an_optimizer_that_somebody_else_sets_is_there() -> None:
    text = changed((ASKED, ""), (ZERO, ZERO.replace("opt", "self.opt")), (STEP, STEP.replace("opt", "self.opt")))
    script = "from train import Model\n\nmodel = Model()\nmodel.optimizer = build(model)\n"
    assert run_rules({"train.py": text, "other.py": script}, *RULES).findings == ()
    assert run_rules({"train.py": text, "other.py": ""}, *RULES).findings != ()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for name in names:\n            setattr(self, name, 1)", False),
        ("vars(self).update(given)", False),
        ("vars(self)[given] = 1", False),
        ("self.add_module(given, 1)", False),
        ("setattr(given, 'other', 1)", True),
        ("run(**vars(given))", True),
    ],
)
def test_an_optimizer_that_may_be_set_by_any_name(body: str, found: bool) -> None:
    text = changed((ASKED, ""), (ZERO, ZERO.replace("opt", "self.opt")), (STEP, STEP.replace("opt", "self.opt")))
    text = text.replace(
        "    def training_step", f"    def build(self, given, names):\n        {body}\n\n    def training_step"
    )
    assert bool(run_rules({"train.py": text}, *RULES).findings) is found
