from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm
from verify.environments.manifests import own_distribution
from verify.harness import HARNESS

ASKING = """
from importlib.metadata import PackageNotFoundError, distribution, entry_points, version
assert version("my_lib") == version("My.Lib") == "1.2.post1", version("my-lib")
assert distribution("my-lib").metadata["Name"] == "my-lib" and not distribution("my-lib").entry_points
assert version("packaging") != "1.2.post1" and entry_points() is not None
try:
    version("my-other-lib")
except PackageNotFoundError:
    print("told")
"""


def test_a_project_is_told_its_own_version_and_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "asking.py").write_text(ASKING)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import installed, pathlib; used = {}\n"
        "installed.install(['my-lib', '1.2.post1'], pathlib.Path('.'), used)\n"
        "installed.install(None, pathlib.Path('.'), used); import runpy; assert not used\n"
        "runpy.run_path(sys.argv[2]); print(list(used))\n"
    )
    beside = str(HARNESS.parent)
    command = [sys.executable, "-c", code, beside, str(tmp_path / "asking.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["told", "['my-lib 1.2.post1']"], done.stderr


def test_what_was_told_is_in_the_record(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from importlib.metadata import version\nversion('my-lib')\n")
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["pytorch_lightning"],
        "seed": 1, "seconds": 100, "record": str(tmp_path / "record.jsonl"), "scratch": str(tmp_path),
        "limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1, "own": ["my-lib", "3"],
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    warm.run(tmp_path / "spec.json", tmp_path)
    events = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert [event["installed"] for event in events if event["event"] == "loaded"] == [["my-lib 3"]]


@pytest.mark.parametrize(
    ("file", "text", "own"),
    [
        ("pyproject.toml", '[project]\nname = "my-lib"\nversion = "1.0"\n', ("my-lib", "1.0")),
        ("pyproject.toml", '[project]\nname = "my-lib"\ndynamic = ["version"]\n', ("my-lib", "0")),
        ("pyproject.toml", '[tool.poetry]\nname = "my-lib"\nversion = "2.0"\n', ("my-lib", "2.0")),
        ("pyproject.toml", '[project]\nname = "a b"\n', None),
        ("pyproject.toml", "[project]\nname = 3\n", None),
        ("setup.cfg", "[metadata]\nname = my-lib\nversion = attr: lib.__version__\n", ("my-lib", "0")),
        ("setup.py", "import setuptools\nsetuptools.setup(name='my-lib', version='1.0rc1')\n", ("my-lib", "1.0rc1")),
        ("setup.py", "from setuptools import setup\nsetup(name=NAME)\n", None),
        ("README", "", None),
    ],
)
def test_what_a_project_calls_itself(tmp_path: Path, file: str, text: str, own: tuple[str, str] | None) -> None:
    (tmp_path / file).write_text(text)
    assert own_distribution(tmp_path) == own
