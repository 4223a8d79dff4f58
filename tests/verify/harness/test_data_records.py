"""Records that are held by keys, and lines that hold more than words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.verify.harness.raising import climbed, raised
from verify.harness.data_errors import following
from verify.harness.made_data import table, write

KEYED = "import json\nheld = json.load(open(root / 'a.json'))\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KEYED + "assert len([held[key]['title'].split() for key in held.keys()]) == 64", {"keyed": True}),
        (KEYED + "[each['score'] + 1 for name, each in held['train'].items()]", {"keyed": True, "under": ["train"]}),
        (KEYED + "for each in held:\n    parts = each['parts']\n    [parts[key].upper() for key in parts.keys()]",
         {"held": {"parts": []}}),
        (KEYED + "for each in held:\n    parts = each['parts']\n    for key in parts.keys():\n"
         "        parts[key]['head'] + parts[key]['body']", {"held": {"parts": ["head", "body"]}}),
    ],
)  # fmt: skip
def test_records_are_held_by_keys_where_code_asks_for_these(
    text: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    (entry,) = climbed(tmp_path, text)
    assert {key: entry.get(key) for key in expected} == expected


def test_other_files_are_not_held_by_keys(tmp_path: Path) -> None:
    plan = [table("a.csv", "csv"), {**table("b.json", "json"), "keyed": True}]
    error = raised(tmp_path, "[].keys()")
    assert following(error, plan, (), tmp_path) is None
    found = following(raised(tmp_path, "(1).keys()"), plan, (), tmp_path)
    assert found and not any("held" in entry for entry in found[0])


LINES = "for line in open(root / 'list.txt'):\n"


@pytest.mark.parametrize(
    ("text", "kinds", "separator"),
    [
        (LINES + "    name, label = line.split()\n    int(label)", ["name", "class"], " "),
        (LINES + "    name, label = line.strip().split('\\t')\n    int(label) + len(name)", ["name", "class"], "\t"),
        (LINES + "    x, y, z = line.split(',')\n    float(x)", ["number", "class", "class"], ","),
        (LINES + "    [float(each) for each in line.split()]", ["number"] * 6, " "),
        ("import numpy as np\nassert np.loadtxt(root / 'list.txt').shape == (64, 6)", ["number"] * 6, " "),
        ("import numpy as np\nnp.loadtxt(root / 'list.txt', dtype='int64')", ["class"] * 6, " "),
        (LINES + "    int(line.split()[1])", ["name", *["class"] * 5], " "),
        (LINES + "    line.strip().split('_')[0] + line.strip().split('_')[2]", ["name", "class", "class"], "_"),
    ],
)  # fmt: skip
def test_lines_hold_what_is_split_out_of_them(text: str, kinds: list[str], separator: str, tmp_path: Path) -> None:
    (entry,) = climbed(tmp_path, text)
    assert ([*entry["columns"].values()], entry["separator"]) == (kinds, separator)


@pytest.mark.parametrize("text", ["int('two')", "float('sample')", "a, b = (1, 2, 3)", "a, b = 'x y'.rpartition(' ')"])
def test_what_was_not_made_up_changes_no_lines(text: str, tmp_path: Path) -> None:
    plan = [{"path": "list.txt", "kind": "file", "suffix": ".txt", "seed": 0}]
    assert following(raised(tmp_path, text), plan, (), tmp_path) is None


def test_a_text_is_long_enough_for_several_batches_of_its_pieces(tmp_path: Path) -> None:
    write([{"path": "input.txt", "kind": "file", "suffix": ".txt", "seed": 0}], tmp_path)
    text = (tmp_path / "input.txt").read_text()
    assert len(text) // 128 >= 8 * 8
    assert len(text.splitlines()) > 64
