"""Several devices: how the processes that train together are started, ended and told of, and what only they show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.mutations.judging import recorded
from tests.training.interpreters import TARGET, python_for
from tests.training.test_shapes import project, rewritten
from tests.verify.said import said as told_of
from verify.harness import HARNESS, ranks
from verify.harness.main import Record
from verify.judging.record import RunRecord, read
from verify.judging.verdict import judge
from verify.prove import prove
from verify.request import Request
from verify.sandbox.process import Limits, run, scrubbed

COUNT = 3
RANK = f"""
import json, os, signal, sys, time
rank = int(sys.argv[1])
open(f"pid{{rank}}", "w").write(str(os.getpid()))


def until(*names):
    while not all(map(os.path.exists, names)):
        time.sleep(0.01)


def wait():
    time.sleep(600)


def says(when):
    failure = {{"event": "failure", "type": "ValueError", "message": f"of {{rank}}", "place": "a.py:1", "when": when}}
    with open("record.jsonl" + (f".{{rank}}" if rank else ""), "a") as stream:
        stream.write(json.dumps(failure) + "\\n")
    open(f"said{{rank}}", "w").close()


def fails(when):
    says(when)
    os._exit(1)


until(*(f"pid{{each}}" for each in range({COUNT})))
"""
FAILS_LATER = "if rank == 1: says(1)\nif rank == 0:\n    until('said1')\n    fails(2)\nwait()"
FAILS_EARLIER = "if rank == 0: says(1)\nif rank == 1:\n    until('said0')\n    fails(2)\nwait()"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def living(folder: Path) -> list[Path]:
    """The ranks that have not ended; one that nobody has waited for yet has."""
    states = {path: Path("/proc", path.read_text(), "status") for path in folder.glob("pid*")}
    return [path for path, state in states.items() if state.exists() and "State:\tZ" not in state.read_text()]


def together(folder: Path, body: str) -> tuple[int, RunRecord]:
    """What comes of ranks that run this text, of which none lives on."""
    (folder / "rank.py").write_text(RANK + body)
    record = str(folder / "record.jsonl")
    status = ranks.train([sys.executable, "rank.py"], {"devices": COUNT, "record": record}, Record(record))
    assert len(list(folder.glob("pid*"))) == COUNT and not living(folder)
    return status, read(Path(record), "train.py")


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("", None),
        ("fails(1) if rank == 1 else wait()", ("ValueError", "of 1", "a.py:1")),
        ("fails(1) if rank == 0 else wait()", ("ValueError", "of 0", "a.py:1")),
        ("if rank == 2: fails(1)", ("ValueError", "of 2", "a.py:1")),
        (FAILS_LATER, ("ValueError", "of 1", "a.py:1")),
        (FAILS_EARLIER, ("ValueError", "of 0", "a.py:1")),
        ("os.kill(os.getpid(), signal.SIGKILL) if rank == 1 else wait()",
         ("ProcessEnded", "rank 1 ended with signal 9", None)),
        ("os._exit(7) if rank == 0 else wait()", ("ProcessEnded", "rank 0 ended with exit status 7", None)),
    ],
    ids=["none", "one", "the first", "the last", "later", "earlier", "killed", "without a word"],
)  # fmt: skip
def test_the_rank_that_failed_first_ends_all_and_is_told(
    folder: Path, body: str, failure: tuple[str, str, str | None] | None
) -> None:
    status, raw = together(folder, body)
    found = raw.recording.failure
    assert (found and (found.type, found.message, found.place)) == failure
    assert status == (0 if failure is None else 1)


TRAIN = """
import os, time
import lightning as L
import torch

rank = os.environ["LOCAL_RANK"]
open(f"pid{rank}", "w").write(str(os.getpid()))


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        if batch_idx == 1 and rank == "1":
            %s
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


L.Trainer(max_epochs=1, strategy="ddp_spawn").fit(Module(), torch.utils.data.DataLoader(torch.rand(8, 2)))
"""


def trained(folder: Path, step: str, seconds: float = 240) -> tuple[RunRecord, str | None]:
    """What two devices record of a training in which the second one does something else, and what it was ended for."""
    (folder / "train.py").write_text(TRAIN % step)
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["lightning.pytorch"],
        "seed": 1, "seconds": seconds, "record": str(folder / "record.jsonl"), "scratch": str(folder),
        "limit_train_batches": 4, "limit_val_batches": 1, "max_epochs": 1, "accelerators": [], "devices": 2,
        "setup": [["-c", "open('setup', 'a').write('once')"]],
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    command = [sys.executable, str(HARNESS), str(folder / "spec.json")]
    outcome = run(command, folder, scrubbed(folder, 1), Limits(seconds, 2**34), threading.Event())
    assert not living(folder)
    assert (folder / "setup").read_text() == "once"
    return read(folder / "record.jsonl", "train.py"), outcome.ended


def test_the_error_of_another_rank_is_the_failure(folder: Path) -> None:
    raw, ended = trained(folder, 'raise ValueError("of the second")')
    failure = raw.recording.failure
    assert failure and (failure.type, failure.message) == ("ValueError", "of the second")
    assert failure.place and failure.place.startswith("train.py:")
    assert not raw.recording.fitted and ended is None


WORK = "import sys; from verify.harness import ranks; ranks.train([sys.executable, 'rank.py'], {'devices': 3}, print)"
START = [sys.executable, "-c", WORK]
ROOT = {"PYTHONPATH": str(Path(__file__).parents[3])}


def test_ranks_that_hang_are_ended_with_the_time(folder: Path) -> None:
    (folder / "rank.py").write_text(RANK + "if rank: wait()")
    environment = {**scrubbed(folder / "home", 1), **ROOT}
    outcome = run(START, folder, environment, Limits(5, 2**34), threading.Event())
    assert outcome.ended == "it ran longer than 5 seconds"
    assert len(list(folder.glob("pid*"))) == COUNT and not living(folder)


def test_ranks_do_not_outlive_who_started_them(folder: Path) -> None:
    body = "import ctypes\nctypes.CDLL(None).prctl(1, 9)\nopen(f'set{rank}', 'w')\nwait()"
    (folder / "rank.py").write_text(RANK + body)
    starter = subprocess.Popen(START, env={**os.environ, **ROOT})
    _wait(lambda: len(list(folder.glob("set*"))) == COUNT)
    assert len(living(folder)) == COUNT
    starter.kill()
    starter.wait()
    _wait(lambda: not living(folder))
    assert not living(folder)


def _wait(done: object) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not done():  # type: ignore[operator]
        time.sleep(0.05)


# -- what only several devices show

SHUT_IN = "import os\nassert os.environ['CUDA_VISIBLE_DEVICES'] == '', os.environ['CUDA_VISIBLE_DEVICES']\n"


def test_a_rewrite_is_preserved_on_two_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    before = project("gan_on_two_ranks")
    for name, files in (("before", before), ("after", rewritten(before))):
        (tmp_path / name).mkdir()
        text = files["train.py"].replace("batch_size=1", "batch_size=1, shuffle=True")
        (tmp_path / name / "train.py").write_text(SHUT_IN + text)
    request = Request("g", ("OPT001",), ("train.py",), "2.6.6", "2.0.0", (), (), python=python_for(TARGET), timeout=240,
                      baseline_python=python_for("1.9.5"), accelerator="cpu", devices=2)  # fmt: skip
    said: list[str] = []
    evidence = prove(tmp_path / "before", tmp_path / "after", request, said.append)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    assert ", on 2 devices of kind cpu" in told_of(evidence)
    assert evidence.before and evidence.after and (evidence.before.devices, evidence.after.devices) == (2, 2)
    assert len(evidence.after.losses) == 2 * 4 and evidence.max_difference == 0
    assert any("`python train.py` on 2 devices" in line for line in said)
    assert said[-1].count("trained, step 4 of 4") == 2


def test_gradients_that_are_not_synchronised_are_seen_by_two_devices_alone() -> None:
    before = project("gan_on_two_ranks")
    after = rewritten(before)["train.py"]
    wrong = {"train.py": after.replace("sync_grad=stepping", "sync_grad=not stepping")}
    assert wrong["train.py"] != after
    for devices, verdict in ((1, "preserved"), (2, "changed")):
        old, new = recorded(before, "1.9.5", devices), recorded(wrong, TARGET, devices)
        judgement = judge(old, new, ())
        assert judgement.verdict == verdict, judgement.reason
        assert old.recording.devices == new.recording.devices == devices
    assert "weight generator.weight" in judgement.reason
