"""A proof that was interrupted, or had no time left: what it knew is told, and `--continue` goes on from there."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixer import proof_state
from fixer.config import read_config
from fixer.errors import UsageError
from fixer.project import open_commit
from fixer.proof_state import open_state, states
from fixer.timing import seconds_of
from tests.fixer.command import OLD, Ask, old_project
from tests.fixer.git_repos import Repo
from tests.fixer.test_interrupt import begin, wait
from tests.support import commit_all, git

MODEL = b"""import torch
import pytorch_lightning as pl
from torch.utils.data import DataLoader


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    trainer = pl.Trainer(gpus=0, max_epochs=1)
    trainer.fit(Model(), DataLoader(torch.rand(8, 4), 4))
"""
SETTINGS = f"""[tool.fixer]
select = ["LIT"]

[tool.fixer.verify]
target-python = "{sys.executable}"
baseline-python = "{sys.executable}"
""".encode()
MEASURED = ("seconds", "step_seconds", "peak_memory", "output", "at")


def said(report: Mapping[str, Any]) -> Any:
    """The evidence of a report, but for what is measured of each run."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items() if name not in MEASURED}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return plain(report["evidence"])


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.usefixtures("interrupts")
def test_what_was_interrupted_goes_on_and_says_the_same(ask: Ask, tmp_path: Path) -> None:
    """At random moments of the first runs and of the second ones."""
    folder = old_project(tmp_path / "project", {"train.py": MODEL, "pyproject.toml": SETTINGS})
    before, draw, told = Repo(folder).fingerprint(), random.Random(), []
    for number, point in enumerate(("after0", "after0-again")):
        temporary = tmp_path / f"tmp{number}"
        started = begin(folder, temporary, "--continue")
        assert wait(lambda place=f"fixer-*/{point}/tree", where=temporary: bool(list(where.glob(place)))), point  # type: ignore[misc]
        time.sleep(draw.random())
        os.kill(started.pid, signal.SIGTERM)
        out, err = started.communicate(timeout=120)
        assert started.returncode == 130, err
        assert err.decode().splitlines()[-1] == "fixer: interrupted"
        report = json.loads(out)
        assert (report["error"], report["branch"]) == ("interrupted", None)
        assert Repo(folder).fingerprint() == before and not list(temporary.glob("fixer-*"))
        assert {item["verdict"] for item in report["evidence"]} == {"inconclusive"}
        assert "no branch was made; `fixer run --continue` goes on with the proof" in report["messages"]
        told.append(report["evidence"][0]["reason"])
    assert told[0].endswith("interrupted while running train.py"), told
    assert "by the first one, failed before" in told[1], told

    went_on = ask("run", folder, "--continue", "--output-format", "json")
    assert went_on.code == 0 and "nothing to continue" not in went_on.out, went_on
    assert not list(states().glob("*")), "the proof is through"
    anew = ask("run", folder, "--output-format", "json")
    assert said(went_on.report()) == said(anew.report())
    assert said(anew.report())[0]["verdict"] == "repaired", anew


def test_without_an_earlier_run_it_says_so_and_begins_anew(ask: Ask, folder: Path, monkeypatch: Any) -> None:
    asked: list[Any] = []

    def prove(project: object, sources: object, options: object, made: object, how: Any, progress: object) -> Any:
        asked.append(how)
        if len(asked) == 2:
            (how.finished / ("0" * 32)).mkdir()
            how.clock.ended("train.py")
        return made, ()

    monkeypatch.setattr("fixer.proof.prove_plan", prove)
    report = ask("run", folder, "--continue", "--budget", "90s", "--output-format", "json").report()
    assert any("nothing to continue" in line for line in report["messages"])
    assert asked[0].clock.budget.seconds == 90 and not asked[0].finished.exists()
    ask("run", folder)
    assert asked[1].clock.budget.seconds == 600 and asked[1].finished.exists(), "its time was over"
    report = ask("run", folder, "--continue", "--output-format", "json").report()
    assert not any("nothing to continue" in line for line in report["messages"])
    assert not asked[2].finished.exists()
    assert "--continue goes on with a proof" in ask("run", folder, "--continue", "--no-verify").complaint()


def test_a_state_is_of_one_commit_one_plan_and_one_configuration(folder: Path, tmp_path: Path) -> None:
    project = open_commit(folder, None)
    plan = {"train.py": b"new"}
    first = open_state(project, plan, "how", go_on=False)
    (first.folder / ("a" * 32)).mkdir()
    assert open_state(project, plan, "how", go_on=True).is_there
    assert not open_state(project, {"train.py": b"newer"}, "how", go_on=True).is_there
    assert not open_state(project, plan, "otherwise", go_on=True).is_there
    config = replace(project.config, verify=replace(project.config.verify, devices=2))
    assert not open_state(replace(project, config=config), plan, "how", go_on=True).is_there
    (folder / "more.py").write_bytes(OLD)
    commit_all(folder)
    assert not open_state(open_commit(folder, None), plan, "how", go_on=True).is_there
    assert not open_state(project, plan, "how", go_on=False).is_there, "begun again"
    assert not open_state(project, plan, "how", go_on=True).is_there


def test_a_larger_budget_goes_on_too(folder: Path) -> None:
    """What a proof may take is no part of what it is of."""
    project = open_commit(folder, None)
    first = open_state(project, {}, "how", go_on=False)
    (first.folder / ("a" * 32)).mkdir()
    config = replace(project.config, verify=replace(project.config.verify, budget="1200s"))
    assert open_state(replace(project, config=config), {}, "how", go_on=True).is_there


def test_states_that_nobody_came_back_to_are_forgotten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = open_commit(folder, None)
    old = open_state(project, {}, "old", go_on=False)
    monkeypatch.setattr(proof_state, "KEPT_DAYS", -1)
    open_state(project, {}, "new", go_on=False)
    assert not old.folder.exists()


@pytest.mark.parametrize(
    ("text", "seconds"), [("10", 600), (10, 600), (0.5, 30), ("10m", 600), ("2 min", 120), ("600s", 600), ("1h", 3600)]
)
def test_times_as_users_write_them(text: str | float, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5", "ten", "10d", "nan", "inf"])
def test_what_is_no_time(ask: Ask, folder: Path, text: str) -> None:
    with pytest.raises(ValueError, match="no time"):
        seconds_of(text)
    assert "--budget" in ask("run", folder, f"--budget={text}").complaint()


def test_the_budget_of_the_settings() -> None:
    def held(value: str) -> str | None:
        return read_config(f"[tool.fixer.verify]\nbudget = {value}\n", "pyproject.toml").verify.budget

    assert [held(value) for value in ("10", '"90s"', "1.5")] == ["600s", "90s", "90s"]
    for value in ("true", "0", '"soon"', "[1]"):
        with pytest.raises(UsageError, match=r"budget must be minutes, such as 10"):
            held(value)


EXCLUDING = b'[project]\nname = "mine"\nversion = "1"\ndependencies = ["lightning>=2.0"]\n'
TRAINS = b"import lightning\n\nlightning.Trainer().fit(None)\n"


def test_one_line_of_toml_is_proven_in_seconds(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run` excludes the malicious releases from requirements that choose 2.6.6 before and after."""
    monkeypatch.setattr("verify.environments.versions.target", lambda *_: pytest.fail("an environment was asked for"))
    folder = old_project(tmp_path / "project", {"train.py": TRAINS, "pyproject.toml": EXCLUDING})
    report = ask("run", folder, "--output-format", "json").report()
    (evidence,) = report["evidence"]
    assert (evidence["verdict"], evidence["rung"]) == ("preserved", "conforms")
    assert "nothing that runs was changed" in evidence["reason"]
    changed = git(folder, "diff", "--name-only", "main", report["branch"])
    assert changed == "pyproject.toml"
    again = ask("verify", folder, "--base", "main", "--head", report["branch"], "--output-format", "json").report()
    assert again["evidence"][0]["verdict"] == "preserved"
