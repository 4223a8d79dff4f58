"""How long each rule took, where a user asks for it."""

from __future__ import annotations

from pathlib import Path

from fixer import pipeline
from fixer.settings import SharedOptions
from tests.support import commit_all


def test_timings_are_told_where_they_are_asked_for_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=1)\n")
    commit_all(tmp_path)
    plain = pipeline.check(SharedOptions(tmp_path), lambda _: None)
    timed = pipeline.check(SharedOptions(tmp_path), lambda _: None, pipeline.CheckOptions(timings=True))
    assert timed.findings == plain.findings
    assert timed.messages[: len(plain.messages)] == plain.messages
    told = timed.messages[len(plain.messages) :]
    assert told[0].startswith("the rules took ")
    assert all(" took " in line and line.endswith(" s") for line in told[1:])
