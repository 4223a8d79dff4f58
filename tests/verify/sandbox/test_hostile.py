"""Code that tries to get out, to stay, or to take all there is: once for each way in which it can be shut in."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from verify.judging.record import events, read
from verify.sandbox.containment import Containment, ways
from verify.sandbox.process import Limits, Outcome, run, scrubbed

ROOMY = Limits(30, 2 * 2**30)
SECRET = "a-token-of-the-user"


with tempfile.TemporaryDirectory() as _folder:
    WAYS = tuple(ways(Path(_folder)))
"""How programs can be shut in on this machine, the best first; limits alone there always are."""


def _named(way: Containment) -> str:
    return "bubblewrap" if way.bubblewrap else way.level


@pytest.fixture(params=WAYS, ids=_named)
def way(request: pytest.FixtureRequest) -> Containment:
    """Every way that there is here."""
    found: Containment = request.param
    return found


@pytest.fixture(params=[way for way in WAYS if way.level == WAYS[0].level], ids=_named)
def best(request: pytest.FixtureRequest) -> Containment:
    """The most that this machine lets us arrange, by whichever program."""
    found: Containment = request.param
    return found


def attack(folder: Path, way: Containment, code: str, limits: Limits = ROOMY) -> Outcome:
    """Run hostile code as a project's is run."""
    own = folder / "own"
    (own / "tree").mkdir(parents=True, exist_ok=True)
    needs = (sys.prefix, sys.base_prefix, *sys.path)
    command = way.command([sys.executable, "-I", "-c", code], own, needs, limits)
    return run(command, own / "tree", scrubbed(own, 1), limits, threading.Event(), own)


def still(beat: Path) -> bool:
    """Whether nobody writes to a file any more; somebody must have."""
    size = beat.stat().st_size
    time.sleep(0.3)
    return size > 0 and beat.stat().st_size == size


BEAT = """
import os, sys, time
def beat():
    while True:
        open("beat", "a").write("x")
        time.sleep(0.02)
"""
TOO_MUCH = "for n in range(4): open(f'much{n}', 'wb').write(b'x' * 2**20)"
SMALL_DISK = Limits(60, 2**31, disk=2 * 2**20)
"""A limit that `TOO_MUCH` breaks when the program is ready, however long it took to start."""


def test_a_fork_bomb_is_ended_with_all_its_processes(tmp_path: Path, way: Containment) -> None:
    code = BEAT + "open('beat', 'a').write('x')\nwhile True:\n    os.fork()\n    open('beat', 'a').write('x')"
    outcome = attack(tmp_path, way, code, Limits(20, 2**33, processes=30))
    assert outcome.ended == "it started more than 30 processes"
    assert still(tmp_path / "own/tree/beat")


def test_threads_are_bounded_also_where_the_kernel_does_not_count_them(tmp_path: Path, way: Containment) -> None:
    """It counts none of root's; where it counts them, no more can be started."""
    code = """
import threading, time
threading.stack_size(64 * 1024)
try:
    while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
except RuntimeError as error:
    raise SystemExit(str(error))
"""
    outcome = attack(tmp_path, way, code, Limits(20, 2**33, processes=4))
    assert outcome.ended == "it started more than 64 threads" or "can't start new thread" in outcome.output


def test_each_process_has_its_limits(tmp_path: Path, way: Containment) -> None:
    """It cannot raise them again, where it is not what a root of the whole system starts."""
    code = """
import resource
raised = []
for name in ("CPU", "FSIZE", "NOFILE", "CORE", "NPROC"):
    number = getattr(resource, "RLIMIT_" + name)
    soft, hard = resource.getrlimit(number)
    print(name, soft == hard, hard)
    try: resource.setrlimit(number, (soft, hard + 1)); raised.append(name)
    except (OSError, ValueError): pass
print(raised)
files = []
try:
    while True: files.append(open("/dev/null"))
except OSError as error: print(len(files) < 4096, error.strerror)
"""
    limits = Limits(7, 2**31, processes=5, disk=3 * 2**20)
    *told, tasks, raised, files = attack(tmp_path, way, code, limits).output.splitlines()
    seconds = 7 * (os.cpu_count() or 1) + 10
    assert told == [f"CPU True {seconds}", f"FSIZE True {3 * 2**20}", "NOFILE True 4096", "CORE True 0"]
    assert tasks.startswith("NPROC True ")
    assert raised == "[]" or way.level == "limits"
    assert files == "True Too many open files"


def test_it_has_folders_of_its_own(tmp_path: Path, way: Containment, monkeypatch: pytest.MonkeyPatch) -> None:
    """For what it keeps at home, in caches and settings, and for a while."""
    places = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TORCH_HOME", "HF_HOME")
    for name in (*places, "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "PIP_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "users"))
    code = f"""
import os, pathlib, tempfile
for place in [*map(os.environ.get, {places!r}), tempfile.gettempdir()]:
    pathlib.Path(place, "kept").parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(place, "kept").write_text("x")
    print(place)
print("users" in str(os.environ))
"""
    *told, users = attack(tmp_path, way, code).output.splitlines()
    assert len(told) == len(places) + 1
    assert all(Path(place).is_relative_to(tmp_path / "own") for place in told)
    assert all((Path(place) / "kept").is_file() for place in told)
    assert (users, (tmp_path / "users").exists()) == ("False", False)


def test_who_leaves_group_session_and_environment_is_ended(tmp_path: Path, way: Containment) -> None:
    code = f"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-I", "-c", {BEAT + "beat()"!r}], {{}})
    os._exit(0)
time.sleep(0.5)
"""
    assert attack(tmp_path, way, code).status == 0
    assert still(tmp_path / "own/tree/beat")


def test_who_kills_its_parent_ends_nobody_but_itself(tmp_path: Path, way: Containment) -> None:
    code = (
        BEAT
        + """
import signal
if os.fork() == 0:
    os.setsid()
    beat()
time.sleep(0.3)
parent = os.getppid()
os.kill(parent, signal.SIGKILL)
time.sleep(0.2)
print("outlived", os.getppid() == parent)
"""
    )
    outcome = attack(tmp_path, way, code)
    assert outcome.output.strip() == ("outlived True" if way.level == "full" else "")
    assert still(tmp_path / "own/tree/beat")


def test_who_does_not_hear_the_polite_signal_is_ended(tmp_path: Path, best: Containment) -> None:
    deaf = """
import signal
for number in {*signal.valid_signals()} - {signal.SIGKILL, signal.SIGSTOP, 32, 33}:
    signal.signal(number, signal.SIG_IGN)
open("beat", "a").write("x")
"""
    outcome = attack(tmp_path, best, f"{BEAT}{deaf}{TOO_MUCH}\nbeat()", SMALL_DISK)
    assert outcome.ended == "it wrote more than 0.0 GiB"
    assert still(tmp_path / "own/tree/beat")


def test_where_no_processes_are_listed_the_group_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the system keeps them from us, and nothing ends a program with its starter either."""
    monkeypatch.setattr("verify.sandbox.process._children", lambda process: [])
    monkeypatch.setattr("verify.sandbox.process.psutil.process_iter", list)
    monkeypatch.chdir(tmp_path)
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
for _ in range(1000):
    open("beat", "a").write("x")
    time.sleep(0.02)
"""
    command = Containment("limits").command([sys.executable, "-I", "-c", code], tmp_path, (), ROOMY)
    jail = command[command.index("-S") + 1]
    plain = (
        f"import sys, pathlib; sys.path.insert(0, {str(Path(jail).parent)!r}); import jail; sys.path.pop(0)\n"
        "jail.PROC, jail.control = pathlib.Path('/nowhere'), lambda *_: None\n"
        "sys.exit(jail.main(sys.argv[1], sys.argv[2:]))"
    )
    shut_in = [sys.executable, "-I", "-S", "-c", plain, *command[command.index(jail) + 1 :]]
    outcome = run(shut_in, tmp_path, scrubbed(tmp_path, 1), Limits(1.5, 2**31), threading.Event())
    assert outcome.ended == "it ran longer than 1.5 seconds"
    assert still(tmp_path / "beat")


def test_who_is_told_to_end_may_say_goodbye(tmp_path: Path, way: Containment) -> None:
    code = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit('goodbye'))\n"
    outcome = attack(tmp_path, way, f"{code}{TOO_MUCH}\ntime.sleep(60)", SMALL_DISK)
    assert (outcome.output.strip(), outcome.ended) == ("goodbye", "it wrote more than 0.0 GiB"), outcome


def test_how_a_program_ended_is_told(tmp_path: Path, way: Containment) -> None:
    assert attack(tmp_path, way, "raise SystemExit(7)").status == 7
    status = attack(tmp_path, way, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").status
    assert status in (-11, 128 + 11)


def test_endless_output_is_capped_and_its_end_kept(tmp_path: Path, way: Containment) -> None:
    said = "os.write(1, b'word ' * 9999)"
    code = f"import os\n{said}\n{TOO_MUCH}\nwhile True: {said}"
    outcome = attack(tmp_path, way, code, SMALL_DISK)
    assert outcome.ended == "it wrote more than 0.0 GiB"
    assert 0 < len(outcome.output) <= 64 * 1024
    assert set(outcome.output.split()) <= {"word", "w", "wo", "wor", "ord", "rd", "d"}


def test_there_is_nothing_to_read_from(tmp_path: Path, way: Containment) -> None:
    code = "import os, sys\nprint(repr(sys.stdin.read()))\ntry: open('/dev/tty')\nexcept OSError: print('no terminal')"
    assert attack(tmp_path, way, code).output == "''\nno terminal\n"


def test_memory_ends(tmp_path: Path, way: Containment) -> None:
    outcome = attack(tmp_path, way, "kept = []\nwhile True: kept.append(b'x' * 30_000_000)", Limits(30, 3 * 10**8))
    assert "GiB of memory" in (outcome.ended or "") or "MemoryError" in outcome.output


def test_the_disk_ends(tmp_path: Path, way: Containment) -> None:
    many = "for n in range(10**6): open(f'file{n}', 'wb').write(b'x' * 5_000_000)"
    outcome = attack(tmp_path, way, many, Limits(60, 2**31, disk=40 * 2**20))
    assert outcome.ended == "it wrote more than 0.0 GiB"
    large = "open('large', 'wb').write(b'x' * 50_000_000)"
    assert "File too large" in attack(tmp_path, way, large, Limits(60, 2**31, disk=40 * 2**20)).output


def test_no_privilege_is_left_or_gained(tmp_path: Path, best: Containment) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print([line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapPrm", "CapBnd"))])
print(libc.mount(None, b"/usr", None, 32 | 4096, None), libc.umount2(b"/usr", 2), libc.unshare(0x10000000))
"""
    assert attack(tmp_path, best, code).output.splitlines() == ["['0000000000000000', '0000000000000000']", "-1 -1 -1"]


# what cannot be had on every machine: the evidence says so instead


@pytest.fixture
def token() -> Iterator[None]:
    """A process of the user's with a secret in its environment."""
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    child = subprocess.Popen(command, env={**os.environ, "GITHUB_TOKEN": SECRET})
    yield
    child.kill()
    child.wait()


def test_the_environments_of_other_processes_are_not_read(
    tmp_path: Path, best: Containment, token: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    code = """
import glob, os
print(os.environ)
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try: print(open(path).read())
    except OSError: pass
print("looked")
"""
    outcome = attack(tmp_path, best, code)
    assert "looked" in outcome.output
    assert SECRET not in outcome.output or "processes of yours" in best.said


def test_files_of_the_user_are_neither_read_nor_written(
    tmp_path: Path, best: Containment, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "user"
    home.mkdir()
    kept = home / "kept"
    kept.write_text(SECRET)
    monkeypatch.setenv("HOME", str(home))
    code = f"""
import os, pathlib
for place in ({str(kept)!r}, {str(home / "new")!r}, "/etc/planted", "/usr/planted", "/tmp/planted-by-fixers-test"):
    try: print(pathlib.Path(place).read_text())
    except OSError: pass
    try: pathlib.Path(place).write_text("planted")
    except OSError: pass
print(os.path.expanduser("~"), os.path.exists("/etc/shadow"), os.path.exists({str(Path.home())!r}))
"""
    if best.level != "full":
        assert "files" in best.said
        return
    outcome = attack(tmp_path, best, code)
    assert outcome.output.splitlines()[-1] == f"{tmp_path / 'own/home'} False False"
    assert SECRET not in outcome.output
    assert (kept.read_text(), sorted(home.iterdir())) == (SECRET, [kept])
    assert not any(Path(place).exists() for place in ("/etc/planted", "/usr/planted", "/tmp/planted-by-fixers-test"))


def test_a_folder_below_the_root_is_the_program_s_own(tmp_path: Path, best: Containment) -> None:
    """Projects keep what they train in places of their authors' machines, such as `/checkpoints`."""
    if best.level != "full":
        assert "files" in best.said
        return
    place = Path("/kept-by-fixers-test/deeper/model.ckpt")
    code = f"""
import pathlib
place = pathlib.Path({str(place)!r})
place.parent.mkdir(parents=True)
place.write_bytes(b"x" * 20_000_000)
print(place.stat().st_size, pathlib.Path("/etc/shadow").exists())
"""
    outcome = attack(tmp_path, best, code)
    assert outcome.output.splitlines()[-1] == "20000000 False"
    assert not place.parent.parent.exists()


def test_links_that_a_program_lays_lead_the_next_one_nowhere(tmp_path: Path, best: Containment) -> None:
    if best.level != "full":
        assert "files" in best.said
        return
    kept = tmp_path / "kept"
    kept.mkdir()
    lay = f"""
import os, pathlib
os.chdir({str(tmp_path / "own")!r})
for place in [pathlib.Path("private"), *pathlib.Path().glob("private*"), *pathlib.Path().glob("private*/*")]:
    try: place.rename(f"{{place}}-before")
    except OSError: pass
    try: place.symlink_to({str(kept)!r})
    except OSError: pass
"""
    plant = """
import pathlib
for place in ("/data", "/tmp", "/made", "/var"):
    pathlib.Path(place).mkdir(exist_ok=True)
    pathlib.Path(place, "planted").write_text("planted")
print("done")
"""
    attack(tmp_path, best, lay)
    assert attack(tmp_path, best, plant).output.splitlines()[-1] == "done"
    assert list(kept.iterdir()) == []


def test_nothing_is_reached_over_the_network(tmp_path: Path, best: Containment) -> None:
    if best.level == "limits":
        assert "network on" in best.said
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        code = f"""
import socket
for place in (("127.0.0.1", {server.getsockname()[1]}), ("192.0.2.1", 9)):
    try: socket.create_connection(place, 2); print("reached")
    except OSError as error: print(error.strerror)
with socket.create_server(("127.0.0.1", 0)) as own:
    socket.create_connection(own.getsockname(), 2); print("talks to itself")
"""
        outcome = attack(tmp_path, best, code)
        assert outcome.output.splitlines() == ["Connection refused", "Network is unreachable", "talks to itself"]
        with pytest.raises(TimeoutError):
            server.accept()


def test_what_is_named_can_be_read_but_not_written(tmp_path: Path, best: Containment) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "x.csv").write_text("1,2")
    own = tmp_path / "own"
    code = f"p = {str(data / 'x.csv')!r}\nprint(open(p).read())\nopen(p, 'w')"
    shut_in = replace(best, readable=(data,))
    command = shut_in.command([sys.executable, "-I", "-c", code], own, (sys.prefix, sys.base_prefix, *sys.path), ROOMY)
    outcome = run(command, own, scrubbed(own, 1), ROOMY, threading.Event(), own)
    assert "1,2\n" in outcome.output
    if best.level == "full":
        assert "Read-only file system" in outcome.output
        assert str(data) in shut_in.said


def test_what_links_lead_to_is_read_and_written_through_them(tmp_path: Path, best: Containment) -> None:
    own, needs, data = tmp_path / "own", tmp_path / "needs", tmp_path / "data"
    for folder in (own, needs, data):
        folder.mkdir()
    (data / "x").write_text("1,2")
    (needs / "link").symlink_to(data)
    (tmp_path / "mine").symlink_to(own)
    code = "open('/dev/null', 'w').write('x')\n"
    code += f"print(open({str(needs / 'link' / 'x')!r}).read())\n"
    code += f"open({str(tmp_path / 'mine' / 'y')!r}, 'w').write('z')"
    places = ["/dev/null", str(needs), str(needs / "link"), sys.prefix, sys.base_prefix]
    command = best.command([sys.executable, "-I", "-c", code], own, places, ROOMY, [tmp_path / "mine"])
    outcome = run(command, own, scrubbed(own, 1), ROOMY, threading.Event(), own)
    assert (outcome.output, outcome.status) == ("1,2\n", 0)
    assert (own / "y").read_text() == "z"


def test_a_record_that_is_not_the_harness_s_is_no_evidence(tmp_path: Path) -> None:
    forged = tmp_path / "forged"
    forged.write_text('{"event": "loss"}\n{"event": "step", "rates": 1}\n')
    raw = read(forged, "train.py")
    assert not raw.recording.fitted
    assert "cannot be read" in (raw.ended or "")
    kept, link, pipe = tmp_path / "kept", tmp_path / "link", tmp_path / "pipe"
    kept.write_text('{"event": "fitted"}\n')
    link.symlink_to(kept)
    os.mkfifo(pipe)
    assert (list(events(kept)), list(events(link)), list(events(pipe))) == ([{"event": "fitted"}], [], [])
