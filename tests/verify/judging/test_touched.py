"""What a training says of changes that it did not execute: nothing, however well it went."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.verify.said import said as told_of
from tests.verify.trees import tree
from verify import module_training
from verify.environments.interpreters import Interpreter
from verify.environments.versions import ReadyEnvironment
from verify.evidence import Alone, Environment, Evidence, Failure, Recording, Verdict
from verify.judging.record import RunRecord
from verify.judging.verdict import Judgement
from verify.prove import prove
from verify.reading.modules import touches, unexecuted
from verify.request import Pair, Request

TRAIN = """
import torch, pytorch_lightning as pl

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch[0]).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

if __name__ == "__main__":
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(16, 4)), batch_size=4)
    pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False).fit(Model(), data)
"""
REQUEST = Request(
    "g", ("X",), ("_ops.py",), "2.6.6", None, (), (), python=Path(sys.executable), baseline_python=Path(sys.executable),
    timeout=120,
)  # fmt: skip
READY = ReadyEnvironment(
    Interpreter(Path("python"), "3.12.0", {"pytorch-lightning": "2.6.6", "torch": "2.13.0"}),
    Environment("target", "3.12.0", (), ""),
)


def test_a_script_that_executes_nothing_of_what_was_changed_proves_nothing(tmp_path: Path) -> None:
    """Modules of torch have no path but a name, such as `_ops.py`: they are not the project's files of that name."""
    before = tree(tmp_path / "before", train=TRAIN, _ops="import pytorch_lightning as pl\n")
    after = tree(tmp_path / "after", train=TRAIN, _ops="import pytorch_lightning as pl\nassert False\n")
    evidence = prove(before, after, REQUEST, lambda text: None)
    assert evidence.after and evidence.after.fitted
    assert (evidence.verdict, evidence.rung) == ("inconclusive", "conforms"), evidence.reason
    assert evidence.reason == "train.py executed nothing of what was changed"
    assert "not executed: _ops.py: the run did not load it" in told_of(evidence)
    assert evidence.unexecuted == ("_ops.py",)
    assert "next: name a command that does" in told_of(evidence)


def raw(script: str, loaded: Sequence[str], failure: Failure | None = None) -> RunRecord:
    weights = (("w", 1.0),)
    recording = Recording(script, failure is None, failure, (1.0,), (), ((0.1,),), 1, 1, 1, (), weights,
                          "cpu", "32", 1.0)  # fmt: skip
    return RunRecord(recording, loaded=tuple(loaded))


Runs = dict[str, tuple[RunRecord, RunRecord]]


def proven(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: Runs, again: Runs | None = None, **more: Any
) -> Evidence:
    """What scripts come to that record this before and after, of which `net.py` alone was changed, and this where they
    are run again."""
    root = tree(tmp_path / "tree", **{Path(name).stem: TRAIN for name in runs}, net="import pytorch_lightning\n")
    monkeypatch.setattr("verify.prove.environments_for", lambda *_: Pair(READY, READY, ""))
    monkeypatch.setattr("verify.prove._conform", lambda *_: ((), ()))
    monkeypatch.setattr("verify.prove._apart", lambda *_: None)
    both = {"0": runs, "1": runs, "0-again": again or runs}
    for module in ("prove", "again"):
        monkeypatch.setattr(f"verify.{module}.run_both", lambda *given: both[given[5]][given[2].script])
    return prove(root, root, replace(REQUEST, changed=("net.py",), **more), lambda text: None)


def test_the_next_script_is_run_where_one_executes_nothing_of_what_was_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = {name: (one := raw(name, [name, *more]), one) for name, more in (("a.py", []), ("b.py", ["net.py"]))}
    evidence = proven(monkeypatch, tmp_path, runs)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same")
    assert evidence.after and evidence.after.script == "b.py"
    assert evidence.unexecuted == ()


OTHER_PINS: Mapping[str, tuple[str, ...]] = {
    "before_pins": ("pytorch-lightning>=1.5",), "after_pins": ("pytorch-lightning>=2.0,<2.5",),
}  # fmt: skip


@pytest.mark.parametrize("loaded", [["a.py"], ["a.py", "net.py"]])
def test_a_script_is_held_against_the_requirements(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loaded: list[str]
) -> None:
    one = raw("a.py", loaded)
    evidence = proven(monkeypatch, tmp_path, {"a.py": (one, one)}, **OTHER_PINS)
    assert (evidence.verdict, evidence.rung) == ("regressed", None)
    assert evidence.reason == "`pytorch-lightning<2.5,>=2.0` does not allow 2.6.6"


def test_modules_alone_are_held_against_the_requirements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = tree(tmp_path / "tree", model=TRAIN.partition("if __name__")[0])
    one = raw("model.py", ["model.py"]).recording
    part = Alone("model.py:Model", "", "", (), "preserved", "same", "", None, None, one, one)
    found = module_training.ModuleTraining(Judgement("preserved", "same", "trained by itself"), (part,), ())
    monkeypatch.setattr("verify.prove.environments_for", lambda *_: Pair(READY, READY, ""))
    monkeypatch.setattr("verify.prove._conform", lambda *_: ((), ()))
    monkeypatch.setattr("verify.module_training.train", lambda *_, **__: found)
    request = replace(REQUEST, changed=("model.py",), **OTHER_PINS)
    evidence = prove(root, root, request, lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("regressed", None)
    assert evidence.reason == "`pytorch-lightning<2.5,>=2.0` does not allow 2.6.6"
    assert "also: trained by itself" in told_of(evidence)


@pytest.mark.parametrize(
    ("loaded", "failure", "verdict"),
    [
        (["a.py"], None, "inconclusive"),
        ([], None, "inconclusive"),
        (["a.py"], Failure("SyntaxError", "invalid syntax (net.py, line 1)", "a.py:1"), "regressed"),
        ([], Failure("ImportError", "cannot import name 'Net'", "a.py:1"), "regressed"),
        ([], Failure("ProcessEnded", "exit status 7", None), "inconclusive"),
    ],
)
def test_only_a_regression_needs_nothing_that_was_executed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loaded: list[str], failure: Failure | None, verdict: Verdict
) -> None:
    """A changed file that cannot be loaded is not among those that were."""
    evidence = proven(monkeypatch, tmp_path, {"a.py": (raw("a.py", ["a.py"]), raw("a.py", loaded, failure))})
    assert (evidence.verdict, evidence.rung) == (verdict, "conforms")


BOOM = Failure("RuntimeError", "boom", "a.py:3")


@pytest.mark.parametrize("second", ["alike", "before", "after"])
@pytest.mark.parametrize("verdict", ["regressed", "repaired"])
def test_what_fails_in_one_of_two_runs_is_neither_a_regression_nor_a_repair(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: Verdict, second: str
) -> None:
    good, bad = raw("a.py", ["a.py", "net.py"]), raw("a.py", ["a.py", "net.py"], BOOM)
    old, new = (good, bad) if verdict == "regressed" else (bad, good)
    again = (new if second == "before" else old, old if second == "after" else new)
    evidence = proven(monkeypatch, tmp_path, {"a.py": (old, new)}, {"a.py": again})
    assert evidence.verdict == (verdict if second == "alike" else "inconclusive")
    tree = {"before": "the tree before", "after": "the patched tree"}.get(second)
    assert (evidence.reason == f"two runs of {tree} end differently") == (second != "alike")
    assert ("also: in the first run, " in told_of(evidence)) == (second != "alike")


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("torch", "inconclusive"), ("apex", "regressed"), ("torch.old", "regressed"), ("pytorch_lightning", "regressed")],
)
def test_a_package_that_the_environment_lacks_is_no_regression(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, verdict: Verdict
) -> None:
    """Of the tree before, which imports torch, not apex."""
    gone = Failure("ModuleNotFoundError", f"No module named '{name}'", "a.py:2")
    runs = {"a.py": (raw("a.py", ["a.py", "net.py"]), raw("a.py", ["a.py"], gone))}
    evidence = proven(monkeypatch, tmp_path, runs)
    assert evidence.verdict == verdict, evidence.reason
    assert ("torch, which the tree before imports too, is missing" in told_of(evidence)) == (name == "torch")


def test_what_is_run_is_said_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is to be run first, too, and how far it is shut in."""
    root = tree(tmp_path / "tree", a=TRAIN, make=TRAIN)
    (root / "pyproject.toml").write_text(
        '[tool.fixer.verify]\nscript = "a.py"\nargs = ["--rate", "a b"]\nsetup = ["python make.py x", "-m make"]\n'
    )
    said: list[str] = []
    one = raw("a.py", [])
    pair = Pair(READY, READY, "")
    monkeypatch.setattr("verify.prove.environments_for", lambda *_: pair)
    monkeypatch.setattr("verify.prove._conform", lambda *_: ((), ()))
    monkeypatch.setattr("verify.prove.run_both", lambda *_: said.append("RUN A SCRIPT") or (one, one))
    monkeypatch.setattr("verify.module_training.train", lambda *_, **__: said.append("RUN MODULES"))
    prove(root, root, replace(REQUEST, changed=("make.py",), timeout=7), said.append)
    script, ran, alone, trained = said[-4:]
    assert (ran, trained) == ("RUN A SCRIPT", "RUN MODULES")
    assert script.startswith("running `python make.py x`, then `python -m make`, then `python a.py --rate 'a b'`, ")
    assert alone.startswith("training modules alone: make.py, ")
    assert all("each tree for at most 7 s" in line and " run " in line for line in (script, alone))


def test_a_notebook_is_code_that_no_script_executes(tmp_path: Path) -> None:
    assert not touches(tmp_path, ["requirements.txt", "a.ipynb"], ["train.py"])
    assert touches(tmp_path, ["a.ipynb", "train.py"], ["train.py"])
    assert unexecuted(tmp_path, ["a.ipynb", "train.py"], ["train.py"]) == ("a.ipynb",)
    assert touches(tmp_path, ["requirements.txt", "setup.py"], ["train.py"])
    assert not touches(tmp_path, ["setup.py", "other.py"], ["train.py"])


CONFIGURATIONS = {
    "conf/big.yaml": "trainer:\n  devices: 2\n",
    "params.json": "{}",
    "run.sh": "pip install lightning\npython train.py --devices 2\n",
}
INSTALLING = {
    "env/gpu.yml": "name: x\ndependencies:\n  - pytorch-lightning>=2\n",
    "install.sh": "python -m pip install lightning\n",
    ".github/workflows/ci.yml": "jobs: {}\n",
}


def test_a_configuration_counts_where_it_was_read(tmp_path: Path) -> None:
    for name, text in (CONFIGURATIONS | INSTALLING).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in CONFIGURATIONS:
        assert not touches(tmp_path, [name, "requirements.txt"], ["train.py"])
        assert touches(tmp_path, [name], ["train.py", name])
        assert unexecuted(tmp_path, [name, "train.py"], ["train.py"]) == (name,)
    assert touches(tmp_path, [*INSTALLING, "requirements.txt"], ["train.py"])
    assert not unexecuted(tmp_path, INSTALLING, ["train.py"])


def test_a_script_reads_one_configuration_and_proves_nothing_of_another(tmp_path: Path) -> None:
    script = TRAIN.replace(
        "    data =", "    import pathlib\n    pathlib.Path('conf/small.yaml').read_text()\n    data ="
    )
    for side in ("before", "after"):
        root = tree(tmp_path / side, train=script)
        (root / "conf").mkdir()
        for name in ("small", "big"):
            (root / "conf" / f"{name}.yaml").write_text(f"trainer: {side}\n")

    def proof(*changed: str) -> Evidence:
        return prove(tmp_path / "before", tmp_path / "after", replace(REQUEST, changed=changed), lambda text: None)

    both, unread = proof("conf/big.yaml", "conf/small.yaml"), proof("conf/big.yaml")
    assert (both.verdict, both.rung) == ("preserved", "same"), both.reason
    assert "not executed: conf/big.yaml: the run did not read it" in told_of(both)
    assert (both.outcome, [file.how for file in both.touched]) == ("preserved in part", ["not read", "read"])
    assert both.unexecuted == ("conf/big.yaml",)
    assert (unread.verdict, unread.rung) == ("inconclusive", "conforms"), unread.reason
    assert unread.reason == "train.py executed nothing of what was changed"


def test_the_script_that_trains_is_told_before_one_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What it executes was not changed: that no script got to `fit` would not be so."""
    bad, good = raw("a.py", ["a.py"], Failure("FileNotFoundError", "data", "a.py:1")), raw("b.py", ["b.py"])
    evidence = proven(monkeypatch, tmp_path, {"a.py": (bad, bad), "b.py": (good, good)})
    assert evidence.after and evidence.after.script == "b.py"
    assert evidence.reason == "b.py executed nothing of what was changed"
