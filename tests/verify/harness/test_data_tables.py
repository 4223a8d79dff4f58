"""Tables whose columns are taken by their place, and those without a line that names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.verify.harness.test_made_data import climbed, raised
from verify.harness.data_errors import following
from verify.harness.data_tables import kind_of
from verify.harness.made_data import cells, table, write


class Frame:
    """One that fails as that of pandas does."""

    def __init__(self, path: Path) -> None:
        self.rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
        self.iloc = self

    def __getitem__(self, key: tuple[int, int]) -> str:
        row, place = key
        if place >= len(self.rows[0]):
            raise IndexError(f"index {place} is out of bounds for axis 0 with size {len(self.rows[0])}")
        return self.rows[row][place]


FRAME = "frame = Frame(root / 'a.csv')\n"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (FRAME + "path = frame.iloc[0, 0]\nlabel = frame.iloc[0, 2]\n",
         {"column0": "name", "column1": "number", "column2": "class"}),
        (FRAME + "first = frame.iloc[0, 1]\n[float(frame.iloc[1, 1]), frame.iloc[0, 3]]\n",
         dict.fromkeys((f"column{at}" for at in range(4)), "number")),
        ("import csv\nfor row in csv.reader(open(root / 'a.csv')):\n    row[0], row[3]\n",
         dict.fromkeys((f"column{at}" for at in range(4)), "number")),
    ],
)  # fmt: skip
def test_columns_are_there_at_the_places_that_are_asked_for(text: str, columns: dict[str, str], tmp_path: Path) -> None:
    (entry,) = climbed(tmp_path, text, Frame=Frame)
    assert entry["columns"] == columns


@pytest.mark.parametrize(
    ("reading", "head"),
    [("pd.read_csv(root / 'a.csv')", 1), ("pd.read_csv(root / 'a.csv', header=None)", 0),
     ("pd.read_csv(root / 'a.csv', names=['user', 'item'])", 0),
     ("names = ['user', 'item']\npd.read_csv(root / 'a.csv', names=names)", 0),
     ("pd.read_csv(root / 'a.csv', names=['user', 'item'], header=0)", 1)],
)  # fmt: skip
def test_a_table_is_named_in_its_first_line_unless_its_reader_does_not_expect_that(
    reading: str, head: int, tmp_path: Path
) -> None:
    class Reader:
        def read_csv(self, path: Path, **given: Any) -> None:
            path.read_text()

    error = raised(tmp_path, reading, pd=Reader())
    found = following(error, (), (), tmp_path)
    assert found is not None
    write(found[0], tmp_path)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert len(lines) == 64 + head and ("column0" in lines[0] or "user" in lines[0]) is bool(head)


def test_numbers_stand_before_the_columns_that_are_named(tmp_path: Path) -> None:
    def read(path: Path) -> dict[str, list[str]]:
        head, *rows = [line.split(",") for line in path.read_text().splitlines()]
        return {name: [row[at] for row in rows] for at, name in enumerate(head)}

    text = "import numpy as np\nheld = read(root / 'a.csv')\nkinds = held['species']\n"
    text += "open(root / 'a.csv').close()\nrows = np.array([*held.values()]).T\nrows[:, 4]\n"
    plan = [{**table("a.csv", "csv"), "columns": {"species": "number"}}]
    write(plan, tmp_path)
    found = following(raised(tmp_path, text, read=read), plan, (), tmp_path)
    assert found and [*found[0][0]["columns"]] == ["column0", "column1", "column2", "column3", "species"]
    assert following(IndexError("index 4 is out of bounds for axis 1 with size 7"), plan, (), tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["[1][2]", "frame = []\nframe[0:1][3]", "{}[7]", "class L(list):\n    pass\nrow = L()\nrow[1]\n",
     "raise IndexError('index 9 is out of bounds for axis 0 with size 4')"],
)  # fmt: skip
def test_other_places_are_none_of_a_column(text: str, tmp_path: Path) -> None:
    named = {**table("a.csv", "csv"), "columns": {"label": "class"}}
    assert following(raised(tmp_path, text), [named], (), tmp_path) is None


def test_a_table_of_who_has_to_do_with_what_has_few_of_whom_with_many_of_what() -> None:
    columns = {"user_id": "whole", "movieId": "whole", "rating": "whole", "row_id": "whole"}
    entry = {**table("a.csv", "csv"), "columns": columns}
    users, movies = cells(entry, "user_id"), cells(entry, "movieId")
    assert len({*users}) == 4 and len({*movies}) == 16 and len({*zip(users, movies, strict=True)}) == 64
    assert cells(entry, "row_id") == cells({**entry, "columns": {"user_id": "whole"}}, "user_id") == [*range(64)]


@pytest.mark.parametrize(
    ("module", "key", "columns"),
    [("pandas.core.indexes.base", 2, 3), ("pandas.core.indexes.base", 20_200_101, None), ("project", 2, None)],
)
def test_a_key_is_a_place_where_pandas_says_so_and_there_may_be_so_many(
    module: str, key: int, columns: int | None, tmp_path: Path
) -> None:
    held: dict[str, Any] = {"__name__": module}
    exec(compile("def get(key):\n    raise KeyError(key)\n", "/lib/base.py", "exec"), held)
    found = following(raised(tmp_path, f"get({key})", get=held["get"]), [table("a.csv", "csv")], (), tmp_path)
    assert (found and len(found[0][0]["columns"])) == columns


def test_molecules_are_written_as_readers_of_smiles_take_them() -> None:
    entry = {**table("a.csv", "csv"), "columns": {"smiles_i": kind_of("smiles_i"), "mol": kind_of("mol")}}
    found = cells(entry, "smiles_i")
    assert found[:3] == ["CN", "CCN", "CCCN"] and found[16] == "CO"
    assert all(isinstance(value, float) for value in cells(entry, "mol"))


def test_what_rdkit_says_of_a_number_asks_for_a_text(tmp_path: Path) -> None:
    said = (
        "No registered converter was able to produce a C++ rvalue of type std::__cxx11::basic_string<wchar_t, "
        "std::char_traits<wchar_t> > from this Python object of type float"
    )
    text = (
        f"import csv\nrows = list(csv.DictReader(open(root / 'a.csv')))\nraise TypeError({said!r} + rows[0]['mol'])\n"
    )
    plan = [{**table("a.csv", "csv"), "columns": {"mol": "number", "label": "class"}}]
    write(plan, tmp_path)
    found = following(raised(tmp_path, text), plan, (), tmp_path)
    assert found and found[0][0]["columns"] == {"mol": "name", "label": "class"}
