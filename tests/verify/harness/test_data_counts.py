"""As much made-up data as code counts on, and no more."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import pytest

from tests.verify.harness.test_made_data import raised
from verify.harness.data_errors import following
from verify.harness.made_data import Entry, table, write

SPLIT = """
from torch.utils.data import random_split
rows = open(root / 'a.csv').read().splitlines()[1:]
random_split(rows, [{}])
"""
DIGITS = {"path": "MNIST/raw", "kind": "digits"}


def followed(error: BaseException, plan: list[Entry], root: Path) -> list[Entry] | None:
    found = following(error, plan, (), root)
    return found[0] if found else None


def test_a_table_has_as_many_rows_as_its_parts(tmp_path: Path) -> None:
    plan = [table("a.csv", "csv"), table("b.csv", "csv")]
    plan[1]["rows"] = 3
    write(plan, tmp_path)
    found = followed(raised(tmp_path, SPLIT.format("900, 100")), plan, tmp_path)
    assert found and [entry["rows"] for entry in found] == [1000, 3]


def test_there_are_no_more_rows_than_a_short_training_can_read(tmp_path: Path) -> None:
    plan = [table("a.csv", "csv")]
    write(plan, tmp_path)
    assert followed(raised(tmp_path, SPLIT.format("10_000_000, 1")), plan, tmp_path) is None
    assert followed(raised(tmp_path, SPLIT.format("32, 16")), plan, tmp_path) == [{**plan[0], "rows": 48}]


def test_windows_over_a_table_are_as_many_as_are_split(tmp_path: Path) -> None:
    plan = [table("a.csv", "csv")]
    write(plan, tmp_path)
    error = raised(tmp_path, SPLIT.format("200").replace("[1:]", "[9:]"))
    assert followed(error, plan, tmp_path) == [{**plan[0], "rows": 208}]


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.data import random_split\nrandom_split(range(128), [55_000, 5_000])",
        "raise IndexError('index 50000 is out of bounds for dimension 0 with size 128')",
    ],
)
def test_a_set_of_a_known_size_is_made_whole(text: str, tmp_path: Path) -> None:
    error = raised(tmp_path, text)
    assert followed(error, [DIGITS], tmp_path) == [{**DIGITS, "whole": True}]
    assert followed(error, [{**DIGITS, "whole": True}], tmp_path) is None


@pytest.mark.parametrize("text", ["raise IndexError('list index out of range')", "[].pop()"])
def test_what_counts_nothing_that_was_made_changes_nothing(text: str, tmp_path: Path) -> None:
    assert followed(raised(tmp_path, text), [table("a.csv", "csv")], tmp_path) is None


def test_whole_sets_have_their_sizes(tmp_path: Path) -> None:
    cifar = {"path": "cifar-10-batches-py", "kind": "cifar", "names": ["data_batch_1"], "whole": True}
    write([{**DIGITS, "whole": True}, cifar], tmp_path)
    labels = (tmp_path / "MNIST/raw/train-labels-idx1-ubyte").read_bytes()
    assert struct.unpack(">I", labels[4:8]) == (60_000,) and {*labels[8:]} == {*range(10)}
    held = pickle.loads((tmp_path / "cifar-10-batches-py/data_batch_1").read_bytes())
    assert held["data"].shape == (10_000, 3072) and len(held["labels"]) == 10_000


@pytest.mark.parametrize(
    ("entry", "more"),
    [
        (table("a.csv", "csv"), {"rows": 1024}),
        ({**table("a.csv", "csv"), "rows": 2000}, {}),
        ({"path": "pics", "kind": "folder", "suffix": ".png", "count": 16, "classes": False}, {"count": 1024}),
        ({"path": "pics", "kind": "numbered", "suffix": ".png", "count": 2, "pattern": "{}.png", "called": "ab"}, {}),
        (DIGITS, {"whole": True}),
        ({"path": "stl10_binary", "kind": "stl10"}, {"samples": 1024}),
        ({"path": "a.npy", "kind": "file", "suffix": ".npy", "seed": 0}, {}),
    ],
)
def test_where_a_loader_fills_no_batch_there_are_more_samples_than_one_has(
    entry: Entry, more: dict[str, int], tmp_path: Path
) -> None:
    error = ValueError("`Dataloader` returned 0 length. Please make sure that it returns at least 1 batch")
    assert followed(error, [entry], tmp_path) == ([{**entry, **more}] if more else None)


def test_sets_of_torchvision_have_as_many_samples_as_an_entry_says(tmp_path: Path) -> None:
    write(
        [{"path": "stl", "kind": "stl10", "samples": 80}, {"path": "faces", "kind": "celeba", "samples": 80}], tmp_path
    )
    for part in ("train", "test", "unlabeled"):
        assert (tmp_path / "stl" / f"{part}_X.bin").stat().st_size == 80 * 3 * 96 * 96
        assert set((tmp_path / "stl" / f"{part}_y.bin").read_bytes()) <= {*range(1, 11)}
    assert len(list((tmp_path / "faces" / "img_align_celeba").iterdir())) == 80
    assert (tmp_path / "faces" / "list_attr_celeba.txt").read_text().startswith("80\n")


def test_emnist_has_files_by_the_name_of_its_split(tmp_path: Path) -> None:
    write([{**DIGITS, "prefix": "emnist-letters-"}], tmp_path)
    names = {place.name for place in (tmp_path / "MNIST" / "raw").iterdir()}
    ends = ("images-idx3-ubyte", "labels-idx1-ubyte")
    assert names == {f"emnist-letters-{part}-{end}" for part in ("train", "t10k") for end in ends}
