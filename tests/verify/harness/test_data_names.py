"""Files of many names: by the rows of a table, by the lines of a list, by numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.harness.raising import ROWS, climbed
from verify.harness.made_data import told


def test_pictures_are_made_for_all_rows_that_name_one(tmp_path: Path) -> None:
    text = ROWS + "for row in rows:\n    open(root / 'img' / (row['image'] + '.png'), 'rb').read()\n"
    first, pictures = climbed(tmp_path, text)
    assert first["columns"] == {"image": "name"}
    assert (pictures["path"], pictures["count"], pictures["pattern"]) == ("img", 64, "{}.png")
    assert told(pictures) == "img (64 .png files)"


def test_numbers_in_names_of_files_are_as_wide_as_the_code_makes_them(tmp_path: Path) -> None:
    text = ROWS + "for row in rows:\n    open(root / 'x' / (row['id'].zfill(4) + '.npy'), 'rb').read()\n"
    _, arrays = climbed(tmp_path, text)
    assert (arrays["pattern"], arrays["called"][:2]) == ("{}.npy", ["0000", "0001"])


LIST = [f"set_{number:04}.jpg" for number in range(40)]


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        ("\n".join(f"{name} {number % 3}" for number, name in enumerate(LIST)),
         "name = 'set_0007.jpg'\nopen(root / 'x' / name, 'rb')"),
        ("\n".join(LIST), "open(root / 'x' / 'set_0007_mask.png', 'rb')"),
        ("id,file\n" + "\n".join(f"{number},pictures/{name}" for number, name in enumerate(LIST)),
         "open(root / 'x' / 'pictures' / 'set_0007.jpg', 'rb')"),
        (json.dumps({"train": [name.removesuffix(".jpg") for name in LIST]}),
         "open(root / 'x' / 'set_0007.png', 'rb')"),
        ("\n".join(LIST), "import numpy as np\nnp.load(root / 'x' / 'set_0007.npz')"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["lists/train.txt", "lists/train.csv", "lists/train.json"])
def test_files_are_made_for_all_names_of_a_list(listed: str, text: str, place: str, tmp_path: Path) -> None:
    if place.endswith(".json") is not listed.startswith("{"):
        return
    (tmp_path / "lists").mkdir()
    (tmp_path / place).write_text(listed)
    (made,) = climbed(tmp_path, text)
    assert made["count"] >= 40
    written = [file for file in (tmp_path / "x").rglob("*") if file.is_file()]
    assert {f"set_{number:04}" for number in range(40)} <= {file.name[:8] for file in written}


@pytest.mark.parametrize(
    "listed",
    [
        "\n".join(["alpha", "beta", "picture", "gamma", "delta", "eps", "zeta", "eta", "theta"]),
        "a first line\nand picture_0.png in a sentence\nof a page that says more, and more\n" * 4,
        "picture_0.png\npicture_1.png\n",
        "\n".join(map(str, range(64))),
    ],
)
def test_what_is_no_list_of_names_makes_one_file(listed: str, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text(listed)
    (made,) = climbed(tmp_path, "open(root / 'x' / 'picture_0.png', 'rb')")
    assert (made["kind"], made["path"]) == ("file", "x/picture_0.png")


def test_lines_that_were_made_up_name_files_too(tmp_path: Path) -> None:
    text = "[open(root / 'x' / f'{line.strip()}.npy', 'rb') for line in open(root / 'names.txt')]"
    lines, arrays = climbed(tmp_path, text)
    assert (lines["path"], arrays["path"], arrays["count"]) == (
        "names.txt",
        "x",
        len({*(tmp_path / "names.txt").read_text().splitlines()}),
    )


def test_two_files_of_a_name_are_both_made(tmp_path: Path) -> None:
    text = ROWS + "for row in rows:\n    for part in ('img', 'mask'):\n"
    text += "        open(root / 'x' / (row['image'] + f'_{part}.png'), 'rb').read()\n"
    _, *pictures = climbed(tmp_path, text)
    assert [each["pattern"] for each in pictures] == ["{}_img.png", "{}_mask.png"]
    assert len(list((tmp_path / "x").iterdir())) == 128


def test_numbered_files_are_made_for_all_numbers(tmp_path: Path) -> None:
    text = "import numpy as np\nfor number in range(20):\n    np.load(root / f'arrays/{number:03}.npy')\n"
    entry = climbed(tmp_path, text)[-1]
    assert (entry["kind"], entry["pattern"]) == ("numbered", "{}.npy")
    assert (tmp_path / "arrays" / "019.npy").is_file()
