"""`fixer run` and `fixer verify A..B` ask the same of the proof: one baseline, and both trees watched alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codemods.engine.plan import plan
from fixer import comparison, proof
from fixer.comparison import ComparedTrees, compare
from fixer.project import open_commit
from fixer.proof import ProofOptions, prove_plan
from fixer.settings import SharedOptions, options_for, sources_of
from tests.fixer.command import old_project
from tests.support import commit_all
from verify.evidence import Evidence
from verify.request import Request

PROGRAM = b"""import pytorch_lightning as pl
import torch


class Halved:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self):
        for group in self.optimizer.param_groups:
            group["lr"] /= 2


class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [Halved(optimizer)]


trainer = pl.Trainer(gpus=1)
"""


def test_run_and_verify_choose_the_same_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found and left by hand says, too, which release the tree before was written for: here it broke in 1.6,
    what is rewritten in 2.0."""
    root = old_project(tmp_path / "project", {"train.py": PROGRAM, "requirements.txt": b"pytorch-lightning\n"})
    asked: list[Request] = []

    def prove(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        asked.append(request)
        return Evidence(request.group, request.codes, "same", "preserved", "nothing ran")

    monkeypatch.setattr(proof, "prove", prove)
    monkeypatch.setattr(comparison, "prove", prove)
    project = open_commit(root, "HEAD")
    options = options_for(SharedOptions(root), project)
    made = plan(sources_of(project), options)
    assert {change.code for change in made.changes} >= {"LIT101"}
    prove_plan(project, sources_of(project), options, made, ProofOptions(), lambda text: None)
    for path, data in made.final().items():
        (root / path).write_bytes(data)
    commit_all(root)
    compare(ComparedTrees(root, "HEAD~1", "HEAD", True), False, None, None, None, (), lambda text: None)
    run, verify = (replace(each, group="", codes=(), by_hand=(), clock=None) for each in asked)
    assert run.baseline_below == "1.6.0"
    assert run == verify
