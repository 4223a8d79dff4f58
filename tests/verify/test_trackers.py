"""Runs of wandb that a project starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from verify import modules

PROGRAM = """
import importlib.util, os, sys
sys.path[:0] = sys.argv[1:]
import trackers
before = list(sys.meta_path)
trackers.silence()
assert importlib.util.find_spec("wandb") and importlib.util.find_spec("wandb")
import wandb
import wandb.errors
print(wandb.init("train", mode="online", project="p"), os.environ["WANDB_MODE"], sys.meta_path == before)
"""


def test_every_run_of_wandb_is_a_disabled_one(tmp_path: Path) -> None:
    (tmp_path / "wandb").mkdir()
    (tmp_path / "wandb" / "__init__.py").write_text("def init(*args, **kwargs):\n    return args, kwargs\n")
    (tmp_path / "wandb" / "errors.py").write_text("")
    command = [sys.executable, "-c", PROGRAM, str(Path(modules.__file__).parent), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(('train',), {'mode': 'disabled', 'project': 'p'}) disabled True"
