"""What benchmarks/finished.py says of a tree before and after."""

from __future__ import annotations

from pathlib import Path

from benchmarks.finished import classes, page, table
from benchmarks.finishing.compare import Left, left, named
from benchmarks.finishing.files import Violation
from benchmarks.finishing.runs import Row, measured
from tests.support import commit_all, git

GPUS = "argument", "Trainer(gpus=)"


def finding(line: int, code: str = "LIT101", cell: int | None = None) -> dict[str, object]:
    told = {"message": "trains several optimizers", "reason": "training_epoch_end gets a list; gpus= and `amp_level`"}
    return {"code": code, "path": "train.py", "line": line, "end_line": line, "cell": cell, **told}


def test_the_violation_that_stays_is_the_one_whose_line_stayed(tmp_path: Path) -> None:
    for name, text in (("old", "one\ntwo\nthree\nfour\n"), ("new", "new\nfirst\ntwo\nthree\nfour\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(text)
    before = [Violation("train.py", 1, *GPUS), Violation("train.py", 3, *GPUS)]
    after = [Violation("train.py", 4, *GPUS)]
    assert left(before, after, tmp_path / "old", tmp_path / "new") == Left((before[1],), ())


def test_what_was_not_there_is_new(tmp_path: Path) -> None:
    after = [Violation("train.py", 4, *GPUS)]
    assert left([], after, tmp_path, tmp_path) == Left((), tuple(after))


def test_a_finding_names_what_it_speaks_of_near_it() -> None:
    asked = named([finding(7)], ["data.py"])
    assert asked(Violation("train.py", 10, *GPUS))
    assert asked(Violation("train.py", 7, "argument", "Trainer(ipus=)"))
    assert not asked(Violation("train.py", 8, "argument", "Trainer(ipus=)"))
    assert asked(Violation("train.py", 90, "argument", "Trainer(amp_level=)"))
    assert not asked(Violation("train.py", 11, *GPUS))
    assert not asked(Violation("train.py", 7, *GPUS, cell=0))
    assert asked(Violation("data.py", 1, *GPUS))


def test_findings_on_requirements_and_gradients_name_nothing() -> None:
    asked = named([finding(7, "PIN001"), finding(7, "GRD005")], ())
    assert not asked(Violation("train.py", 7, *GPUS))


def test_a_finding_at_the_step_names_the_hooks_that_it_speaks_of() -> None:
    asked = named([finding(7, "OPT001")], ())
    several = "LightningModule.configure_optimizers: several optimizers"
    assert asked(Violation("train.py", 40, "hook", several, also=7))
    assert asked(Violation("train.py", 40, "hook", "LightningModule.training_epoch_end", also=7))
    assert not asked(Violation("train.py", 40, "hook", "LightningModule.test_epoch_end", also=7))


def test_rows_are_counted() -> None:
    here, there = Violation("train.py", 1, *GPUS), Violation("train.py", 9, *GPUS)
    row = Row("a/b", (here, there), Left((there,), ()), Left((), ()), (there,))
    assert "| a/b | 2 | 50% | 100% | 0 | 1 | 0 | no | yes |" in table([row])
    assert "| **sum** | 2 | 50% | 100% | 0 | 1 | 0 | 0 of 1 | 1 of 1 |" in table([row])
    assert "| `argument: Trainer(gpus=)` | 2 | 1 | 0 | 1 | 1 |" in classes([row])
    assert table([row]) in page([row])


def test_a_repository_is_measured_and_left_as_it_is(tmp_path: Path) -> None:
    repository = tmp_path / "own"
    repository.mkdir()
    git(repository, "init", "-q")
    text = "import pytorch_lightning as pl\n\ntrainer = pl.Trainer(gpus=1, experiment=None)\n"
    (repository / "train.py").write_text(text)
    commit_all(repository)
    row = measured(repository)
    assert [each.what for each in row.before] == ["Trainer(experiment=)", "Trainer(gpus=)"]
    assert [each.what for each in row.safely.left] == ["Trainer(experiment=)"]
    assert (row.missed, row.safely.new, row.finished(unsafe=True)) == ((), (), False)
    assert (repository / "train.py").read_text() == text
    assert git(repository, "branch", "--list", "finished") == ""
