"""What a script looks for before it says so in its own words, and folders that it writes to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.verify.harness.raising import climbed, raised
from verify.harness import data_asked
from verify.harness.data_errors import following, may_follow
from verify.harness.made_data import told


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
