"""What code of others writes into the files of a proof, or prints: none of it ends the proof itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.verify.installers import CONTAINED, Recorded
from verify.environments.installer import Installer
from verify.environments.loading import unloadable
from verify.environments.remembered_names import answers, unanswered
from verify.judging.record import events, read
from verify.module_training import Sides, train
from verify.reading.conform import facts
from verify.reading.sources import Sources
from verify.sandbox.process import Outcome

NAME = {"event": "name", "name": "a.B", "missing": None, "role": None, "parameters": [["x", "POSITIONAL", False]]}
METHOD = {"event": "method", "base": "a.B", "method": "fit", "exists": True, "parameters": None}


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "loss", "value": 1, "nodes": Infinity, "casts": 0}', '{"event": "loss", "value": 1%s}' % ("0" * 400),
        '{"event": "fitted", "weights": [["w", 1, [1]]], "metrics": {}, "schedulers": 3}', '{"event": "loss"}',
    ],
)  # fmt: skip
def test_a_run_that_records_nonsense_is_told_as_such(tmp_path: Path, line: str) -> None:
    (tmp_path / "record").write_text(line + "\n")
    raw = read(tmp_path / "record", "train.py")
    assert "cannot be read" in (raw.ended or "")
    assert not raw.recording.fitted


def test_lines_that_are_nested_too_deep_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "record").write_text("[" * 100_000 + '\n{"event": "end"}\n')
    assert list(events(tmp_path / "record")) == [{"event": "end"}]


@pytest.mark.parametrize(
    "event",
    [
        7, {"event": "name"}, {**NAME, "name": ["a"]}, {**NAME, "missing": 3}, {**NAME, "parameters": 3},
        {**NAME, "parameters": [1]}, {"event": "name", "name": "a.B"}, {"event": "method", "base": "a.B"},
        {**METHOD, "parameters": [[]]}, {**METHOD, "method": {}}, {"event": ["name"]},
    ],
)  # fmt: skip
def test_what_is_no_answer_of_the_harness_answers_nothing(event: Any) -> None:
    told = answers([event, NAME, METHOD])
    assert told == (NAME, METHOD)
    assert set(facts(told).names) == {"a.B"}
    asked: dict[str, list[Any]] = {"names": ["a.B"], "methods": [["a.B", "fit"]]}
    assert unanswered(asked, [event] if isinstance(event, dict) else []) == asked
    assert not any(unanswered(asked, told).values())


class Printing(Recorded):
    """An environment where packages print."""

    def says(self, folder: Path, code: str, *args: str) -> str:
        lines = [
            "3",
            "[]",
            '["", [7, "lib/a"]]',
            "[[], []]",
            "[1, 2]",
            '["a", 3]',
            '["other", "x"]',
            "[" * 100_000,
            '["a", "boom"]',
            '["b", ""]',
            "{",
        ]
        return "\n".join(f"fixer-loads {line}" for line in lines)


def test_what_packages_print_is_no_answer(tmp_path: Path) -> None:
    installer: Installer = Printing(None, (), {}, threading.Event(), CONTAINED, ())
    loaded: set[str] = set()
    assert unloadable(tmp_path, installer, ["a", "b"], "pytorch-lightning==2.6.6", loaded) == {"a": "boom"}
    assert loaded == {"7", "lib/a"}


@pytest.mark.parametrize(
    "event",
    [
        {"event": "recipe"}, {"event": "recipe", "path": "m.py", "cls": "M", "told": 3}, {"event": "unfound"},
        {"event": "unusable"}, {"event": "unfound", "path": 3, "cls": 4},
    ],
)  # fmt: skip
def test_what_is_no_recipe_is_trained_by_nobody(tmp_path: Path, event: Mapping[str, Any]) -> None:
    (tmp_path / "m.py").write_text(
        "import pytorch_lightning as pl\nclass M(pl.LightningModule):\n    def training_step(self, batch): ...\n"
    )

    def start(name: str, sources: Sources, spec: Mapping[str, object]) -> tuple[Outcome, Path]:
        record = tmp_path / name
        record.write_text(json.dumps(event) + '\n{"event": "end"}\n')
        return Outcome(0, "", None, 1.0), record

    tree = Sources(tmp_path)
    sides = Sides(tree, tree, None, start, lambda jobs: [], tmp_path, 9.0)
    result = train(sides, ["m.py"], (), missing="", per_batch=False)
    assert result and result.judgement.verdict == "inconclusive"
