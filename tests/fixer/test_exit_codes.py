"""Exit codes as docs/exit-codes.md has them, and what a proof of scripts that misbehave ends in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codemods.finding import Finding, Span
from fixer import proof
from fixer.pipeline import exit_code
from fixer.result import Command, Result
from tests.fixer.command import NEW, OLD, Ask, Said, old_project
from tests.support import git
from verify.evidence import RUNGS, Evidence, Rung, Verdict

BRANCH = "fixer/lightning-2.6.6"
MANUAL = b"import pytorch_lightning as pl\n\n\ndef make(n):\n    return pl.Trainer(gpus=n)\n"


def result(
    command: Command, verdict: Verdict = "preserved", rung: Rung | None = "same", applied: bool = True
) -> Result:
    span = Span(1, 1, 1, 2)
    finding = Finding("LIT101", "train.py", span, "It is old.", "safe", "Certainly.", None, applied=applied)
    evidence = Evidence("g", ("LIT101",), rung, verdict, "So it is.")
    return Result(command, None, "2.6.6", findings=(finding,), evidence=(evidence,))


@pytest.mark.parametrize("command", ["run", "demo", "verify"])
@pytest.mark.parametrize(
    ("verdict", "rung", "code"),
    [
        ("preserved", "same", 0),
        ("repaired", "trains", 0),
        ("changed", "trains", 0),
        ("inconclusive", None, 0),
        ("regressed", "conforms", 1),
        ("regressed", None, 1),
    ],
)
def test_a_proof_fails_only_by_a_regression(command: Command, verdict: Verdict, rung: Rung | None, code: int) -> None:
    assert exit_code(result(command, verdict, rung)) == code


@pytest.mark.parametrize("required", RUNGS)
@pytest.mark.parametrize("reached", [None, *RUNGS])
def test_a_required_rung(required: Rung, reached: Rung | None) -> None:
    enough = reached is not None and RUNGS.index(reached) >= RUNGS.index(required)
    assert exit_code(result("run", "inconclusive", reached), require=required) == (0 if enough else 1)


def test_findings_count_where_they_are_asked_to() -> None:
    writing: tuple[Command, ...] = ("run", "fix")
    looking: tuple[Command, ...] = ("check", "diff")
    for command in writing:
        left = result(command, applied=False)
        assert (exit_code(left), exit_code(left, findings_count=True)) == (0, 1)
        assert exit_code(result(command), findings_count=True) == 0
    for command in looking:
        assert exit_code(result(command)) == exit_code(result(command, applied=False)) == 1
        assert exit_code(replace(result(command), findings=())) == 0
    assert exit_code(replace(result("run"), error="It went wrong.")) == 2


@pytest.mark.parametrize(
    ("command", "data", "code"),
    [
        ("run --no-verify", OLD, 0),
        ("run --no-verify", NEW, 0),
        ("run --no-verify", MANUAL, 0),
        ("run --no-verify --exit-non-zero-on-findings", OLD, 0),
        ("run --no-verify --exit-non-zero-on-findings", MANUAL, 1),
        ("run --python /bin/true", OLD, 0),
        ("run --python /bin/true --require conforms", OLD, 1),
        ("run --no-verify --require conforms", OLD, 2),
        ("run --require same", NEW, 0),
        ("run --no-verify --base nothing", OLD, 2),
        ("check", OLD, 1),
        ("check", MANUAL, 1),
        ("check", NEW, 0),
        ("diff", OLD, 1),
        ("diff", MANUAL, 1),
        ("diff", NEW, 0),
        ("fix", OLD, 0),
        ("fix", MANUAL, 0),
        ("fix --exit-non-zero-on-findings", OLD, 0),
        ("fix --exit-non-zero-on-findings", MANUAL, 1),
        ("fix", NEW, 0),
        ("fix --target 1.0", OLD, 2),
    ],
)
def test_codes_of_commands(ask: Ask, tmp_path: Path, command: str, data: bytes, code: int) -> None:
    folder = old_project(tmp_path / "project", {"train.py": data})
    name, *options = command.split()
    assert ask(name, folder, *options).code == code


# Scripts that misbehave when they are run

SCRIPT = b"""import os, sys, time
import pytorch_lightning as pl
import torch


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


if __name__ == "__main__":
    print("\\x00\\x1b[31m{not json", flush=True)
    os.write(1, bytes(range(256)) * 100)
    trainer = pl.Trainer(gpus=0, max_epochs=1)
    MISBEHAVE
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.rand(8, 1)))
"""


def misbehave(ask: Ask, folder: Path, statement: bytes, *options: str) -> Said:
    files = {"train.py": SCRIPT.replace(b"MISBEHAVE", statement), "requirements.txt": b"pytorch-lightning==1.8.6\n"}
    return ask("run", old_project(folder, files), "--output-format", "json", *options)


def test_a_script_that_hangs(ask: Ask, own_home: None, tmp_path: Path) -> None:
    said = misbehave(ask, tmp_path / "project", b"time.sleep(600)", "--timeout", "10")
    report = said.report()
    (evidence,) = report["evidence"]
    assert evidence["before"]["script"] == evidence["after"]["script"] == "train.py: Model, trained by itself"
    assert evidence["reason"].startswith("Model, trained by itself on generated batches: ")
    assert any("it ran longer than 10 seconds" in fact["text"] for fact in evidence["facts"])
    assert (said.code, report["branch"]) == (0, BRANCH)


def test_a_script_that_ends_the_process_where_it_did_not_before(ask: Ask, own_home: None, tmp_path: Path) -> None:
    statement = b'pl.__version__.startswith("1.") or os._exit(3)'
    said = misbehave(ask, tmp_path / "project", statement)
    report = said.report()
    assert [item["verdict"] for item in report["evidence"]] == ["regressed"]
    assert "exit status 3" in report["evidence"][0]["reason"]
    assert (said.code, report["branch"], report["commits"]) == (1, None, [])
    assert not any(item["applied"] for item in report["findings"])
    assert git(tmp_path / "project", "branch", "--format=%(refname:short)") == "main"


def test_what_is_proven_is_what_lands(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def prove(before: Path, after: Path, *_: object) -> Evidence:
        assert (before / "train.py").read_bytes() == OLD
        seen.append((after / "train.py").read_bytes())
        return Evidence("", (), "same", "preserved", "It is the same.")

    seen: list[bytes] = []
    monkeypatch.setattr(proof, "prove", prove)
    folder = old_project(tmp_path / "project")
    (folder / "train.py").write_bytes(b"at work\n")
    report = ask("run", folder, "--require", "same", "--output-format", "json").report()
    assert seen == [NEW]
    assert git(folder, "show", f"{report['branch']}:train.py") == NEW.decode().strip()
    assert git(folder, "notes", "--ref=fixer", "show", report["branch"]).startswith("preserved (rung: same)")
