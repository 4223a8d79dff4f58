"""What errors of a script say of data that is not here, and the files that are made up for it."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.verify.harness.raising import ROWS, climbed, raised
from verify.harness import data_errors, data_sets, hub_datasets
from verify.harness.alone_files import write_file
from verify.harness.data_errors import following, may_follow
from verify.harness.data_search import watch_pictures
from verify.harness.made_data import Entry, cells, kept_place, lay, remove, table, told, write


@pytest.mark.parametrize(
    ("text", "path", "columns"),
    [
        (ROWS + "[int(row['label']) for row in rows]\n", "data/a.csv", {"label": "class"}),
        (ROWS + "[float(row['comment']) for row in rows]\n", "data/a.csv", {"comment": "number"}),
        (ROWS + "[row['weight'] and float(row['height']) for row in rows]\n", "data/a.csv",
         {"weight": "number", "height": "number"}),
        ("import json\n[each['text'].split() for each in json.load(open(root / 'a.json'))]\n", "a.json",
         {"text": "words"}),
        ("import json\nheld = json.load(open(root / 'a.json'))\n[row['score'] + 1 for row in held['rows']]\n", "a.json",
         {"score": "number"}),
        ("import json\n[json.loads(line)['title'].upper() for line in open(root / 'a.jsonl')]\n", "a.jsonl",
         {"title": "words"}),
    ],
)  # fmt: skip
def test_a_table_gets_the_columns_that_are_asked_for(
    text: str, path: str, columns: dict[str, str], tmp_path: Path
) -> None:
    (entry,) = climbed(tmp_path, text)
    assert (entry["path"], entry["columns"]) == (path, columns)


class DataFrame:
    """One that fails as that of pandas does."""

    def __init__(self, *columns: str) -> None:
        self.columns = columns

    def drop(self, name: str) -> None:
        raise KeyError(f"['{name}'] not found in axis")


def test_the_table_of_the_frame_that_was_asked_gets_the_column(tmp_path: Path) -> None:
    plan = [{**table(f"{name}.csv", "csv"), "columns": {name: "words", "id": "whole"}} for name in ("a", "b", "c")]
    found = following(raised(tmp_path, "frame.drop('y')", frame=DataFrame("id", "b")), plan, (), tmp_path)
    assert found and {entry["path"]: [*entry["columns"]] for entry in found[0]} == {
        "a.csv": ["a", "id"],
        "b.csv": ["y", "b", "id"],
        "c.csv": ["c", "id"],
    }


def test_an_index_that_is_no_column_is_made_one(tmp_path: Path) -> None:
    plan = [{**table("a.csv", "csv"), "columns": {"column0": "number"}}]
    found = following(raised(tmp_path, "raise ValueError('Index ecg_id invalid')"), plan, (), tmp_path)
    assert found and [*found[0][0]["columns"]] == ["ecg_id"]
    assert following(raised(tmp_path, "raise ValueError('Index of x is invalid')"), plan, (), tmp_path) is None


READERS = """
def read_csv(path, **given):
    one(path)

def one(path): two(path)
def two(path): three(path)
def three(path): four(path)
def four(path): open(path)
"""


@pytest.mark.parametrize(
    ("said", "columns", "separator"),
    [
        (", names=['id', 'y'], sep='\\t'", ["id", "y"], "\t"),
        (", usecols=['text']", ["text"], ","),
        (", header=None", ["column0"], ","),
    ],
)
def test_a_table_is_as_the_line_that_reads_it_says(
    said: str, columns: list[str], separator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "readers.py").write_text(READERS)
    monkeypatch.syspath_prepend(tmp_path / "site")
    root = tmp_path / "tree"
    root.mkdir()
    error = raised(root, f"import readers\nreaders.read_csv(\n    root / 'a.csv'{said},\n)")
    found = following(error, (), (), root)
    assert found and ([*found[0][0]["columns"]], found[0][0]["separator"]) == (columns, separator)


def test_a_picture_that_opencv_gives_nothing_for_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cv2: Any = ModuleType("cv2")
    cv2.imread = lambda name, *flags: np.ones((4, 4, 3)) if Path(name).exists() else None
    monkeypatch.setitem(sys.modules, "cv2", cv2)
    monkeypatch.setattr(data_errors, "UNREAD", {})
    watch_pictures(data_errors.UNREAD)
    monkeypatch.chdir(tmp_path)
    text = "import cv2\nfor number in range(3):\n    cv2.imread(f'pics/{number}.tif').shape\n"
    plan = climbed(tmp_path, text)
    assert (plan[-1]["path"], plan[-1]["suffix"]) == ("pics", ".tif")
    data_errors.UNREAD.clear()
    assert not may_follow(raised(tmp_path, "None.shape"), tmp_path)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("for part in (root / 'x').iterdir():\n    [file.read_bytes() for file in part.iterdir()]\n", True),
        ("[file.read_bytes() for file in (root / 'x').iterdir()]\n", False),
    ],
)
def test_folders_in_a_folder_are_made_where_they_are_listed(text: str, classes: bool, tmp_path: Path) -> None:
    (entry,) = climbed(tmp_path, text)
    assert (entry["kind"], entry["classes"]) == ("folder", classes)


def test_what_is_taken_away_leaves_no_folders(tmp_path: Path) -> None:
    entry = {"path": "x", "kind": "folder", "suffix": ".png", "count": 4, "classes": True}
    write([entry], tmp_path)
    (tmp_path / "x" / "class1" / "own").write_text("")
    remove(entry, tmp_path)
    assert [path.name for path in sorted((tmp_path / "x").rglob("*"))] == ["class1", "own"]


def test_annotations_of_coco_name_their_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site" / "pycocotools").mkdir(parents=True)
    (tmp_path / "site" / "pycocotools" / "coco.py").write_text(
        "import json\n\ndef COCO(path):\n    return json.load(open(path))\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    root = tmp_path / "tree"
    root.mkdir()
    text = (
        "from pycocotools.coco import COCO\nheld = COCO(root / 'all.json')\n"
        "for each in held['images']:\n    open(root / 'pictures' / each['file_name'], 'rb').read()\n"
        "assert {one['image_id'] for one in held['annotations']} == {each['id'] for each in held['images']}\n"
    )
    first, pictures = climbed(root, text)
    assert (first["form"], pictures["path"], pictures["pattern"], pictures["count"]) == (
        "coco",
        "pictures",
        "{}.jpg",
        64,
    )


LOADS = """
class ConnectionError(OSError):
    pass

def load_dataset(path, name=None, data_files=None, **given):
    raise ConnectionError(path)
"""


@pytest.mark.parametrize(
    ("call", "path", "columns"),
    [
        ("load_dataset('imdb')", "imdb", ["text", "label"]),
        ("load_dataset('glue', 'mrpc')", "glue/mrpc", ["sentence1", "sentence2", "label", "idx"]),
        ("load_dataset('csv', data_files='a.csv')", None, []),
    ],
)
def test_a_set_of_the_hub_is_planned_by_its_name(
    call: str, path: str | None, columns: list[str], tmp_path: Path
) -> None:
    names: dict[str, Any] = {"__name__": "datasets.load"}
    exec(LOADS, names)
    error = raised(tmp_path, call, load_dataset=names["load_dataset"])
    found = following(error, (), (), tmp_path)
    assert (found and found[0][0]["path"]) == path
    assert not found or [*found[0][0]["columns"]] == columns
    assert found is None or "of the Hugging Face hub (64 rows" in told(found[0][0])
    assert may_follow(error, tmp_path) is bool(path)


def test_a_planned_set_has_the_parts_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = ModuleType("datasets")
    package.load = SimpleNamespace()
    package.Dataset = SimpleNamespace(from_dict=Columns)
    package.DatasetDict, package.ClassLabel = dict, lambda names: names
    package.load_dataset = lambda path, name=None, **given: "its own"
    monkeypatch.setitem(sys.modules, "datasets", package)
    hub_datasets.stand_in(cells)
    made = {**table("glue/sst2", "hub"), "columns": {"sentence": "words", "label": "class"}}
    write([made], Path())
    whole = package.load_dataset("glue", "sst2")
    assert [*whole] == ["train", "validation", "test"] and whole["test"]["label"][:3] == [0, 1, 0]
    assert package.load.load_dataset("glue", "sst2", split="train[:10%]")["sentence"] == cells(made, "sentence")
    assert package.load_dataset("glue", name="cola") == "its own"


class Columns(dict[str, Any]):
    def cast_column(self, name: str, kind: Any) -> Columns:
        assert (name, kind) == ("label", ["class0", "class1"])
        return self


@pytest.mark.parametrize(
    "text",
    [
        "open('/data/a.csv')",
        "open(root.parent / 'a.csv')",
        "open(root / 'configs' / 'train.yaml')",
        "open(root / 'hparams.json')",
        "open(root / 'model.ckpt', 'rb')",
        "open(root / 'tokens.vocab')",
        "open(root / 'train.py' / 'a.csv')",
        "raise KeyError('label')",
        "raise ValueError('could not convert string to float')",
        "import not_installed",
        "raise RuntimeError(\"Module not found: 'tracker'. HINT: Try running `pip install -U tracker`\")",
    ],
)
def test_what_is_no_data_of_the_project_is_not_made_up(text: str, tmp_path: Path) -> None:
    error = raised(tmp_path, text)
    assert following(error, (), (), tmp_path) is None
    assert not may_follow(error, tmp_path)


def test_what_is_kept_is_laid_where_the_code_looks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, root, home, outside = (tmp_path / name for name in ("kept", "tree", "home", "mnt"))
    monkeypatch.setenv("HOME", str(home))
    paths = ["data/a.csv", "b.csv", "~/c/d.csv", f"{outside}/e.csv", "/etc/fixer-never.csv", "../data/f.csv"]
    write([table(path, "csv") for path in paths], root, lambda path, folder: kept_place(path, kept))
    root.mkdir()
    (root / "b.csv").write_text("its own")
    assert sorted(lay(kept, root, [str(outside)])) == sorted([paths[0], *paths[2:4], paths[5]])
    assert (tmp_path / "data" / "f.csv").is_file()
    assert (root / "b.csv").read_text() == "its own"
    assert (home / "c" / "d.csv").is_file() and (outside / "e.csv").is_file()
    assert not Path("/etc/fixer-never.csv").exists()


def test_the_same_plan_makes_the_same_files(tmp_path: Path) -> None:
    made = {**table("a.csv", "csv"), "columns": {"x": "number", "name": "name", "day": "day"}}
    for place in ("one", "two"):
        write([made, {"path": "d", "kind": "digits"}], tmp_path / place)
    for name in ("a.csv", "d/train-images-idx3-ubyte"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    with (tmp_path / "one/a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == cells(made, "name") and len({row["x"] for row in rows}) > 60
    json.dumps(made)


def test_folders_of_the_run_itself_hold_data_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    own, root = tmp_path / "data", tmp_path / "tree"
    root.mkdir()
    monkeypatch.setattr(data_errors, "OUTSIDE", [str(own)])
    for text, path in {f"open({str(own)!r} + '/a.csv')": f"{own}/a.csv",
                       "open(__import__('os').path.expanduser('~/a.csv'))": "~/a.csv"}.items():  # fmt: skip
        found = following(raised(root, text), (), (), root)
        assert found and found[0][0]["path"] == path
        write(found[0], root)
    assert (own / "a.csv").is_file() and (tmp_path / "home" / "a.csv").is_file()
    assert following(raised(root, f"open({str(tmp_path)!r} + '/a.csv')"), (), (), root) is None


def test_what_lies_beside_the_project_is_made_where_that_is_the_runs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "copies" / "tree"
    (root / "src").mkdir(parents=True)
    monkeypatch.chdir(root)
    error = raised(root, "open('../data/a.csv')")
    assert following(error, (), (), root) is None
    monkeypatch.setattr(data_errors, "BESIDE", [root.parent])
    found = following(error, (), (), root)
    assert found and found[0][0]["path"] == "../data/a.csv"
    write(found[0], root)
    assert (root.parent / "data" / "a.csv").is_file()
    assert following(raised(root, "open('../../data/a.csv')"), (), (), root) is None
    monkeypatch.chdir(root / "src")
    found = following(raised(root, "open('../data/a.csv')"), (), (), root)
    assert found and found[0][0]["path"] == "data/a.csv"


def test_what_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("own\n1\n")
    write([table("a.csv", "csv")], tmp_path)
    assert (tmp_path / "a.csv").read_text() == "own\n1\n"


def test_torchvision_takes_what_was_made_wherever_a_run_may_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("project", "home", "data", "else"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "batch").write_bytes(b"made up")
    utilities = ModuleType("torchvision.datasets.utils")
    vars(utilities)["check_integrity"] = lambda path, md5=None: False
    monkeypatch.setitem(sys.modules, "torchvision.datasets.utils", utilities)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    data_sets.accepted([str(tmp_path / "data")])
    held = [name for name in ("project", "home", "data", "else")
            if utilities.check_integrity(tmp_path / name / "batch", "0")]  # fmt: skip
    assert held == ["project", "home", "data"]
    assert not utilities.check_integrity(tmp_path / "data" / "other", "0")


@pytest.mark.parametrize("name", ["name", "n" * 300])
def test_what_cannot_be_written_ends_nothing(name: str, tmp_path: Path) -> None:
    if name == "name":
        (tmp_path / "sounds").write_text("a file where a folder is to be")
    plan: list[Entry] = [
        {"path": f"sounds/{name}.wav", "kind": "file", "suffix": ".wav", "seed": 0},
        {"path": "other.txt", "kind": "file", "suffix": ".txt", "seed": 1},
    ]
    write(plan, tmp_path)
    assert (tmp_path / "other.txt").is_file()
    assert not list(tmp_path.glob("sounds/*"))


@pytest.mark.parametrize(("name", "kind"), [("a.tif", "TIFF"), ("a.tiff", "TIFF"), ("a.png", "PNG"), ("a.jpg", "PNG")])
def test_a_picture_is_of_the_kind_that_readers_of_its_name_take(name: str, kind: str, tmp_path: Path) -> None:
    """Those of TIFF read nothing else; all others look at what is in a file."""
    image = pytest.importorskip("PIL.Image")
    write_file(tmp_path / name, Path(name).suffix, 3, (80, 80))
    with image.open(tmp_path / name) as picture:
        pixels = np.asarray(picture)
        assert (picture.format, pixels.shape) == (kind, (80, 80, 3))
    assert len(np.unique(pixels)) > 200
    write_file(tmp_path / f"again-{name}", Path(name).suffix, 3, (80, 80))
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
