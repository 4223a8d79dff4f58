"""What is unpickled, and what torch loads."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.verify.harness.raising import climbed
from verify.harness import data_objects
from verify.harness.made_data import told

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
