"""What runs in a process that has loaded torch sees and does what it would in one that is started anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import warm
from tests.verify.harness.test_gradients import PROGRAM
from verify.harness import HARNESS
from verify.sandbox import process
from verify.sandbox.containment import Containment, ways
from verify.sandbox.process import Limits, Outcome, scrubbed

pytestmark = pytest.mark.skipif(not warm.IS_POSSIBLE, reason="where it cannot be, every program is started anew")

SEES = """
import atexit, json, os, sys
secret = sys.argv[1]
try:
    seen = open(secret).read()
except OSError:
    seen = None
atexit.register(print, "the end")
def is_handed_on(number):
    try:
        return os.get_inheritable(number)
    except OSError:
        return False
told = {
    "argv": sys.argv[1:], "name": __name__, "file": __file__, "main": sys.modules["__main__"].__file__,
    "path": sys.path, "here": os.getcwd(), "variables": {name: os.environ[name] for name in sorted(os.environ)},
    "stdin": sys.stdin.read(), "secret": seen, "left": sorted(name for name in sys.modules if "warm" in name),
    "changed": getattr(sys, "changed", None), "privileges": open("/proc/self/status").read().count("NoNewPrivs:\\t1"),
    "open": [int(each) for each in os.listdir("/proc/self/fd") if 2 < int(each) < 64 and is_handed_on(int(each))],
}
sys.changed = 1
print(json.dumps(told))
sys.stdout.flush()
%s
"""


@pytest.fixture
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for processes that no other tests use."""
    monkeypatch.setattr(warm, "FOLDER", tmp_path / "apart")
    monkeypatch.setattr(warm, "_SERVED", {})
    monkeypatch.setattr(warm, "_STARTED", [])
    (tmp_path / "apart").mkdir()
    return tmp_path / "apart"


def hot(command: Sequence[str], **how: Any) -> warm.Started:
    """The start that is tested, which must not have been one anew."""
    child = warm.opened(command, **how)
    assert isinstance(child, warm.Started)
    return child


def ran(how: Containment, folder: Path, name: str, end: str, monkeypatch: pytest.MonkeyPatch) -> list[Outcome]:
    """How a program ends that is started anew, and in a process that has loaded torch."""
    script, secret = folder / "harness" / "main.py", folder / "secret"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(SEES % end)
    secret.write_text("told to nobody")
    found = []
    for start in (subprocess.Popen, hot):
        home = folder / name
        home.mkdir(exist_ok=True)
        monkeypatch.setattr(process, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": start}))
        limits = Limits(60, 8 * 2**30)
        needs = [*map(str, (sys.prefix, sys.base_prefix, script.parent, warm.SERVER.parent)), *sys.path]
        words = how.command([sys.executable, str(script), str(secret)], home, needs, limits)
        found.append(process.run(words, home, scrubbed(home, 1), limits, threading.Event(), home))
    return found


def told(outcome: Outcome) -> Mapping[str, Any]:
    seen: dict[str, Any] = json.loads(outcome.output.splitlines()[0])
    seen["variables"].pop("FIXER_RUN")
    return seen


@pytest.mark.parametrize("number", range(4))
def test_a_program_sees_and_ends_as_one_that_is_started_anew(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However far it is shut in, and as often as one is started."""
    ending = ["sys.exit(3)", "os.kill(os.getpid(), 9)", "raise ValueError('no')", "raise KeyboardInterrupt"][number]
    shut_in = [way for way in ways(tmp_path / "tried") if not way.bubblewrap]
    assert shut_in or not os.environ.get("CI")
    for how in [*shut_in, Containment("none")]:
        anew, warmed = ran(how, tmp_path, how.level, ending, monkeypatch)
        assert told(warmed) == told(anew)
        assert (told(warmed)["secret"] is None) == (how.level == "full")
        assert warmed.status == anew.status != 0 and warmed.ended is anew.ended is None
        assert warmed.output.splitlines()[1:][-1:] == anew.output.splitlines()[1:][-1:]


def test_a_program_that_does_not_end_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": hot}))
    script = tmp_path / "harness" / "main.py"
    script.parent.mkdir()
    script.write_text("import os, time\nif os.fork():\n    print(os.getpid(), flush=True)\ntime.sleep(600)\n")
    command = [sys.executable, str(script), "spec.json"]
    outcome = process.run(command, tmp_path, scrubbed(tmp_path / "home", 1), Limits(2, 2**34), threading.Event())
    assert outcome.ended == "it ran longer than 2 seconds"
    assert not Path("/proc", outcome.output.strip()).exists()


def test_a_program_of_an_interpreter_without_torch_is_started_anew(tmp_path: Path, apart: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    spec = {"mode": "train", "script": "train.py", "args": [], "seconds": 100, "record": str(tmp_path / "record"),
            "namespaces": ["lightning.pytorch"], "scratch": str(tmp_path)}  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    assert warm.run(tmp_path / "spec.json", tmp_path, tmp_path / "bare" / "bin" / "python").returncode == 3
    (event,) = map(json.loads, (tmp_path / "record").read_text().splitlines())
    assert (event["event"], event["type"]) == ("unusable", "ModuleNotFoundError")
    assert list(apart.iterdir()) == []


def test_programs_that_start_at_once_have_one_process_for_all() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(warm.serving, [sys.executable] * 4))
    assert len(found) == 1 and None not in found


def test_the_harness_records_the_same_of_a_training(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["lightning.pytorch"],
        "seed": 1, "seconds": 100, "limit_train_batches": 4, "limit_val_batches": 1, "max_epochs": 1,
        "functions": ["train.py:13"], "scratch": str(tmp_path / "scratch"),
    }  # fmt: skip
    events = []
    for name, start in (("cold", subprocess.Popen), ("hot", hot)):
        (tmp_path / "spec.json").write_text(json.dumps({**spec, "record": str(tmp_path / name)}))
        command = [sys.executable, str(HARNESS), str(tmp_path / "spec.json")]
        with start(command, cwd=tmp_path, env=dict(os.environ), stdout=subprocess.PIPE) as child:
            child.stdout.read()
            assert child.wait() == 0
        lines = (tmp_path / name).read_text().splitlines()
        events.append([{**json.loads(line), "at": None, "peak_memory": None} for line in lines])
    assert events[0] == events[1]
    assert {"start", "loss", "step", "fitted", "loaded", "end"} <= {event["event"] for event in events[0]}


def test_a_process_that_ended_is_replaced(apart: Path) -> None:
    first = warm.serving(sys.executable)
    (started,) = warm._STARTED
    started.kill()
    started.wait()
    second = warm.serving(sys.executable)
    assert second is not None and second is not first and len(warm._STARTED) == 2
    assert warm.serving(sys.executable) is second


def test_it_serves_all_processes_of_a_run_and_ends_with_the_last(apart: Path) -> None:
    first = warm.Server(sys.executable, apart / "one")
    second = warm.Server(sys.executable, apart / "one")
    (started,) = warm._STARTED
    del first
    with second.connected():
        assert started.poll() is None
    del second
    assert started.wait(timeout=60) == 0 and not apart.exists()
