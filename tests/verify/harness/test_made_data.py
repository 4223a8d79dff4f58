"""What errors of a script say of data that is not here, and the files that are made up for it."""

from __future__ import annotations

import csv
import glob
import json
import linecache
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from verify.harness import data_asked, data_errors, data_objects, data_sets, data_shapes, hub_datasets
from verify.harness.data_errors import following, may_follow
from verify.harness.data_search import watch_globs, watch_pictures
from verify.harness.made_data import Entry, cells, kept_place, lay, remove, table, told, write


def raised(root: Path, text: str, **names: Any) -> BaseException:
    """The error that code of a project raises."""
    script = root / "train.py"
    script.write_text(text)
    linecache.checkcache(str(script))
    try:
        exec(compile(text, str(script), "exec"), {"root": root, "__name__": "train", **names})
    except Exception as error:
        return error
    raise AssertionError("it raised nothing")


def climbed(root: Path, text: str, tries: int = 12, **names: Any) -> list[Entry]:
    """The plan with which code of a project runs."""
    plan: list[Entry] = []
    for _ in range(tries):
        write(plan, root)
        try:
            error = raised(root, text, **names)
        except AssertionError:
            return plan
        found = following(error, plan, (), root)
        assert found, error
        for entry in plan:
            if entry not in found[0]:
                remove(entry, root)
        plan = found[0]
    raise AssertionError(plan)


ROWS = "import csv\nrows = list(csv.DictReader(open(root / 'data/a.csv')))\n"


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


def test_of_several_arrays_the_one_that_a_line_speaks_of_gets_another_shape(tmp_path: Path) -> None:
    plan = [{"path": "a.npz", "kind": "arrays", "form": "npz", "names": ["center", "scale", "part"]}]
    text = "import numpy as np\nheld = np.load(root / 'a.npz')\ncenter, scale = held['center'], held['scale']\n"
    text += "part = held['part']\nassert [float(each) for each in scale] and [each[1, 1] for each in part]\n"
    for _ in range(12):
        write(plan, tmp_path)
        try:
            error = raised(tmp_path, text)
        except AssertionError:
            break
        found = following(error, plan, (), tmp_path)
        assert found, error
        remove(plan[0], tmp_path)
        plan = found[0]
    with np.load(tmp_path / "a.npz") as held:
        assert {name: held[name].ndim for name in held} == {"center": 2, "scale": 1, "part": 3}


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


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths that the project asks for are noted."""
    for name in ("exists", "isdir", "isfile"):
        monkeypatch.setattr(os.path, name, getattr(os.path, name))
    for name in ("exists", "is_dir", "is_file"):
        monkeypatch.setattr(Path, name, getattr(Path, name))
    monkeypatch.setattr(data_asked, "UNFOUND", {})
    data_asked.watch(str(tmp_path))


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("text", "path", "kind"),
    [
        ("import os\nassert os.path.exists(str(root / 'a/train.csv'))", "a/train.csv", "table"),
        ("if not (root / 'pictures').is_dir():\n    raise RuntimeError('Download it first.')", "pictures", "folder"),
        ("import os\nif not os.path.isfile(f'{root}/a.npy'):\n    print('none')\n    raise ValueError('prepare it')",
         "a.npy", "file"),
    ],
)  # fmt: skip
def test_what_code_looks_for_before_it_says_so_is_made(text: str, path: str, kind: str, tmp_path: Path) -> None:
    assert may_follow(raised(tmp_path, text), tmp_path)
    (entry,) = climbed(tmp_path, text)
    assert (entry["path"], entry["kind"]) == (path, kind)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.path.exists(str(root / 'a.csv'))\n\n\n\n\nassert 1 == 2",
        "import os\nassert os.path.exists(str(root / 'last.ckpt'))",
        "import os\nassert os.path.exists(str(root / 'config.yaml'))",
        "import os\nassert os.path.exists('/elsewhere/a.csv')",
        "if not (root / 'a.csv').exists():\n    raise KeyError('none')",
        "if not (root / 'a.csv').exists():\n    int('none')",
        "if (root / 'train.py').exists():\n    raise ValueError('it is there')",
    ],
)
def test_other_errors_ask_for_nothing_that_was_looked_for(text: str, tmp_path: Path) -> None:
    error = raised(tmp_path, text)
    assert following(error, (), (), tmp_path) is None and not may_follow(error, tmp_path)


def test_arrays_that_are_decoded_hold_texts(tmp_path: Path) -> None:
    plan = [{"path": "a.h5", "kind": "arrays", "form": "h5", "names": ["x", "name"]}]
    error = raised(tmp_path, "data['name'][0].decode('UTF-8')", data={"name": np.zeros((2, 2))})
    found = following(error, plan, (), tmp_path)
    assert found and found[0] == [{**plan[0], "texts": ["name"]}]
    assert data_shapes.array(found[0][0], 2, 0, "name").tolist() == [b"sample000", b"sample001"]
    pictures = following(raised(tmp_path, "open(root / 'x' / 'sample003.jpg', 'rb')"), found[0], (), tmp_path)
    assert pictures and (pictures[0][1]["path"], pictures[0][1]["count"]) == ("x", 64)
    assert following(error, found[0], (), tmp_path) is None


@pytest.mark.parametrize(
    "text",
    [
        "open(root / 'logs/deep/run.log', 'w')", "open(root / 'logs/deep/run.csv', mode='a')",
        "import logging\nlogging.FileHandler(root / 'logs/deep/run.log')",
        "(root / 'logs/deep/run').mkdir()", "(root / 'logs/deep/run.txt').write_text('')",
        "import torch\ntorch.save(\n    {},\n    open(root / 'logs/deep/a.pt', 'wb'),\n)",
    ],
)  # fmt: skip
def test_a_folder_that_is_written_to_is_there(text: str, tmp_path: Path) -> None:
    (folder,) = climbed(tmp_path, text)
    assert told(folder) == "logs/deep (an empty folder)"
    assert may_follow(FileNotFoundError(2, "no such file", "a.csv"), tmp_path)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("open(root / 'logs/a.csv')", "table"),
        ("open(root / 'a.png', 'rb')\nopen('w')", "file"),
        ("import numpy as np\nsave_every = np.load(root / 'logs/a.npy')", "file"),
        ("open('/logs/a.txt', 'w')", ""),
    ],
)
def test_a_folder_that_is_read_from_is_data(text: str, kind: str, tmp_path: Path) -> None:
    found = following(raised(tmp_path, text), (), (), tmp_path)
    assert (found[0][0]["kind"] if found else "") == kind


def test_numbered_files_are_made_for_all_numbers(tmp_path: Path) -> None:
    text = "import numpy as np\nfor number in range(20):\n    np.load(root / f'arrays/{number:03}.npy')\n"
    entry = climbed(tmp_path, text)[-1]
    assert (entry["kind"], entry["pattern"]) == ("numbered", "{}.npy")
    assert (tmp_path / "arrays" / "019.npy").is_file()


def test_arrays_of_an_archive_get_their_names(tmp_path: Path) -> None:
    text = "import numpy as np\nheld = np.load(root / 'a.npz')\nheld['x'], held['y']\n"
    (entry,) = climbed(tmp_path, text)
    assert entry["names"] == ["arr_0", "x", "y"]
    with np.load(tmp_path / "a.npz") as held:
        assert held["x"].shape == (64, 32)


UNPICKLED = "import pickle\nwith open(root / 'a.pkl', 'rb') as file:\n    held = pickle.load(file)\n"


@pytest.mark.parametrize(
    ("text", "form", "what"),
    [
        ("[row['age'] + 1 for row in held]", "object", "rows"),
        ("held['x'].shape, held['y'].mean()", "object", "rows"),
        ("held.shape[0], held.astype('int64')", "object", "array"),
        ("[value.shape for value in held.values()]", "object", "by name"),
    ],
)
def test_what_is_unpickled_is_what_the_code_takes_it_for(text: str, form: str, what: str, tmp_path: Path) -> None:
    (entry,) = climbed(tmp_path, UNPICKLED + text)
    assert (entry["form"], entry.get("what", "rows")) == (form, what)


def test_parts_that_are_unpickled_together_are_as_many_as_they_are_put_into(tmp_path: Path) -> None:
    (entry,) = climbed(tmp_path, UNPICKLED.replace("held =", "x, y, z =") + "x.shape, y.shape, z.shape\n")
    assert (entry["what"], entry["count"]) == ("parts", 3)
    assert told(entry) == "a.pkl (3 arrays)"


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
    ("text", "shape"),
    [
        ("torch.nn.Linear(10, 2)(torch.tensor(np.load(root / 'a.npy')))", [32, 10]),
        ("torch.nn.LSTM(7, 2)(torch.tensor(np.load(root / 'a.npy')))", [32, 7]),
        ("torch.nn.Conv2d(4, 2, 3)(torch.tensor(np.load(root / 'a.npy'))[None])", [4, 32, 3]),
        ("height, width, colours = np.load(root / 'a.npy').shape", [32, 32, 3]),
        ("np.load(root / 'a.npy')[0][..., :2][0, 0, 0]", [1, 32, 32, 3]),
        ("torch.rand(8, 1) @ torch.tensor(np.load(root / 'a.npy')).T", [32, 1]),
        ("torch.rand(8, 3) @ torch.tensor(np.load(root / 'a.npy'))", [3, 32]),
        (
            "codes = torch.tensor(np.load(root / 'a.npy'))\n"
            "nearest = (torch.rand(8, 1) @ codes.T).argsort(dim=1)\ntorch.nn.Embedding(8, 2)(nearest)",
            [8, 1],
        ),
        ("torch.nn.Linear(5, 2)(torch.tensor(np.load(root / 'a.npz')['x']))", [5]),
        (
            "held = pickle.load(open(root / 'a.pkl', 'rb'))\n"
            "loss = torch.nn.functional.cross_entropy(torch.nn.Linear(6, 2)(torch.tensor(held['x'])), "
            "torch.tensor(held['label']))",
            [6],
        ),
    ],
)
def test_arrays_get_the_shape_that_is_computed_with(text: str, shape: list[int], tmp_path: Path) -> None:
    (entry,) = climbed(tmp_path, f"import pickle\nimport numpy as np\nimport torch\n{text}\n")
    assert entry["shape"] == shape


@pytest.mark.parametrize(
    ("message", "is_data"),
    [
        ("Dataset not found. Run the preparation first.", True),
        ("No wav files were found in ./data", True),
        ("No images found", True),
        ("no audio found below data", True),
        ("No such option: --images", False),
        ("Checkpoint not found", False),
        ("there is no file of weights", False),
    ],
)
def test_what_projects_say_themselves_of_data_that_is_not_there_is_followed(
    message: str, is_data: bool, tmp_path: Path
) -> None:
    assert may_follow(RuntimeError(message), tmp_path) is is_data
    pattern = str(tmp_path / "data" / "**" / "*.wav")
    found = following(RuntimeError(message), [], (pattern,), tmp_path)
    assert (found is not None) is is_data
    if found:
        (entry,) = found[0]
        assert (entry["path"], entry["suffix"], entry["pattern"]) == ("data", ".wav", "part/{}.wav")


def test_numbers_of_rows_that_are_too_large_become_classes(tmp_path: Path) -> None:
    text = ROWS + "import torch\ntorch.nn.Embedding(5, 2)(torch.tensor([int(row['user_id']) for row in rows]))\n"
    (entry,) = climbed(tmp_path, text)
    assert entry["columns"] == {"user_id": "class"}
    assert not may_follow(IndexError("index out of range in self"), tmp_path)


def test_arrays_before_the_last_ones_get_their_shape_too(tmp_path: Path) -> None:
    text = "import numpy as np\na = np.load(root / 'a.npy')\nb = np.load(root / 'b.npy')\na[0, 0, 0], b[0, 0]\n"
    first, second = climbed(tmp_path, text, 20)
    assert (first["shape"], "shape" in second) == ([32, 32, 3], False)


@pytest.mark.parametrize("message", ["it is broken", "mat1 is nothing", "invalid shape of the moon"])
def test_what_says_nothing_of_a_shape_changes_none(message: str, tmp_path: Path) -> None:
    plan = [{"path": "a.npy", "kind": "file", "suffix": ".npy", "seed": 0}]
    assert following(ValueError(message), plan, (), tmp_path) is None
    assert following(ValueError("too many indices for array"), [table("a.csv", "csv")], (), tmp_path) is None


@pytest.mark.parametrize(
    ("path", "is_data"),
    [
        ("data/train.pt", True),
        ("cache/features.pth", True),
        ("data/processed/graphs.pt", True),
        ("data/pretrained.pt", False),
        ("weights/train.pth", False),
        ("train_best.pth", False),
        ("data/model.pt", False),
        ("resnet.pth", False),
        ("saved/feature_extractor.pth", False),
        ("data/train_features.pt", True),
        ("data/train.ckpt", False),
        ("testing.pt", False),
    ],
)
def test_what_torch_loads_is_data_by_its_name(path: str, is_data: bool) -> None:
    assert data_objects.is_saved_data(path) is is_data


def test_what_torch_loads_as_data_is_made(tmp_path: Path) -> None:
    text = (
        "import torch\nx, y = torch.load(root / 'data/train.pt')\nloss = (torch.nn.Linear(9, 1)(x) - y.mean()).mean()\n"
        "held = torch.load(root / 'data/test.pt')\nheld['x'].shape\n"
    )
    first, second = climbed(tmp_path, text)
    assert (first["what"], first["shape"], second["under"]) == ("parts", [9], ["x"])
    assert torch.load(tmp_path / "data" / "train.pt")[0].shape == (64, 9)


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


def test_patterns_that_find_nothing_are_filled_where_that_ends_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, name in ((Path, "glob"), (Path, "rglob")):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    for place in ("glob.iglob", "os.walk"):
        monkeypatch.setattr(place, _held(place))
    globs: dict[str, None] = {}
    watch_globs(globs)
    assert glob.glob(f"{tmp_path}/sounds/*.wav") == list((tmp_path / "data").glob("*/*.png")) == []  # noqa: PTH207
    error = raised(tmp_path, "raise ValueError('num_samples should be a positive integer value, but got 0')")
    found = following(error, (), globs, tmp_path)
    assert found and [each["path"] for each in found[0]] == ["sounds", "data"]
    write(found[0], tmp_path)
    assert len(list((tmp_path / "data").glob("*/*.png"))) == len(list((tmp_path / "sounds").iterdir())) == 16
    assert following(error, found[0], globs, tmp_path) is None


@pytest.fixture
def globs(monkeypatch: pytest.MonkeyPatch) -> dict[str, None]:
    """The patterns that find nothing."""
    for kind, name in ((Path, "glob"), (Path, "rglob")):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    for place in ("glob.iglob", "os.walk"):
        monkeypatch.setattr(place, _held(place))
    found: dict[str, None] = {}
    watch_globs(found)
    return found


NESTED = """
import glob, os
speakers = sorted(glob.glob(os.path.join(root, 'data', '*')))
sounds = [each for speaker in speakers for each in glob.glob(os.path.join(speaker, '*.wav'))]
"""


@pytest.mark.parametrize("asked", ["assert len(sounds) != 0, 'no data found'", "assert len(sounds)", "sounds[0]"])
def test_folders_are_made_where_patterns_look_below_what_others_find(
    asked: str, globs: dict[str, None], tmp_path: Path
) -> None:
    plan: list[Entry] = []
    for expected in ("{}.wav", "{}/{}.wav"):
        globs.clear()
        error = raised(tmp_path, NESTED + asked)
        assert may_follow(error, tmp_path)
        found = following(error, plan, globs, tmp_path)
        assert found and [each["pattern"] for each in found[0]] == [expected]
        for entry in plan:
            remove(entry, tmp_path)
        plan = found[0]
        write(plan, tmp_path)
    assert sorted((tmp_path / "data").iterdir())[1].is_dir()
    with pytest.raises(AssertionError, match="raised nothing"):
        raised(tmp_path, NESTED + asked)


@pytest.mark.parametrize("asked", ["assert len(sounds) == 3", "assert speakers is None", "assert not sounds"])
def test_other_assertions_ask_for_no_data(asked: str, tmp_path: Path) -> None:
    assert not may_follow(raised(tmp_path, "speakers = sounds = [1]\n" + asked), tmp_path)


def test_patterns_for_tables_and_objects_are_filled_with_these(globs: dict[str, None], tmp_path: Path) -> None:
    for pattern in ("data/train/*.pt", "data/*.json", "runs/*.ckpt"):
        assert glob.glob(f"{tmp_path}/{pattern}") == []  # noqa: PTH207
    found = following(raised(tmp_path, "[][0]"), (), globs, tmp_path)
    assert found and [each.get("form") for each in found[0]] == ["object", "json"]
    write(found[0], tmp_path)
    assert len(list((tmp_path / "data").glob("*.json"))) == 16
    assert torch.load(tmp_path / "data/train/3.pt")[0]["column0"] is not None
    assert "16 files of 64 rows" in told(found[0][1])


def _held(place: str) -> Callable[..., Any]:
    import importlib

    module, name = place.split(".")
    held: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return held


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


def test_pictures_are_as_large_as_what_is_cut_out_of_them(tmp_path: Path) -> None:
    plan: list[Entry] = [{"path": "p", "kind": "folder", "suffix": ".png", "count": 1, "classes": False}]
    error = ValueError("Required crop size (100, 80) is larger than input image size (64, 64)")
    found = following(error, plan, (), tmp_path)
    assert found and found[0] == [{**plan[0], "side": 100}]
    write(found[0], tmp_path)
    assert (tmp_path / "p" / "0.png").read_bytes()[16:24] == b"\0\0\0\x64" * 2
    assert following(error, found[0], (), tmp_path) is None
    assert following(ValueError("crop size (9000, 9000) is larger than (64, 64)"), plan, (), tmp_path) is None


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


def test_a_text_is_long_enough_for_several_batches_of_its_pieces(tmp_path: Path) -> None:
    write([{"path": "input.txt", "kind": "file", "suffix": ".txt", "seed": 0}], tmp_path)
    text = (tmp_path / "input.txt").read_text()
    assert len(text) // 128 >= 8 * 8
    assert len(text.splitlines()) > 64


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
