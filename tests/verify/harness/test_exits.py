"""A project that ends its process past all exceptions is told with its line; what a library ends so is none of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from verify.judging.record import read


def recorded(tmp_path: Path, script: str) -> list[dict[str, Any]]:
    (tmp_path / "train.py").write_text(script)
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["pytorch_lightning"],
        "seed": 1, "seconds": 100, "record": str(tmp_path / "record.jsonl"), "scratch": str(tmp_path),
        "limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1,
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    warm.run(tmp_path / "spec.json", tmp_path)
    return [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("leaving", "message"),
    [("os._exit(3)", "3"), ("os._exit(status=3)", "3"), ("os.abort()", "abort"), ("os._exit(0)", None)],
)
def test_what_ends_a_process_is_told_with_its_line_and_what_it_had_loaded(
    tmp_path: Path, leaving: str, message: str | None
) -> None:
    events = recorded(tmp_path, f"import os\nprint(1)\n{leaving}\n")
    told = [(event["type"], event["message"], event["place"]) for event in events if event["event"] == "failure"]
    assert told == ([("SystemExit", message, "train.py:3")] if message else [])
    assert [event["files"] for event in events if event["event"] == "loaded"] == [["train.py"]]
    assert read(tmp_path / "record.jsonl", "train.py").loaded == ("train.py",)


def test_what_another_process_of_the_project_ends_with_is_not_its_own(tmp_path: Path) -> None:
    events = recorded(tmp_path, "import os\nif os.fork() == 0:\n    os._exit(3)\nos.wait()\n")
    assert not [event for event in events if event["event"] == "failure"]
    assert len([event for event in events if event["event"] == "loaded"]) == 1


def test_what_a_library_ends_from_no_line_of_the_project_is_not_told_as_its_failure(tmp_path: Path) -> None:
    threads = (
        "import os, threading\nended = threading.Thread(target=os._exit, args=(3,))\nended.start()\nended.join()\n"
    )
    events = recorded(tmp_path, threads)
    assert not [event for event in events if event["event"] == "failure"]
    assert [event["files"] for event in events if event["event"] == "loaded"] == [["train.py"]]
