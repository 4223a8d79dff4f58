"""Twenty migrations with a known answer, before the harness and the judge of the proof.

`benchmarks/migrations.py` takes them the whole way, by `run` and by `verify`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.migrations.cases import MIGRATIONS, Migration
from tests.mutations.judging import judged
from tests.training.interpreters import TARGET
from verify.judging.verdict import Judgement


def verdict(migration: Migration, kind: str) -> Judgement:
    files = migration.files("right" if kind == "right" else "wrong", TARGET)
    return judged(migration.files("before", migration.release), files, migration.release)[0]


@pytest.mark.parametrize("migration", MIGRATIONS, ids=lambda migration: migration.name)
def test_a_right_migration_is_preserved_and_its_mistake_is_caught(migration: Migration) -> None:
    right, wrong = verdict(migration, "right"), verdict(migration, "wrong")
    assert right.verdict == "preserved", right.reason
    assert wrong.verdict == migration.verdict, wrong.reason


def test_half_of_the_mistakes_stop_a_training_or_change_it() -> None:
    assert len(MIGRATIONS) == 10
    assert set(Counter(each.verdict for each in MIGRATIONS)) == {"changed", "regressed"}
    assert {each.release for each in MIGRATIONS} == {"1.4.9", "1.5.10", "1.8.6", "1.9.5"}
