"""LIT210: calls of the check of EarlyStopping that give it the module too."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

LATE = """\
from pytorch_lightning.callbacks import EarlyStopping


class Late(EarlyStopping):
    def on_validation_end(self, trainer, pl_module):
        if trainer.current_epoch > 5:
            self._run_early_stopping_check({})
"""


@pytest.mark.parametrize(
    "given", ["trainer, pl_module", "trainer, pl_module=pl_module", "trainer,\n                pl_module"]
)
def test_the_check_gets_the_trainer_alone(given: str) -> None:
    assert rewritten({"a.py": LATE.format(given)}, rule("LIT210")) == {"a.py": LATE.format("trainer")}


@pytest.mark.parametrize(
    "text",
    [
        LATE.format("trainer"),
        LATE.format("*given"),
        LATE.format("pl_module=pl_module, trainer=trainer"),
        LATE.format("trainer, pl_module").replace("EarlyStopping", "Callback"),
        LATE.format("trainer, pl_module").replace("self._run", "self.other._run"),
    ],
)
def test_other_calls_stay(text: str) -> None:
    assert run_rules({"a.py": text}, rule("LIT210")).changes == ()


def test_what_may_do_something_beside_the_trainer_is_left_to_a_person() -> None:
    made = run_rules({"a.py": LATE.format("trainer, self.next_module()")}, rule("LIT210"))
    assert made.changes == () and [found.fix for found in made.findings] == ["manual"]


def test_a_check_of_the_projects_own_is_for_its_head() -> None:
    own = "    def _run_early_stopping_check(self, trainer, pl_module):\n        print(pl_module)\n"
    made = run_rules({"a.py": LATE.format("trainer, pl_module") + "\n" + own}, rule("LIT210"))
    assert made.changes == () and [found.fix for found in made.findings] == ["manual"]
