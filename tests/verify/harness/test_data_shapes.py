"""Arrays, their shapes, and texts in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.verify.harness.raising import ROWS, climbed, raised
from verify.harness import data_shapes
from verify.harness.data_errors import following, may_follow
from verify.harness.made_data import Entry, remove, table, write


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


def test_arrays_that_are_decoded_hold_texts(tmp_path: Path) -> None:
    plan = [{"path": "a.h5", "kind": "arrays", "form": "h5", "names": ["x", "name"]}]
    error = raised(tmp_path, "data['name'][0].decode('UTF-8')", data={"name": np.zeros((2, 2))})
    found = following(error, plan, (), tmp_path)
    assert found and found[0] == [{**plan[0], "texts": ["name"]}]
    assert data_shapes.array(found[0][0], 2, 0, "name").tolist() == [b"sample000", b"sample001"]
    pictures = following(raised(tmp_path, "open(root / 'x' / 'sample003.jpg', 'rb')"), found[0], (), tmp_path)
    assert pictures and (pictures[0][1]["path"], pictures[0][1]["count"]) == ("x", 64)
    assert following(error, found[0], (), tmp_path) is None


def test_arrays_of_an_archive_get_their_names(tmp_path: Path) -> None:
    text = "import numpy as np\nheld = np.load(root / 'a.npz')\nheld['x'], held['y']\n"
    (entry,) = climbed(tmp_path, text)
    assert entry["names"] == ["arr_0", "x", "y"]
    with np.load(tmp_path / "a.npz") as held:
        assert held["x"].shape == (64, 32)


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


def test_pictures_are_as_large_as_what_is_cut_out_of_them(tmp_path: Path) -> None:
    plan: list[Entry] = [{"path": "p", "kind": "folder", "suffix": ".png", "count": 1, "classes": False}]
    error = ValueError("Required crop size (100, 80) is larger than input image size (64, 64)")
    found = following(error, plan, (), tmp_path)
    assert found and found[0] == [{**plan[0], "side": 100}]
    write(found[0], tmp_path)
    assert (tmp_path / "p" / "0.png").read_bytes()[16:24] == b"\0\0\0\x64" * 2
    assert following(error, found[0], (), tmp_path) is None
    assert following(ValueError("crop size (9000, 9000) is larger than (64, 64)"), plan, (), tmp_path) is None
