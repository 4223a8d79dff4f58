"""How a script is started: where it finds its modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from verify.harness.main import as_started


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
