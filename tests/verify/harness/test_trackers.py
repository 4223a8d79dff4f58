"""Runs of wandb that a project starts, and what it hands to them and to writers of TensorBoard."""

from __future__ import annotations

from pathlib import Path

from tests.verify.trees import tree, watched

WANDB = """
import os
import tempfile

class Run:
    def __init__(self, args, kwargs):
        self.made, self.kept = (args, kwargs), []
        self.dir = os.path.join(tempfile.mkdtemp(), "wandb", "files")
        self.log = lambda data, step=None: self.kept.append(data)

def init(*args, **kwargs):
    return Run(args, kwargs)

def log(data):
    raise RuntimeError("no run was started")

def login(**kwargs):
    raise RuntimeError("no key")
"""
WRITER = """
class SummaryWriter:
    def __init__(self):
        self.kept = []
    def add_scalar(self, tag, scalar_value, global_step=None):
        self.kept.append(tag)
    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None):
        for name, value in tag_scalar_dict.items():
            self.add_scalar(main_tag + name, value)
"""
PROGRAM = """
import importlib.util, os, sys
import torch
assert importlib.util.find_spec("wandb") and importlib.util.find_spec("wandb")
before = len(sys.meta_path)
import wandb
import wandb.errors
assert len(sys.meta_path) == before - 1 and os.environ["WANDB_MODE"] == "disabled"
assert os.environ["MLFLOW_ALLOW_FILE_STORE"] == "true"
run = wandb.init("train", mode="online", project="p")
assert os.path.isdir(run.dir) and wandb.login(key="none")
assert run.made == (("train",), {"mode": "disabled", "project": "p"})
wandb.log({"loss": torch.tensor(2.0), "text": "none"})
run.log({"loss": 1}, step=3)
assert run.kept == [{"loss": torch.tensor(2.0), "text": "none"}, {"loss": 1}]
from tensorboardX.writer import SummaryWriter
writer = SummaryWriter()
writer.add_scalar("one", 0.5, 1)
writer.add_scalars("all", {"a": 1, "b": 2})
assert writer.kept == ["one", "alla", "allb"]
"""


def test_runs_of_wandb_are_disabled_and_what_trackers_get_is_recorded(tmp_path: Path) -> None:
    """A disabled run has its `log` as an attribute up to wandb 0.17; a writer that calls itself is no call of the
    project."""
    for package, files in {"wandb": {"__init__": WANDB, "errors": ""},
                           "tensorboardX": {"__init__": "", "writer": WRITER}}.items():  # fmt: skip
        (tmp_path / "site" / package).mkdir(parents=True)
        for name, text in files.items():
            (tmp_path / "site" / package / f"{name}.py").write_text(text)
    program = f"import sys\nsys.path.append({str(tmp_path / 'site')!r})\n{PROGRAM}"
    raw = watched(tree(tmp_path / "project", t=program), "t.py")
    assert raw.recording.logged == (
        ("logger: all/a", (1.0,)), ("logger: all/b", (2.0,)), ("logger: loss", (2.0, 1.0)), ("logger: one", (0.5,)),
    )  # fmt: skip
