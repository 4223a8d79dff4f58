"""Programs drawn at random: rewritten, they train on the new Lightning as they were trained on 1.9.5.

A few in every run; `FIXER_EXAMPLES=300 pytest tests/training/test_generated.py` tries that many others, at random.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, event, given, note, settings

from tests.codemods.support import run_rules
from tests.training import Case, assert_same, train_many
from tests.training.drawn import programs
from tests.training.programs import Program

EXAMPLES = int(os.environ.get("FIXER_EXAMPLES", "0"))


@settings(
    max_examples=EXAMPLES or 12,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(programs())
def test_a_rewritten_program_trains_as_it_did(program: Program) -> None:
    check(program)


def check(program: Program) -> None:
    """All rules together: what they do not rewrite they name, what they rewrite trains as before and stays."""
    files = program.files()
    made = run_rules(files)
    final = made.final()
    after = {path: final[path].decode() if path in final else text for path, text in files.items()}
    for text in after.values():
        note(text)
    assert made.bugs == ()
    left = [finding for finding in made.findings if not finding.applied]
    if left:
        assert all(finding.reason for finding in left)
        event(f"left: {left[0].code} {left[0].reason}")
        return
    event("rewritten" if after != files else "nothing to do")
    old, new = train_many([(Case(files), "1.9.5"), (Case(after), "target")])
    assert_same(old, new, logged=program.accumulate == 1)
    again = run_rules(after)
    assert (again.changes, again.findings) == ((), ())
