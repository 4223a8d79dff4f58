"""Batches of modules that are trained alone, shaped as the project's loaders and datasets give them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.verify.harness.test_alone import search
from verify.harness.alone_data import Undescribed, aside, described, first_batch
from verify.harness.alone_files import MadeFiles
from verify.reading.datasets import nearest
from verify.reading.sources import Sources

PROJECT = {
    "own.py": '''
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader


class Own(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(5, 1)

    def train_dataloader(self):
        samples = [{"odd": (torch.rand(3, 2, 5), {"scale": torch.rand(7)}), "count": n} for n in range(20)]
        return DataLoader(samples, batch_size=16)

    def training_step(self, batch, batch_idx):
        x, more = batch["odd"]
        assert x.shape[1:] == (3, 2, 5) and more["scale"].shape[1] == 7 and batch["count"].dim() == 1
        return self.net(x).mean() * more["scale"].sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
''',
    "pictures.py": '''
import os
import zlib

import numpy as np
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, Dataset


class Folder(Dataset):
    def __init__(self, root):
        self.files = [os.path.join(root, one, name) for one in os.listdir(root)
                      for name in os.listdir(os.path.join(root, one))]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with open(self.files[index], "rb") as file:
            rows = np.frombuffer(zlib.decompress(file.read()[41:-16]), dtype="uint8").reshape(64, 193)
        picture = torch.tensor(rows[:, 1:].reshape(64, 64, 3)[:40, :24])
        return {"picture": picture.permute(2, 0, 1) / 255, "at": index % 2}


class Data(pl.LightningDataModule):
    def __init__(self, data_dir="data/pictures", batch_size=32):
        super().__init__()
        self.data_dir, self.batch_size = data_dir, batch_size

    def prepare_data(self):
        raise AssertionError("it would download")

    def setup(self, stage):
        self.train = Folder(self.data_dir)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True, num_workers=4)


class Pictures(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(40 * 24, 2)

    def training_step(self, batch, batch_idx):
        return torch.nn.functional.cross_entropy(self.net(batch["picture"].mean(1).flatten(1)), batch["at"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
''',
    "arrays.py": '''
import numpy as np
import pytorch_lightning as pl
import torch
from torch.utils.data import Dataset


class Arrays(Dataset):
    def __init__(self, path="/somewhere/else/arrays"):
        self.path = path

    def __len__(self):
        return 10

    def __getitem__(self, index):
        x = np.load(f"{self.path}/{index % 3}.npy")
        return x[:6, :9], x[0, :2], f"name {index}"


class Reads(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(9, 2)

    def training_step(self, batch, batch_idx):
        x, y, names = batch
        assert len(names) == len(x) and isinstance(names[0], str)
        return ((self.net(x).mean(1) - y) ** 2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
''',
    "unread.py": '''
import pytorch_lightning as pl
import torch
from torch.utils.data import Dataset


class Unread(Dataset):
    def __init__(self, url="http://localhost:9/data"):
        import urllib.request

        self.held = urllib.request.urlopen(url).read()

    def __getitem__(self, index):
        return self.held[index]


class Searched(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(11, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
''',
}  # fmt: skip


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a search says of each class of a small project, and what lies in its folder then."""
    folder = tmp_path_factory.mktemp("data")
    root = folder / "project"
    root.mkdir()
    for name, text in PROJECT.items():
        (root / name).write_text(text)
    found: dict[str, Any] = search(folder, root, tuple(PROJECT), 90)
    return {**found, "left": {path.relative_to(root).parts[0] for path in root.rglob("*")}}


@pytest.mark.parametrize(
    ("cls", "batch"),
    [
        ("Own", "{odd: (float32 4x3x2x5, {scale: float32 4x7}), count: int64 4}, "
                "shaped as its own `train_dataloader` gives them"),
        ("Pictures", "{picture: float32 4x3x40x24, at: int64 4}, shaped as `Data` gives them on made-up files"),
        ("Searched", "(float32 4x11, int64 4)"),
    ],
)  # fmt: skip
def test_batches_are_shaped_as_the_project_gives_them(searched: dict[str, Any], cls: str, batch: str) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls].get("why")
    assert searched[cls]["told"]["batch"] == batch


def test_a_dataset_reads_arrays_that_are_made_up(searched: dict[str, Any]) -> None:
    told = searched["Reads"]["told"]["batch"]
    assert told.startswith("(float32 4x6x9, float32 4x2, ('name ")
    assert told.endswith("shaped as `Arrays` gives them on made-up files")


def test_nothing_that_was_made_is_left(searched: dict[str, Any]) -> None:
    assert searched["left"] - {"lightning_logs", "checkpoints"} == set(PROJECT)


def test_files_are_made_below_their_folders_alone(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)
    told: list[str] = []
    made = MadeFiles([root], "", told.append)
    for name in (outside / "a.png", root / "link" / "a.png", root / ".." / "outside" / "a.npy"):
        assert not made.serves(FileNotFoundError(2, "No such file", str(name)))
    assert not list(outside.iterdir())
    assert made.serves(FileNotFoundError(2, "No such file", str(root / "new" / "a.npy")))
    assert told == [str(root / "new")]


def test_no_more_than_some_files_are_made(tmp_path: Path) -> None:
    made = MadeFiles([tmp_path], "", lambda _: None)
    served = [made.serves(FileNotFoundError(2, "No such file", str(tmp_path / f"{n}.txt"))) for n in range(8)]
    assert served == [True] * 6 + [False] * 2


def test_a_file_of_an_unknown_kind_is_not_made(tmp_path: Path) -> None:
    made = MadeFiles([tmp_path], "", lambda _: None)
    assert not made.serves(FileNotFoundError(2, "No such file", str(tmp_path / "weights.pt")))
    assert not made.serves(ValueError(f"{tmp_path}/a.png is broken"))
    assert made.serves(AssertionError(f"{tmp_path}/a.png does not exist"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_a_description_holds_structure_types_and_the_range_of_whole_numbers() -> None:
    batch = [torch.rand(2, 3), {"n": torch.tensor([4, 6]), "flag": torch.tensor([True, False])}, ("a", None)]
    assert described(batch) == {
        "kind": "list",
        "items": [
            {"shape": [2, 3], "dtype": "float32", "high": 2, "name": ""},
            {"kind": "dict", "keys": {
                "n": {"shape": [2], "dtype": "int64", "high": 7, "name": "n"},
                "flag": {"shape": [2], "dtype": "bool", "high": 2, "name": "flag"},
            }},
            {"kind": "tuple", "items": [{"value": "a"}, {"value": None}]},
        ],
    }  # fmt: skip


def test_equal_numbers_that_are_a_size_are_lengths() -> None:
    found = described((torch.rand(2, 9), torch.tensor([9, 9]), torch.tensor([7, 7])))
    assert [item["high"] for item in found["items"]] == [2, -9, 8]


@pytest.mark.parametrize("batch", ["text", object(), [1, 2], {1: torch.rand(2)}, [torch.rand(2), object()]])
def test_what_no_description_stands_for_is_refused(batch: Any) -> None:
    with pytest.raises(Undescribed):
        described(batch)


def test_a_batch_of_several_loaders_holds_that_of_each() -> None:
    loader = torch.utils.data.DataLoader([torch.rand(3)] * 2, batch_size=64)
    found = first_batch({"a": loader, "b": [loader]})
    assert found["a"].shape == found["b"][0].shape == (4, 3)


def test_a_jobaside_is_ended_after_its_time_and_changes_nothing_here() -> None:
    held: list[int] = []

    def job(tell: Any) -> Any:
        held.append(1)
        tell("made")
        time.sleep(60)

    assert aside(job, 0.2, 2**33) == (None, ["made"])
    assert not held
    assert aside(lambda tell: {"a": 1}, 20, 2**33) == ({"a": 1}, [])
    assert aside(lambda tell: 1 / 0, 20, 2**33) == (None, [])


def test_the_nearest_files_with_data_come_first(tmp_path: Path) -> None:
    data = "class Data(pl.LightningDataModule):\n    pass\n\nclass Set(Dataset):\n    def __getitem__(self, n): ...\n"
    for name in ("a/far.py", "b/near.py", "b/model.py", "b/tests/test_it.py", "loaded.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(data if name != "b/model.py" else "import loaded\n")
    found = list(nearest(Sources(tmp_path), "b/model.py"))
    assert [path for path, _, _ in found] == ["loaded.py", "b/near.py", "a/far.py"]
    assert json.dumps(found[0][1:]) == '[["Data"], ["Set"]]'
