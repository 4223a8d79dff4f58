from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from verify.sandbox.process import Limits, Outcome, Stopped, run, scratch, scrubbed

ROOMY = Limits(30, 8 * 2**30)


def python(folder: Path, code: str, limits: Limits = ROOMY) -> Outcome:
    environment = scrubbed(folder, 1)
    return run([sys.executable, "-c", code], folder, environment, limits, threading.Event())


def test_status_and_output_come_back(tmp_path: Path) -> None:
    outcome = python(tmp_path, "import sys; print('said'); sys.exit(3)")
    assert (outcome.status, outcome.output, outcome.ended) == (3, "said\n", None)


def test_a_program_that_hangs_is_ended_although_it_ignores_the_polite_signal(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    outcome = python(tmp_path, code, Limits(1, 2**33))
    assert outcome.ended == "it ran longer than 1 seconds"
    assert outcome.seconds < 20


def test_children_that_left_the_group_are_ended(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    code = f"""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open({str(beat)!r}, "a").write("x")
            time.sleep(0.02)
    os._exit(0)
time.sleep(0.5)
"""
    outcome = python(tmp_path, code)
    assert outcome.status == 0
    size = beat.stat().st_size
    time.sleep(0.3)
    assert size > 0
    assert beat.stat().st_size == size


def test_who_left_the_session_and_the_environment_is_known_by_descent(tmp_path: Path) -> None:
    """It is followed while it runs: when its parent has ended, nothing of it tells where it came from."""
    beat = f"import time\nwhile True: open({str(tmp_path / 'beat')!r}, 'a').write('x'); time.sleep(0.02)"
    code = f"""
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    subprocess.Popen([sys.executable, "-c", {beat!r}], env={{}}, start_new_session=True)
    time.sleep(1)
    os._exit(0)
os.wait()
time.sleep(0.5)
"""
    assert python(tmp_path, code).status == 0
    size = (tmp_path / "beat").stat().st_size
    time.sleep(0.3)
    assert (tmp_path / "beat").stat().st_size == size > 0


def test_memory_is_bounded_over_all_processes(tmp_path: Path) -> None:
    code = "import os, time; os.fork(); os.fork(); kept = b'x' * 200_000_000; time.sleep(60)"
    outcome = python(tmp_path, code, Limits(50, 400 * 2**20))
    assert outcome.ended == "it used more than 0.4 GiB of memory"
    assert outcome.seconds < 30


def test_processes_are_bounded(tmp_path: Path) -> None:
    code = "import os, time\nfor _ in range(4): os.fork()\ntime.sleep(60)"
    outcome = python(tmp_path, code, Limits(50, 8 * 2**30, processes=8))
    assert outcome.ended == "it started more than 8 processes"


def test_what_is_written_in_small_pieces_is_kept(tmp_path: Path) -> None:
    outcome = python(tmp_path, "import time\nfor i in range(100): print(i, flush=True); time.sleep(0.001)")
    assert outcome.output.split() == [str(number) for number in range(100)]


def test_only_the_end_of_much_output_is_kept(tmp_path: Path) -> None:
    outcome = python(tmp_path, "print('x' * 50_000_000); print('last')")
    assert outcome.status == 0
    assert outcome.output.endswith("last\n")
    assert len(outcome.output) <= 64 * 1024


def test_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert "EOFError" in python(tmp_path, "input()").output


def test_the_environment_holds_no_secret_and_files_go_to_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "HTTPS_PROXY", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "secret-value")
    outcome = python(tmp_path, "import os; print(os.environ); print(os.path.expanduser('~'))")
    assert "secret-value" not in outcome.output
    assert outcome.output.splitlines()[-1] == str(tmp_path / "home")


def test_what_is_stopped_raises_and_is_ended(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    started = time.monotonic()
    with pytest.raises(Stopped):
        run([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, scrubbed(tmp_path, 1), ROOMY, stop)
    assert time.monotonic() - started < 20


def test_scratch_is_gone_afterwards_also_when_it_was_made_unreadable() -> None:
    with scratch() as folder:
        closed = folder / "closed"
        closed.mkdir()
        (closed / "file").write_text("x")
        closed.chmod(0)
    assert not folder.exists()


def test_scratch_clears_what_a_killed_run_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stale, other = tmp_path / "fixer-verify-999999999-x", tmp_path / "other"
    stale.mkdir()
    other.mkdir()
    with scratch():
        assert not stale.exists()
    assert other.exists()
