"""What is told of a run while it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verify.follow import EventFile, PassingLine, ProgressLine, following


def add(path: Path, *events: object, end: str = "\n") -> None:
    with path.open("a") as stream:
        stream.write("\n".join(event if isinstance(event, str) else json.dumps(event) for event in events) + end)


def test_steps_and_losses_are_told_as_the_file_grows(tmp_path: Path) -> None:
    file = EventFile(tmp_path / "record.jsonl")
    file.look()
    assert (file.began, file.told()) == (False, "starting")
    add(file.path, {"event": "start"}, {"event": "batch", "number": 1, "of": 16}, '{"event": "loss", "va', end="")
    file.look()
    assert (file.began, file.told()) == (True, "step 1 of 16")
    add(file.path, 'lue": 0.54671}', {"event": "step", "rates": []})
    file.look()
    assert file.told() == "step 1 of 16, loss 0.5467"
    add(file.path, {"event": "batch", "number": 16, "of": 16}, {"event": "loss", "value": 1e-9}, {"event": "fitted"})
    file.look()
    assert file.told() == "trained, step 16 of 16, loss 1e-09"


def test_without_the_number_of_batches_optimizer_steps_are_counted(tmp_path: Path) -> None:
    file = EventFile(tmp_path / "record.jsonl")
    add(file.path, {"event": "step"}, {"event": "step"}, {"event": "failure"})
    file.look()
    assert file.told() == "failed, step 2"


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "batch", "number": Infinity, "of": 4}',
        "[]",
        "7",
        '"x"',
        "{",
        '{"event": "loss", "value": "\\u001b"}',
        '{"event": "batch"}',
        "[" * 5000,
        "\x00\xff",
    ],
)
def test_what_others_write_there_is_passed_over(tmp_path: Path, line: str) -> None:
    file = EventFile(tmp_path / "record.jsonl")
    add(file.path, {"event": "batch", "number": 2, "of": 4}, line, {"event": "loss", "value": 0.5})
    file.look()
    assert file.told() == "step 2 of 4, loss 0.5"


def test_a_file_that_is_none_is_not_read(tmp_path: Path) -> None:
    add(tmp_path / "elsewhere", {"event": "fitted"})
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("link", "nowhere", "."):
        file = EventFile(tmp_path / name)
        file.look()
        assert not file.began


def test_modules_alone_are_told_by_name_and_number(tmp_path: Path) -> None:
    said: list[str] = []
    recipes = [{"cls": name, "record": str(tmp_path / name)} for name in ("Model", "Other")]
    with following({"recipes": recipes}, tmp_path / "record.jsonl", said.append):
        add(tmp_path / "record.jsonl", {"event": "start"})
        add(tmp_path / "Model", {"event": "fitted"})
        add(tmp_path / "Other", {"event": "batch", "number": 1, "of": 2})
    assert (said[0], said[-1]) == ("starting", "Other (2 of 2), step 1 of 2")
    with following({"mode": "search"}, tmp_path / "search", said.append):
        add(tmp_path / "search", {"event": "recipe"}, {"event": "unfound"})
    assert said[-1] == "2 looked at"


def test_a_board_shows_all_sides_and_only_what_is_new() -> None:
    said: list[str] = []
    board = ProgressLine(said.append, "train.py")
    after, before = board.side("after, on Lightning 2.6.6"), board.side("before, on Lightning 1.8.6")
    after("step 1 of 16")
    before("starting")
    before("starting")
    assert said == [
        "train.py: after, on Lightning 2.6.6: step 1 of 16",
        "train.py: before, on Lightning 1.8.6: starting; after, on Lightning 2.6.6: step 1 of 16",
    ]
    assert all(isinstance(line, PassingLine) for line in said)
