"""Unsafe changes that are kept because the proof shows them to be right on the project at hand."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import libcst as cst
import pytest

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Match, NodeEdit, Rule
from fixer import proof
from fixer.groups import TRIED, steps_of
from fixer.project import open_commit
from fixer.proof import ProofOptions, proof_options
from fixer.settings import SharedOptions, options_for, sources_of
from fixer.unsafe_proof import prove_unsafe
from tests.fixer.command import old_project
from tests.fixer.conftest import Ask
from verify.evidence import Evidence, FileCoverage, Verdict
from verify.request import Request

LINES = b"".join(b"print(old_%d)\n" % number for number in range(3))


def rename(number: int, level: str) -> Rule:
    """A rule that renames one name at a level."""
    old, new = f"old_{number}", f"new_{number}"

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Name) and node.id == old:
                edit = NodeEdit(node, lambda _: cst.Name(new))
                yield Match(file.span(node), f"`{old}`", level, "Perhaps.", edits=(edit,))  # type: ignore[arg-type]

    return Rule(
        f"BAD{number:03}", f"rename-{number}", "One name becomes another", "To see what is kept.", "unsafe", "all",
        (old.encode(),), check, (),
    )  # fmt: skip


def tried(
    folder: Path, monkeypatch: pytest.MonkeyPatch, verdicts: Mapping[str, tuple[Verdict, str]]
) -> tuple[list[set[str]], tuple[object, ...]]:
    """Which names were new in each tree that was proven, and what came of it; each code is a group of its own, whose
    verdict and rung are told by its number."""
    project = open_commit(old_project(folder / "project", {"train.py": LINES}), None)
    rules = (rename(0, "safe"), rename(1, "unsafe"), rename(2, "unsafe"))
    options = replace(options_for(SharedOptions(project.root), project), rules=rules)
    proven: list[set[str]] = []
    touched = (FileCoverage("train.py", "executed"),)

    def judged(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        text = (after / "train.py").read_text()
        proven.append({number for number in "012" if f"new_{number}" in text})
        verdict, rung = next((verdicts[number] for number in "21" if number in proven[-1] and number in verdicts),
                             ("preserved", "same"))  # fmt: skip
        return Evidence("", (), rung, verdict, "as it is said", touched=touched)  # type: ignore[arg-type]

    monkeypatch.setattr(proof, "prove", judged)
    return proven, prove_unsafe(project, sources_of(project), options, ProofOptions(), lambda text: None)


def test_what_comes_out_the_same_is_kept_and_its_commit_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven, (options, made, _) = tried(tmp_path, monkeypatch, {})
    assert proven == [{"0", "1", "2"}]
    steps = {step.code: step.body for step in steps_of(made, options)}  # type: ignore[arg-type]
    assert sorted(steps) == ["BAD000", "BAD001", "BAD002"]
    told = [TRIED.split(".")[0].replace("\n", " ") in body.replace("\n", " ") for body in steps.values()]
    assert told == [False, True, True]


@pytest.mark.parametrize("verdict", [("changed", "trains"), ("inconclusive", "conforms"), ("preserved", "conforms")])
def test_what_is_not_shown_is_taken_back_and_says_why(
    verdict: tuple[Verdict, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven, (_, made, evidence) = tried(tmp_path, monkeypatch, {"2": verdict})
    assert proven[0] == {"0", "1", "2"} and proven[-1] == {"0"}
    assert {change.code for change in made.changes} == {"BAD000"}  # type: ignore[attr-defined]
    left = {item.code: item for item in made.findings if not item.applied}  # type: ignore[attr-defined]
    assert {item.fix for item in left.values()} == {"unsafe"}
    assert f"undone, as the proof does not show that it is right: {verdict[0]}: as it is said." in left["BAD002"].reason
    assert [item.verdict for item in evidence] == ["preserved"]  # type: ignore[attr-defined]


def test_what_regresses_is_found_and_the_rest_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proven, (_, made, _) = tried(tmp_path, monkeypatch, {"2": ("regressed", "")})
    assert {change.code for change in made.changes} == {"BAD000", "BAD001"}  # type: ignore[attr-defined]
    assert proven[-1] == {"0", "1"}


@pytest.mark.parametrize("other", ["--no-verify", "--unsafe-fixes"])
def test_it_needs_a_proof_and_something_to_choose_from(ask: Ask, tmp_path: Path, other: str) -> None:
    made = old_project(tmp_path / "project", {"train.py": LINES})
    said = ask("run", made, "--prove-unsafe", other)
    assert said.code == 2 and other in said.err and "leave out one" in said.err


MODEL = b"""\
import sys

import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    x = torch.randn(16, 3)
    more = dict(word.split("=") for word in sys.argv[1:])
    trainer = pl.Trainer(max_epochs=1, gpus=0, replace_sampler_ddp=False, **more)
    trainer.fit(Model(), DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4))
"""


def test_a_change_that_trains_the_same_is_kept(ask: Ask, tmp_path: Path, own_home: None) -> None:
    made = old_project(tmp_path / "project", {"train.py": MODEL, "requirements.txt": b"pytorch-lightning>=1.4\n"})
    said = ask("run", made, "--prove-unsafe", "--python", sys.executable, "--output-format", "json")
    report = said.report()
    norm = [item for item in report["findings"] if "replace_sampler_ddp" in item["message"]]
    assert [(item["fix"], item["applied"]) for item in norm] == [("unsafe", True)], said.err
    assert {item["rung"] for item in report["evidence"]} == {"trains"}


@pytest.mark.parametrize(("folder", "called"), [("my-project_2.0", "my-project_2.0"), ("my project", "project")])
def test_copies_are_called_as_the_folder_of_the_project(folder: str, called: str, tmp_path: Path) -> None:
    project = open_commit(old_project(tmp_path / folder, {"train.py": LINES}), None)
    assert proof_options(project, None, None, ()).called == called
