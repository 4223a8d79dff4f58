"""What runs executed of each changed file, of every kind, and what that makes of a verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fixer.reports.evidence_list import coverage_line
from tests.verify.judging.test_touched import raw
from tests.verify.trees import tree
from verify.evidence import Failure, FileCoverage, Verdict, outcome_of
from verify.judging.executed_parts import argued, further, is_manifest, parts
from verify.judging.record import CRASHED
from verify.reading.idle import watched
from verify.reading.sources import Sources

OLD = "import old\n\n\ndef used():\n    return 1\n\n\ndef idle():\n    return 1\n"
NEW = OLD.replace("import old", "import new")


def of(folder: Path, old: str, new: str, calls: tuple[str, ...] | None, loaded: bool = True) -> FileCoverage:
    """What a run executed of `m.py`, which was changed."""
    before, after = Sources(tree(folder / "before", m=old)), Sources(tree(folder / "after", m=new))
    run = replace(raw("t.py", ["t.py", *(["m.py"] if loaded else [])]), calls=calls)
    (found,) = parts(before, after, ["m.py"], [run])
    return found


def test_a_file_counts_by_the_functions_that_were_called(tmp_path: Path) -> None:
    new = NEW.replace("return 1", "return 2")
    assert of(tmp_path / "a", OLD, new, ("m.py:4",)) == FileCoverage("m.py", "executed", ("used",), ("idle",))
    assert of(tmp_path / "b", OLD, new, ()) == FileCoverage("m.py", "not called", (), ("used", "idle"))
    assert of(tmp_path / "c", OLD, new, None) == FileCoverage("m.py", "executed"), "calls were not seen"
    assert of(tmp_path / "d", OLD, new, (), loaded=False).how == "not loaded"


def test_calls_are_counted_over_all_runs_where_each_counted(tmp_path: Path) -> None:
    new = NEW.replace("return 1", "return 2")
    before, after = Sources(tree(tmp_path / "before", m=OLD)), Sources(tree(tmp_path / "after", m=new))
    one = replace(raw("t.py", ["t.py", "m.py"]), calls=("m.py:4",), times={"m.py:4": 9})
    (found,) = parts(before, after, ["m.py"], [one, replace(one, times={"m.py:4": 3})])
    assert found == FileCoverage("m.py", "executed", ("used",), ("idle",), (12,))
    assert coverage_line(found) == "m.py ran: used (12 times); not called: idle"
    (found,) = parts(before, after, ["m.py"], [one, replace(one, times=None)])
    assert found.times == () and coverage_line(found) == "m.py ran: used; not called: idle"


def test_what_stands_outside_functions_is_executed_with_its_file(tmp_path: Path) -> None:
    assert of(tmp_path / "a", OLD, NEW, ()).how == "executed", "an import alone was changed"
    assert of(tmp_path / "b", OLD, OLD + "x = 1\n", ()).how == "executed"


def test_comments_and_texts_execute_nothing(tmp_path: Path) -> None:
    found = of(tmp_path, OLD, "'''Words.'''\n" + OLD.replace("import old", "import old  # noqa"), (), loaded=False)
    assert (found.how, found.is_covered) == ("same code", True)


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("requirements.txt", "not installed"), ("requirements/dev.txt", "not installed"), ("setup.py", "not installed"),
        ("environment.yml", "not installed"), ("README.md", "document"), ("Dockerfile", "not run"),
        (".github/workflows/test.yml", "not run"), ("conf/main.yaml", "not read"), ("conf/read.yaml", "read"),
        ("a.ipynb", "not loaded"), ("pyproject.toml", "not installed"),
    ],
)  # fmt: skip
def test_every_kind_of_file_says_what_became_of_it(tmp_path: Path, path: str, how: str) -> None:
    root = tree(tmp_path / "p", train="1")
    sources, old = Sources(root), Sources(tree(tmp_path / "old", train="1"))
    (root / "requirements").mkdir()
    for name in ("requirements.txt", "requirements/dev.txt", "setup.py", "environment.yml"):
        (root / name).write_text("torch\n")
    (root / "pyproject.toml").write_text("[project]\ndependencies = ['torch']\n")
    (root / "conf").mkdir()
    for name in ("main", "read"):
        (root / "conf" / f"{name}.yaml").write_text("trainer:\n  max_epochs: 1\n")
    run = replace(raw("train.py", ["train.py"]), opened=("conf/read.yaml to train",))
    (found,) = parts(old, sources, [path], [run])
    assert found.how == how


def test_settings_of_tools_are_not_installed(tmp_path: Path) -> None:
    old, new = (Sources(tree(tmp_path / name, train="1")) for name in ("old", "new"))
    (new.root / "pyproject.toml").write_text("[tool.fixer.verify]\nscript = 'train.py'\n")
    (found,) = parts(old, new, ["pyproject.toml"], [raw("train.py", ["train.py"])])
    assert (found.how, found.is_covered) == ("document", True)
    (new.root / "pyproject.toml").write_text("[tool.poetry.dependencies]\ntorch = '2.0'\n")
    (found,) = parts(old, new, ["pyproject.toml"], [raw("train.py", ["train.py"])])
    assert found.how == "not installed"


def test_a_manifest_counts_where_the_environment_was_installed_from_it(tmp_path: Path) -> None:
    old, sources = (Sources(tree(tmp_path / name, train="1")) for name in ("old", "new"))
    (sources.root / "requirements.txt").write_text("torch\n")
    run = raw("train.py", ["train.py"])
    (found,) = parts(old, sources, ["requirements.txt"], [run], ["requirements.txt"])
    assert (found.how, found.is_covered) == ("installed", True)
    assert not is_manifest("src/requirements_of_users.py")


@pytest.mark.parametrize(
    ("verdict", "left", "outcome"),
    [
        ("preserved", False, "preserved"), ("preserved", True, "preserved in part"), ("repaired", True,
        "repaired in part"), ("changed", True, "changed"), ("regressed", True, "regressed"),
        ("inconclusive", True, "inconclusive"),
    ],
)  # fmt: skip
def test_a_verdict_is_of_a_part_where_a_file_was_not_executed(verdict: Verdict, left: bool, outcome: str) -> None:
    files = [FileCoverage("a.py", "executed"), FileCoverage("b.py", "not called" if left else "read")]
    assert outcome_of(verdict, files) == outcome


def test_the_functions_that_a_run_is_asked_for_are_those_that_count(tmp_path: Path) -> None:
    old, new = (
        Sources(tree(tmp_path / "a", m=OLD)),
        Sources(tree(tmp_path / "b", m=NEW.replace("return 1", "return 2"))),
    )
    assert watched(old, new, ["m.py"]) == ["m.py:4", "m.py:8"]


def test_of_two_kinds_of_runs_the_one_counts_that_executed_more() -> None:
    one = (
        FileCoverage("a.py", "executed", ("f",)),
        FileCoverage("b.py", "not called"),
        FileCoverage("c.py", "not loaded"),
    )
    other = (FileCoverage("a.py", "not loaded"), FileCoverage("b.py", "not loaded"), FileCoverage("c.py", "not called"))
    assert further(one, other) == further(other, one) == (*one[:2], other[2])
    assert further((), other) == other


def test_the_arguments_of_a_trainer_execute_no_file() -> None:
    touched = (
        FileCoverage("a.py", "executed", ("f",), ("g", "h")),
        FileCoverage("b.py", "not called", (), ("f",)),
        FileCoverage("c.py", "not loaded"),
    )
    first, second, third = argued(touched, {"a.py": ["f", "g"], "b.py": ["f"]})
    assert (first.how, first.idle, first.argued) == ("executed", ("h",), ("g",)), "what was called was executed"
    assert (second.how, second.idle, second.is_covered) == ("arguments", (), False)
    assert third == touched[2]
    assert second in further((FileCoverage("b.py", "not called"),), (second,))


def test_a_run_that_ended_before_it_told_does_not_say_what_it_loaded(tmp_path: Path) -> None:
    before, after = Sources(tree(tmp_path / "before", m=OLD)), Sources(tree(tmp_path / "after", m=NEW))
    crash = Failure(CRASHED, "the process ended with signal 6", None)
    for run in (raw("t.py", [], crash), replace(raw("t.py", []), ended="ended after 60 s")):
        (found,) = parts(before, after, ["m.py"], [run])
        assert (found.how, found.is_covered, found.is_left_by_runs) == ("not told", False, True)


HEAD, GUARD = "def helper():\n    pass\n\n\n", 'if __name__ == "__main__":\n    helper({0})\n'


@pytest.mark.parametrize(
    ("after", "script", "alone", "how"),
    [
        (f"{HEAD}{GUARD.format(2)}", "train.py", False, "executed"),
        (f"{HEAD}{GUARD.format(2)}", "train.py", True, "not called"),
        (f"{HEAD}{GUARD.format(2)}", "other.py", False, "not called"),
        (f"{HEAD}{GUARD.format(2)}", "python -m tool", False, "executed"),
        (f"{HEAD}SIZE = 2\n{GUARD.format(1)}", "train.py", True, "executed"),
        (f"import os\n\n\n{HEAD}{GUARD.format(1)}", "train.py", True, "executed"),
    ],
)
def test_what_runs_in_a_script_alone_is_executed_in_no_import(
    tmp_path: Path, after: str, script: str, alone: bool, how: str
) -> None:
    for folder, text in (("before", f"{HEAD}{GUARD.format(1)}"), ("after", after)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text(text)
        (tmp_path / folder / "other.py").write_text("import train\n")
    run = replace(raw(script, ["train.py", "other.py"]), calls=())
    trees = Sources(tmp_path / "before"), Sources(tmp_path / "after")
    (file,) = parts(*trees, ["train.py"], [run], alone=alone)
    assert file.how == how
