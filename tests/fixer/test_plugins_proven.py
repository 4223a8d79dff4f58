"""What rules of others change is proven as what fixer's own change is, and taken out where it regresses."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.fixer.command import Ask, old_project
from tests.fixer.git_repos import Repo
from tests.fixer.plugin_projects import PLUGINS

ACME = b"""\
import lightning.pytorch as pl
from torch.utils.data import DataLoader


def fit(model, data, half=None, precision=None):
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", precision=precision or "32-true", logger=False)
    trainer.fit(model, DataLoader(data, 4))
"""
TRAIN = b"""\
import lightning.pytorch as pl
import torch

import acme


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    acme.fit(Model(), torch.rand(8, 4), half=False)
"""
SETTINGS = f"""[tool.fixer]
select = ["ACM001"]
plugins = ["tools/folder"]

[tool.fixer.verify]
script = "train.py"
target-python = "{sys.executable}"
baseline-python = "{sys.executable}"
""".encode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(PLUGINS / "folder", tmp_path / "project/tools/folder")
    files = {"train.py": TRAIN, "acme.py": ACME, "pyproject.toml": SETTINGS}
    return old_project(tmp_path / "project", files)


def test_what_holds_lands_with_its_verdict(project: Path, own_home: None, ask: Ask) -> None:
    said = ask("run", project, "--trust-plugins", "--output-format", "json").report()
    assert [(item["group"], item["verdict"], item["rung"]) for item in said["evidence"]] == [
        ("ACM001", "preserved", "same")
    ]
    assert Repo(project).show(said["branch"], "train.py") == TRAIN.replace(b"half=False", b'precision="32-true"')


def test_what_regresses_does_not(project: Path, own_home: None, ask: Ask) -> None:
    """The rule is right by its examples, and wrong about this project's function."""
    (project / "acme.py").write_bytes(ACME.replace(b", precision=None", b"").replace(b"precision or ", b""))
    Repo(project).git("commit", "--quiet", "--all", "--message", "An older acme")
    said = ask("run", project, "--trust-plugins", "--output-format", "json")
    assert said.code == 1, said.out
    (evidence,) = said.report()["evidence"]
    assert (evidence["group"], evidence["verdict"]) == ("ACM001", "regressed")
    assert said.report()["branch"] is None and said.report()["commits"] == []
