"""How a script is started: where it finds its modules."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from verify.harness.main import as_started, below_hydra, failed


@pytest.mark.parametrize(
    ("script", "ends"),
    [("train.py", []), ("scripts/train.py", []), ("inner/scripts/deep/train.py", ["inner/scripts", "inner"])],
)
def test_folders_above_a_script_come_after_all_packages(
    script: str, ends: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["harness", "packages"])
    monkeypatch.setattr(sys, "argv", ["main.py"])
    as_started({"script": script, "args": ["--gpus", "1"]})
    own = [str((tmp_path / script).parent), str(tmp_path), str(tmp_path / "src")]
    assert sys.path == [*own, "packages", *(str(tmp_path / each) for each in ends)]
    assert sys.argv == [str(tmp_path / script), "--gpus", "1"]


class InstantiationException(Exception):
    """As Hydra's own."""


class HydraException(Exception):
    """As it was called before Hydra 1.1."""


def raised(*errors: BaseException) -> BaseException:
    """The first of some exceptions, each raised from the next."""
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    return errors[0]


MISSING = FileNotFoundError(2, "No such file or directory", "data/train.csv")


@pytest.mark.parametrize(
    "error",
    [
        raised(InstantiationException("Error in call to target"), MISSING),
        raised(InstantiationException("Error locating target"), ImportError("Error loading"), MISSING),
        raised(HydraException("Error calling 'a.b'"), HydraException("Error calling 'a.c'"), MISSING),
        raised(InstantiationException("outer"), InstantiationException("inner"), MISSING),
        MISSING,
    ],
)
def test_what_goes_wrong_while_hydra_makes_an_object_is_told_itself(error: BaseException, tmp_path: Path) -> None:
    told: list[dict[str, object]] = []
    failed(error, tmp_path, lambda _, **values: told.append(values), {"root": str(tmp_path)})
    assert [(each["type"], each["message"]) for each in told] == [("FileNotFoundError", str(MISSING))]


@pytest.mark.parametrize(
    "error",
    [
        InstantiationException("no cause"),
        raised(ValueError("own"), KeyError("x")),
        raised(ImportError("a"), KeyError("x")),
    ],
)
def test_other_exceptions_are_told_as_they_are(error: BaseException) -> None:
    assert below_hydra(error) is error
