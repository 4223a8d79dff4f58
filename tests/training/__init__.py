"""Training module texts in old and new Lightning, and comparing what happened.

    from tests.training import assert_same, same, train

    before = {"train.py": TEXT}
    old, new = same(before, rewritten(before))        # on 1.9.5 and on the Lightning that runs the tests
    broken = train(before)                            # on the Lightning that runs the tests
    assert broken.failure is not None and broken.failure.type == "TypeError"

Each release is served by one process that lives as long as the test session and forks for every case, so that a case
costs what it trains and finds nothing of the case before. Interpreters are built into fixer's cache on first use;
one that is there is named by the environment, `FIXER_TEST_PYTHON_1_9_5=/path/to/python` for release 1.9.5.
"""

from tests.training.cases import Case, same, train, train_many
from tests.training.records import Failure, Record, Step, assert_same, differences

__all__ = ["Case", "Failure", "Record", "Step", "assert_same", "differences", "same", "train", "train_many"]
