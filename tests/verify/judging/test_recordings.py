"""What is kept of the files that the harness writes: under which names, how much, and what the index says of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verify.judging import recorded
from verify.judging.recorded import Started, keep, told


def file(place: Path, text: str = "{}\n") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def script(place: Path, side: str, text: str = "{}\n") -> Started:
    return Started(side, {"mode": "train", "script": "src/train.py", "args": ["--gpus", "0"]}, file(place, text))


def index(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]


def test_each_file_is_named_by_side_and_script_in_the_order_of_the_runs(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    keep(kept, ["A1", "B2"], [script(tmp_path / "0", "before", "one"), script(tmp_path / "1", "after")])
    keep(kept, ["A1"], [script(tmp_path / "2", "before", "two")])
    assert [line["file"] for line in index(kept)] == [
        "before-src-train.py.jsonl",
        "after-src-train.py.jsonl",
        "before-src-train.py-2.jsonl",
    ]
    assert (kept / "before-src-train.py.jsonl").read_text() == "one"
    assert (kept / "before-src-train.py-2.jsonl").read_text() == "two"
    assert index(kept)[2] == {
        "file": "before-src-train.py-2.jsonl", "side": "before", "mode": "train", "script": "src/train.py",
        "args": ["--gpus", "0"], "class": None, "codes": ["A1"], "left_out": None,
    }  # fmt: skip
    assert told(kept) == f"3 recordings in {kept}, index.jsonl says what each is"


def test_modules_alone_have_a_file_each(tmp_path: Path) -> None:
    recipes = [
        {"path": "a.py", "cls": "../Model", "record": str(file(tmp_path / "0.jsonl", "model"))},
        {"path": "a.py", "cls": "Never", "record": str(tmp_path / "1.jsonl")},
    ]
    keep(tmp_path / "kept", [], [Started("before", {"mode": "replay", "recipes": recipes}, file(tmp_path / "record"))])
    files = {path.name: path.read_text() for path in (tmp_path / "kept").glob("before*")}
    assert files == {"before-replay.jsonl": "{}\n", "before-a.py-..-Model.jsonl": "model"}
    assert [(line["script"], line["class"]) for line in index(tmp_path / "kept")] == [
        (None, None),
        ("a.py", "../Model"),
    ]


def test_what_has_no_room_is_named_and_smaller_ones_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "ROOM", 1000)
    large, small = script(tmp_path / "0", "before", "x" * 1001), script(tmp_path / "1", "after", "x" * 100)
    keep(tmp_path / "kept", [], [large, small])
    assert [line["left_out"] for line in index(tmp_path / "kept")] == ["1001 bytes, where 1000 of 1000 are left", None]
    assert not (tmp_path / "kept/before-src-train.py.jsonl").exists()
    assert (tmp_path / "kept/after-src-train.py.jsonl").read_text() == "x" * 100
    keep(tmp_path / "kept", [], [large, large])
    assert sum(path.stat().st_size for path in (tmp_path / "kept").glob("*.py*")) == 100
    assert told(tmp_path / "kept") == (
        f"1 recordings in {tmp_path / 'kept'}, index.jsonl says what each is; 3 left out, index.jsonl says why"
    )


def test_a_link_that_a_project_put_there_is_not_followed(tmp_path: Path) -> None:
    secret = file(tmp_path / "secret", "secret")
    (tmp_path / "link").symlink_to(secret)
    keep(tmp_path / "kept", [], [Started("after", {"mode": "search"}, tmp_path / "link")])
    assert list((tmp_path / "kept").iterdir()) == []
    assert told(tmp_path / "kept") is None


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    keep(file(tmp_path / "file") / "kept", [], [script(tmp_path / "0", "after")])
    assert (tmp_path / "file").read_text() == "{}\n"
