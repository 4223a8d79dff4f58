"""Fleets of real repositories, run by the command line, in processes of their own."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from fixer.errors import UsageError
from fixer.fleet import tasks
from fixer.fleet.asked import RepositoryOptions, read_fleet
from fixer.fleet.driver import RELEASED
from fixer.fleet.locking import alone
from fixer.fleet.pool import ProcessPool
from fixer.fleet.state import opened
from fixer.fleet.tasks import LOG, RUNS, FleetTask, arguments_of, environment, run_task
from tests.fixer.command import OLD, ROOT, Ask
from tests.fixer.command import environment as of_process
from tests.fixer.fleet.organisation import standing
from tests.fixer.forges import head
from tests.support import commit_all, git

BRANCH = "fixer/lightning-2.6.6"


def origins(folder: Path, names: list[str]) -> None:
    """Repositories that all have the same commit."""
    first = folder / names[0]
    first.mkdir(parents=True)
    (first / "train.py").write_bytes(OLD)
    commit_all(first)
    for name in names[1:]:
        git(folder, "clone", "--quiet", str(first), name)


def fleet_file(folder: Path, names: list[str], text: str = "[defaults]\nprove = false\n") -> Path:
    place = folder / "FLEET.toml"
    place.write_text(text + "".join(f'[[repository]]\naddress = "{name}"\n' for name in names))
    return place


def test_a_fleet_from_its_file_to_its_branches(ask: Ask, tmp_path: Path) -> None:
    names, state = ["a", "b", "c"], tmp_path / "state"
    origins(tmp_path, names)
    (tmp_path / "b" / "train.py").write_text("[" * 300)
    (tmp_path / "b" / "pyproject.toml").write_text("[tool.fixer]\nselectt = []\n")
    commit_all(tmp_path / "b")
    file = fleet_file(tmp_path, names)
    said = ask("fleet", "run", file, "--state", state)
    assert said.code == 1
    assert "3 repositories: 2 planned, 1 failed" in said.out
    assert "b: failed; pyproject.toml: [tool.fixer] unknown key 'selectt'" in said.out
    with opened(state) as held:
        found = {row.name: row for row in held.rows()}
        assert all(step.cpu > 0.1 for step in held.steps("a") if step.step == "plan")
    clone = next((state / "clones").glob("a-*/0/a"))
    assert git(clone, "rev-parse", BRANCH) == found["a"].head == found["c"].head
    assert [place.name for place in (state / "tasks").iterdir() if place.name.startswith(("a", "c"))] == []
    said = ask("fleet", "status", "--state", state, "--all")
    assert "a: planned; not proven; fixer/lightning-2.6.6; Ready to merge" in said.out
    (tmp_path / "b" / "pyproject.toml").unlink()
    (tmp_path / "b" / "train.py").write_bytes(OLD)
    commit_all(tmp_path / "b")
    assert "queued again: b" in ask("fleet", "retry", "--state", state).out
    said = ask("fleet", "run", file, "--state", state)
    assert said.code == 0 and "3 repositories: 3 planned" in said.out
    assert "none, since none failed" in ask("fleet", "retry", "--state", state).out


def test_a_run_that_names_nothing_goes_on_with_what_was_asked_for(ask: Ask, tmp_path: Path) -> None:
    origins(tmp_path, ["a", "b"])
    file, state = (
        fleet_file(tmp_path, ["a", "b"], "[fleet]\nproofs = 3\n[defaults]\nprove = false\n"),
        tmp_path / "of me",
    )
    with opened(state, make=True) as held:
        held.enroll(read_fleet([str(file)]).repositories)
        held.keep(read_fleet([str(file)]).options)
    said = ask("fleet", "run", "--state", state)
    assert said.code == 0 and "2 repositories: 2 planned" in said.out
    with opened(state) as held:
        assert held.fleet() == replace(read_fleet([str(file)]), defaults=RepositoryOptions())
    with alone(state):
        assert f"`fixer fleet run --state '{state}'` goes on" in ask("fleet", "stop", "--state", state).out
    with opened(tmp_path / "empty", make=True):
        pass
    for place in ("none", "empty"):
        assert "no repository is named" in ask("fleet", "run", "--state", tmp_path / place).complaint()


def test_nothing_is_noted_where_the_engine_cannot_be_had(ask: Ask, tmp_path: Path) -> None:
    origins(tmp_path, ["a"])
    options = ("--state", tmp_path / "state", "--release", "--address", "x")
    assert "that is Ray's" in ask("fleet", "run", tmp_path / "a", *options).complaint()
    with opened(tmp_path / "state") as held:
        assert held.rows() == [] and held.note(RELEASED) is None


def test_commands_without_a_fleet(ask: Ask, tmp_path: Path) -> None:
    for command in ("status", "retry", "stop"):
        said = ask("fleet", command, "--state", tmp_path / "none")
        assert "no fleet was run there; name the folder of one with --state" in said.complaint()
    with opened(tmp_path, make=True):
        pass
    assert "this fleet is not running" in ask("fleet", "stop", "--state", tmp_path).complaint()
    assert "no repository of the fleet is called 'x'" in ask("fleet", "retry", "x", "--state", tmp_path).complaint()
    assert "0 repositories: none yet" in ask("fleet", "status", "--watch", "--state", tmp_path).out
    assert "see `fixer fleet run --help`" in ask("fleet", "run", "--what").complaint()
    (tmp_path / "fleet.sqlite").write_text("rubbish" * 1000)
    assert "file is not a database" in ask("fleet", "status", "--state", tmp_path).complaint()


def test_one_run_at_a_time(ask: Ask, tmp_path: Path) -> None:
    origins(tmp_path, ["a"])
    with alone(tmp_path / "state"):
        said = ask("fleet", "run", fleet_file(tmp_path, ["a"]), "--state", tmp_path / "state")
        assert f"process {os.getpid()} runs this fleet already" in said.complaint()
        with opened(tmp_path / "state", make=True):
            pass
        assert "the run ends once what it is doing is done" in ask("fleet", "stop", "--state", tmp_path / "state").out


def test_a_lock_on_windows_is_of_one_place_whatever_stands_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: set[int] = set()

    def lock(descriptor: int, how: int, size: int) -> None:
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        if place in held:
            raise OSError
        held.add(place)

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=lock, LK_NBLCK=2))
    monkeypatch.setattr(sys, "platform", "win32")
    with alone(tmp_path), pytest.raises(UsageError, match=f"process {os.getpid()} runs this fleet"), alone(tmp_path):
        pass


def test_the_folder_of_a_fleet_is_nothing_to_git(ask: Ask, tmp_path: Path) -> None:
    origins(tmp_path, ["a"])
    with opened(tmp_path / "a" / "fixer-fleet", make=True):
        assert git(tmp_path / "a", "status", "--porcelain") == ""
    with opened(tmp_path / "a", make=True):
        assert "fleet.sqlite" in git(tmp_path / "a", "status", "--porcelain")


SECRET = "ghp_0123456789abcdef"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_task_knows_no_secret_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "PIP_TOKEN", "GIT_CONFIG_VALUE_0", "MINE"):
        monkeypatch.setenv(name, SECRET)
    origins(tmp_path, ["a"])
    task = FleetTask(
        "a", "plan", str(tmp_path / "a"), str(tmp_path / "task"), arguments_of(RepositoryOptions(), plan=True), 100
    )
    shown: list[bytes] = []
    with monkeypatch.context() as patched:
        patched.setattr(tasks, "_looked", lambda process: shown.extend(seen_of(process)) or looked(process))
        outcome = run_task(task)
    assert outcome.code == 0
    assert any(b"PATH=" in text for text in shown) and any(b"fixer.fleet.child" in text for text in shown)
    assert not [text for text in shown if SECRET.encode() in text]
    assert list((tmp_path / "task" / RUNS).glob("*/*/result.json"))
    assert SECRET not in "".join(environment(os.environ, tmp_path).values())


looked = tasks._looked


def seen_of(process: subprocess.Popen[bytes]) -> list[bytes]:
    """What the system shows of a process that has not ended."""
    with suppress(OSError):
        return [Path(f"/proc/{process.pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
    return []


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("apart", [False, True])
def test_what_does_not_end_when_it_is_asked_to_is_killed_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    deaf = "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    code = f"{deaf} subprocess.Popen(['sleep', '97'], start_new_session={apart}); print(1, flush=True); time.sleep(97)"
    monkeypatch.setattr(tasks, "_GRACE_S", 0.5)
    (program := tmp_path / "program").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}"\n')
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    pool, log = ProcessPool(1, 1), tmp_path / "task" / LOG
    ended = pool.submit(FleetTask("a", "plan", str(tmp_path), str(tmp_path / "task"), (), 100))
    while not (log.is_file() and log.read_text()):
        time.sleep(0.05)
    started = [one for one in psutil.Process().children(recursive=True) if one.name() == "sleep"]
    pool.close()
    assert ended.result().code is None and started
    assert not psutil.wait_procs(started, timeout=5)[1]


def test_a_task_is_told_what_installers_are_told_and_no_token(tmp_path: Path) -> None:
    told = (
        "PIP_INDEX_URL",
        "UV_INDEX_ACME_PASSWORD",
        "HTTPS_PROXY",
        "https_proxy",
        "NETRC",
        "LC_ALL",
        "XDG_CACHE_HOME",
    )
    kept = ("UV_GITHUB_TOKEN", "UV_GITHUB_token", "UV_PUBLISH_PASSWORD", "PIP_TARGET", "XDG_MY_password", "HF_TOKEN")
    found = environment(dict.fromkeys((*told, *kept), SECRET), tmp_path)
    assert {name for name, value in found.items() if value == SECRET} == set(told)


def test_a_task_is_ended_after_its_time(tmp_path: Path) -> None:
    origins(tmp_path, ["a"])
    task = FleetTask("a", "plan", str(tmp_path / "a"), str(tmp_path / "task"), (), 0.2)
    began = time.monotonic()
    assert run_task(task).code is None
    assert time.monotonic() - began < 15


@pytest.mark.skipif(sys.platform != "linux", reason="children end with the driver on Linux alone")
def test_a_fleet_that_is_killed_goes_on_to_the_same_end(tmp_path: Path) -> None:
    names = [f"r{number}" for number in range(10)]
    origins(tmp_path, names)
    file, state, dice = fleet_file(tmp_path, names), tmp_path / "state", random.Random(24)
    for whom in ("asked to end", "driver", "worker", "driver"):
        run = started(file, state)
        lines = iter(run.stderr or ())
        for _ in range(dice.randrange(4, 8)):
            next(lines, None)
        time.sleep(dice.random())
        children = psutil.Process(run.pid).children(recursive=True)
        if whom == "worker" and children:
            children[0].kill()
        else:
            run.send_signal(signal.SIGKILL if whom == "driver" else signal.SIGTERM)
        rest = run.communicate()[1]
        assert "Traceback" not in rest
        assert whom != "asked to end" or (run.returncode == 130 and "fixer: interrupted" in rest)
        _, alive = psutil.wait_procs(children, timeout=20)
        assert not alive
    run = started(file, state)
    said = run.communicate()
    assert run.returncode == 0, said
    with opened(state) as held:
        found = held.rows()
        assert {step.outcome for step in held.steps()} == {"done"}
    assert {(row.state, row.doing, row.reason, row.verdict) for row in found} == {("planned", "", "", "not proven")}
    assert len({row.base for row in found}) == len({row.head for row in found}) == 1
    heads = {git(place, "rev-parse", BRANCH) for row in found for place in (state / "clones").glob(f"{row.name}-*/*/*")}
    assert heads == {found[0].head}


def started(file: Path, state: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fixer", "fleet", "run", str(file), "--state", str(state)]
    return subprocess.Popen(
        command, cwd=ROOT, env=of_process({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_proof_and_what_it_says_reach_the_pull_request(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"import lightning\n\nprint(lightning)  # fixer: ignore[LIT101]\n"
    with standing(tmp_path, monkeypatch) as acme:
        origin = acme.add("a", {"train.py": text})
        (tmp_path / "FLEET.toml").write_text(
            '[defaults]\ndeliver = "pull-request"\nrequire = "conforms"\n'
            f'[[repository]]\naddress = "{acme.address}/acme/a.git"\n'
        )
        said = ask("fleet", "run", tmp_path / "FLEET.toml", "--state", tmp_path / "state")
        assert said.code == 0, said
        (pull,) = acme.api("a").requests
    with opened(tmp_path / "state") as held:
        (row,) = held.rows()
        assert {step.step for step in held.steps()} == {"clone", "plan", "prove", "deliver"}
    assert (row.state, row.verdict) == ("delivered", "inconclusive")
    assert row.reason == f"pull request opened: {row.pull_request}"
    assert head(origin) == row.head
    assert "no script was found that builds a Trainer" in pull.body and "IGN001" in pull.body


def test_all_are_looked_at_anew_where_that_is_asked_for(ask: Ask, tmp_path: Path) -> None:
    origins(tmp_path, ["a"])
    file, state = fleet_file(tmp_path, ["a"], ""), tmp_path / "state"
    assert ask("fleet", "run", file, "--state", state, "--no-verify").code == 0
    (tmp_path / "a" / "train.py").write_text("print(1)\n")
    newest = commit_all(tmp_path / "a")
    assert "1 planned" in ask("fleet", "run", file, "--state", state, "--no-verify").out
    assert "1 left out" in ask("fleet", "run", file, "--state", state, "--no-verify", "--again").out
    with opened(state) as held:
        (row,) = held.rows()
    assert (row.base, row.reason) == (newest, "nothing to change")
