"""TBP002: which `hiddens` parameters are dead, and which are not."""

from __future__ import annotations

import pytest

from codemods.rules.tbptt.tbp002 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

TBP = rule("TBP002")
USED = BEFORE.replace("        del batch_idx, hiddens\n", "")


@pytest.mark.parametrize(
    ("deleted", "left"),
    [
        ("        del batch_idx, hiddens\n", "        del batch_idx\n"),
        ("        del batch_idx, hiddens, batch\n", "        del batch_idx, batch\n"),
        ("        del hiddens\n", ""),
        ("        del (hiddens, batch_idx)  # unused\n", "        del batch_idx  # unused\n"),
        ("", ""),
    ],
)
def test_parameter_and_what_deletes_it_go(deleted: str, left: str) -> None:
    after = rewritten({"train.py": BEFORE.replace("        del batch_idx, hiddens\n", deleted)}, TBP)["train.py"]
    assert after == USED.replace(", hiddens=None", "").replace("        return", left + "        return")


def test_other_parameters_keep_their_layout() -> None:
    head = "(\n        self,\n        batch,\n        i,\n        optimizer_idx=None,\n        hiddens=None,\n    )"
    after = rewritten({"train.py": USED.replace("(self, batch, batch_idx, hiddens=None)", head)}, TBP)["train.py"]
    assert "        optimizer_idx=None,\n    ):\n" in after


LEFT = {
    "read": USED.replace("self(batch)", "self(batch, hiddens)"),
    "returned": USED.replace("self(batch)", 'dict(loss=self(batch), hiddens=None)'),
    "required": USED.replace("hiddens=None", "hiddens"),
    "default of its own": USED.replace("hiddens=None", "hiddens=(None, None)"),
    "not a module": USED.replace("pl.LightningModule", "object"),
    "flag set": USED.replace("    def tr", "    truncated_bptt_steps = 3\n\n    def tr"),
    "read in a lambda": USED.replace("self(batch)", "(lambda: self(batch, hiddens))()"),
}  # fmt: skip


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT.keys())
def test_left_alone(text: str) -> None:
    made = run_rules({"train.py": text}, TBP)
    assert made.changes == ()
    assert made.findings == ()


def test_flag_anywhere_in_the_project_may_fill_it() -> None:
    made = run_rules({"train.py": BEFORE, "conf.yaml": "trainer:\n  truncated_bptt_steps: 3\n"}, TBP)
    assert made.changes == ()


def test_caller_that_may_give_it_forbids_it() -> None:
    files = {"train.py": BEFORE, "more.py": "def step(model, batch):\n    return model.training_step(batch, 0, None)\n"}
    assert "called by name in more.py" in refusals(files, "TBP002")[0]


def test_relative_with_a_step_of_its_own_forbids_it() -> None:
    child = "\n\nclass Child(Model):\n    def training_step(self, batch, batch_idx):\n        return batch\n"
    assert "Child (train.py)" in refusals({"train.py": BEFORE + child}, "TBP002")[0]
