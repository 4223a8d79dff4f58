"""Which tests a change concerns."""

from __future__ import annotations

import pytest

from tests.concerned import EVERYTHING, FOLDERS, ROOT, concerned


@pytest.mark.parametrize(
    ("path", "tests", "others"),
    [
        ("tests/verify/test_budget.py", ["tests/verify/test_budget.py"], ["tests/verify/test_prove.py"]),
        ("verify/prove.py", ["tests/verify/test_prove.py", "tests/fixer/test_as_asked_runs.py"],
         ["tests/codemods/rewrite/test_locate.py"]),
        ("verify/harness/made_data.py", ["tests/verify/harness/test_made_data.py", "tests/verify/test_prove.py"], []),
        ("codemods/rules/trainer/lit101.py",
         ["tests/codemods/rules/trainer/test_lit101.py", "tests/codemods/rules/trainer/test_lit101_handed.py",
          "tests/codemods/test_examples.py"], ["tests/codemods/rules/trainer/test_lit110.py"]),
        ("tests/verify/trees.py", ["tests/verify/test_prove.py", "tests/verify/reading/test_idle.py"], []),
        ("tests/training/worker.py", ["tests/training/test_training.py"], []),
        ("tests/training/processes.py", ["tests/training/test_shapes.py"], []),
        ("LICENSE", [], ["tests/test_docs.py"]),
    ],
)  # fmt: skip
def test_a_change_concerns_what_imports_it_and_what_is_named_after_it(
    path: str, tests: list[str], others: list[str]
) -> None:
    found = concerned([path])
    assert set(tests) <= set(found) and not set(others) & set(found)
    assert all((ROOT / name).is_file() for name in found)
    assert bool(found) == bool(tests)


def test_the_tests_of_whole_folders_are_there() -> None:
    for place, tests in FOLDERS.items():
        assert (ROOT / place).exists()
        assert all((ROOT / name).is_file() for name in tests), place


@pytest.mark.parametrize("path", EVERYTHING)
def test_what_every_test_stands_on_concerns_all(path: str) -> None:
    assert (ROOT / path).is_file()
    assert concerned([path, "LICENSE"]) == ["tests"]
