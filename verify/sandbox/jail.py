"""Starts a program within limits and, as far as the system lets us, where it sees nothing but what it needs.

Started by path: `python -I -S jail.py SPEC COMMAND...`, with SPEC a JSON object: `level`, `limits` (by the names of
the resource module), `tasks` (processes and threads at once, which the kernel does not count for root), `writable`
and `readable` folders, `private` (a folder of ours to build in), `shared` (bytes of shared memory) and `online`, which
leaves "full" the network. Uses the standard library alone. The program ends when its starter does, and we end as it
ended, with all that it started; with 125 where it could not be shut in.

Beside another program that shuts in, it is started twice: "outside" starts that one, without limits, and ends what it
leaves; "inside" sets the limits and becomes the program.

Levels: "limits" has only those; "network" is a user and a network namespace of its own, without a network in it;
"full" also has a process and a mount namespace: the system's programs and libraries and the readable folders can be
read, the writable ones written, and nothing else is there, no process of others and no home either: where people keep
data are empty folders of the program's own, and so is what it makes anywhere else. In both of them no capability is
left, and none can be gained.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/sys", "/nix/store", "/gnu/store",
    "/run/current-system", "/run/opengl-driver", "/etc/alternatives", "/etc/fonts", "/etc/group", "/etc/hosts",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/machine-id", "/etc/mime.types",
    "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/pki/tls/certs", "/etc/ssl/certs", "/etc/OpenCL",
)  # fmt: skip
OUTSIDE = (
    "/home", "/root", "/Users", "/data", "/datasets", "/mnt", "/media", "/scratch", "/raid", "/storage", "/srv",
    "/workspace", "/content", "/kaggle", "/path",
)  # fmt: skip
"""Where people keep data, and where examples say it is (`/path/to/data`): empty folders of the program's own, thrown
away with it, whatever is there outside."""
DEVICES = ("null", "zero", "full", "random", "urandom", "kfd", "dri", "dxg", "nvidia*", "accel*")
REFUSED = 125
PROC = Path("/proc/self")
"""Where there is none, a program stays in our group, which is then ended too: nothing that it left comes to us."""

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _BIND, _REC, _PRIVATE, _DETACH = 1, 2, 4, 4096, 16384, 1 << 18, 2
_MOUNT_SETATTR, _PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}
_RECURSIVE, _HERE = 0x8000, -100
_DEATHSIG, _CAPBSET_DROP, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 24, 36, 38


def main(text: str, command: list[str]) -> int:
    """Do what the specification asks for, and return how the program ended."""
    spec = json.loads(text)
    libc = ctypes.CDLL(None, use_errno=True)
    set_limits(spec["limits"])
    control(libc, _DEATHSIG, signal.SIGKILL)
    if spec["level"] == "inside":
        set_limits({"RLIMIT_NPROC": spec["tasks"]})
        start(libc, spec, command)
    control(libc, _SUBREAPER, 1)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if spec["level"] == "outside":
        return outside(libc, command)
    spaces = {"full": _NEWUSER | _NEWNET | _NEWNS | _NEWPID | _NEWIPC, "network": _NEWUSER | _NEWNET}.get(spec["level"])
    if spaces and spec["online"]:
        spaces &= ~_NEWNET
    if spaces:
        enter(libc, spaces)
    set_limits({"RLIMIT_NPROC": spec["tasks"] + (0 if spaces else running())})
    if spec["level"] == "full":
        return spawn(lambda: shut_in(libc, spec, command))
    raise_loopback()
    ended = spawn(lambda: start(libc, spec, command))
    end_children()
    return ended


def outside(libc: Any, command: list[str]) -> int:
    """Start the program that shuts in: it ends when we do, and hears no polite signal, which is for what it holds."""

    def become() -> int:
        control(libc, _DEATHSIG, signal.SIGKILL)
        os.execv(command[0], command)

    ended = spawn(become)
    end_children()
    return ended


def control(libc: Any, option: int, value: int) -> None:
    """prctl, where the system has it."""
    with contextlib.suppress(AttributeError):
        libc.prctl(option, value, 0, 0, 0)


def running() -> int:
    """The processes and threads of this user."""
    count = 0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += len(os.listdir(entry / "task")) if entry.stat().st_uid == os.getuid() else 0  # noqa: PTH208
    return count


def end_children() -> None:
    """End what the program left: all of it has come to us, and what that leaves comes next."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for entry in Path("/proc").glob("[0-9]*/stat"):
                with contextlib.suppress(OSError, ValueError):
                    if int(entry.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                        os.kill(int(entry.parent.name), signal.SIGKILL)
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)


def set_limits(limits: dict[str, int]) -> None:
    """Bound what one process may use; what the system does not know or has bounded lower already is left."""
    with contextlib.suppress(ImportError):
        import resource

        for name, value in limits.items():
            with contextlib.suppress(AttributeError, OSError, ValueError):
                number = getattr(resource, name)
                hard = resource.getrlimit(number)[1]
                value = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(number, (value, value))


def spawn(work: Any) -> int:
    """Do work in a child, wait for it and for whatever is left to us, and return how it ended: -9 is a signal."""
    child = os.fork()
    if child == 0:
        code = REFUSED
        try:
            code = work()
        except OSError as error:
            os.write(2, f"it could not be shut in: {error}\n".encode())
        finally:
            os._exit(code & 0xFF if code >= 0 else 128 - code)
    while True:
        with contextlib.suppress(InterruptedError):
            ended, status = os.wait()
            if ended == child:
                return os.waitstatus_to_exitcode(status)


def start(libc: Any, spec: dict[str, Any], command: list[str]) -> int:
    """Become the program, without any privilege."""
    control(libc, _DEATHSIG, signal.SIGKILL)
    if spec["level"] != "limits":
        for capability in range(64):
            control(libc, _CAPBSET_DROP, capability)
    control(libc, _NO_NEW_PRIVILEGES, 1)
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if PROC.exists():
        os.setpgid(0, 0)
    os.execvpe(command[0], command, os.environ)


def shut_in(libc: Any, spec: dict[str, Any], command: list[str]) -> int:
    """Be the first process of a namespace: make its world, start the program, and end all of it when that ends."""
    control(libc, _DEATHSIG, signal.SIGKILL)
    raise_loopback()
    furnish(libc, spec)
    ended = spawn(lambda: start(libc, spec, command))
    return ended if ended >= 0 else 128 - ended


def enter(libc: Any, spaces: int) -> None:
    """Go into new namespaces as the same user."""
    user, group = os.getuid(), os.getgid()
    check(libc.unshare(spaces), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def raise_loopback() -> None:
    """Switch on the one interface that a new network has: programs talk to themselves over it."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))


def furnish(libc: Any, spec: dict[str, Any]) -> None:
    """Put together a file system of what may be seen, and leave the other one."""
    here = Path.cwd()
    root = Path(spec["private"]) / "root"
    root.mkdir(exist_ok=True)
    mount(libc, None, Path("/"), flags=_REC | _PRIVATE)
    base = Path(spec["private"]) / "base"
    base.mkdir(exist_ok=True)
    mount(libc, str(base), root, flags=_BIND)
    for place in SYSTEM:
        show(libc, root, Path(place), readonly=True)
    devices(libc, root, spec["shared"])
    (root / "proc").mkdir()
    try:
        mount(libc, "proc", root / "proc", kind="proc", flags=_NOSUID | _NODEV)
        (root / "proc/sys/user/max_user_namespaces").write_text("0")
    except OSError:
        mount(libc, "/proc", root / "proc", flags=_BIND | _REC)
        settle(libc, root / "proc")
    (Path(spec["private"]) / "tmp").mkdir(exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (root / name).mkdir(parents=True)
        mount(libc, str(Path(spec["private"]) / "tmp"), root / name, flags=_BIND | _REC)
    for name in OUTSIDE:
        source = Path(spec["private"]) / "outside" / name[1:]
        source.mkdir(parents=True, exist_ok=True)
        create(root / name[1:], folder=True)
        mount(libc, str(source), root / name[1:], flags=_BIND | _REC)
    for place in spec["readable"]:
        show(libc, root, Path(place), readonly=True)
    for place in spec["writable"]:
        show(libc, root, Path(place), readonly=False)
    change_root(libc, root)
    os.chdir(here)


def devices(libc: Any, root: Path, shared: int) -> None:
    """The harmless devices, those that compute, and shared memory."""
    (root / "dev").mkdir()
    for pattern in DEVICES:
        for device in Path("/dev").glob(pattern):
            show(libc, root, device, readonly=False)
    (root / "dev" / "shm").mkdir()
    mount(libc, "tmpfs", root / "dev" / "shm", kind="tmpfs", flags=_NOSUID | _NODEV, data=f"size={shared},mode=1777")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"),
                         ("stderr", "/proc/self/fd/2")):  # fmt: skip
        (root / "dev" / name).symlink_to(target)


def show(libc: Any, root: Path, place: Path, *, readonly: bool) -> None:
    """Let a file or folder be seen in its place and, where a link leads to it, in its own."""
    real = Path(os.path.realpath(place))
    if not real.exists():
        return
    for path in dict.fromkeys((real, place)):
        inside = root / path.relative_to("/")
        if readonly and inside.exists() and inside.samefile(real):
            continue
        if path != real and path.parent == Path("/"):
            inside.symlink_to(path.readlink())
            continue
        create(inside, real.is_dir())
        mount(libc, str(real), inside, flags=_BIND | _REC)
        if readonly:
            settle(libc, inside)


def create(place: Path, folder: bool) -> None:
    """Make what something is mounted on, unless it is there."""
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir() if folder else place.touch()


def settle(libc: Any, place: Path) -> None:
    """Make a mount and those below it read-only."""
    asked = struct.pack("QQQQ", _RDONLY | _NOSUID, 0, 0, 0)
    done = libc.syscall(_MOUNT_SETATTR, _HERE, os.fsencode(place), _RECURSIVE, asked, len(asked))
    check(done, f"making {place} read-only")


def change_root(libc: Any, root: Path) -> None:
    """Leave the old file system for good."""
    plain = struct.pack("QQQQ", _NOSUID | _NODEV, 0, 0, 0)
    check(libc.syscall(_MOUNT_SETATTR, _HERE, os.fsencode(root), 0, plain, len(plain)), "a root without devices")
    os.chdir(root)
    check(libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    check(libc.umount2(b".", _DETACH), "umount")
    os.chdir("/")


def mount(libc: Any, source: str | None, place: Path, kind: str = "", flags: int = 0, data: str = "") -> None:
    origin = os.fsencode(source) if source else None
    done = libc.mount(origin, os.fsencode(place), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None)
    check(done, f"mounting {place}")


def check(done: int, what: str) -> None:
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    try:
        status = main(sys.argv[1], sys.argv[2:])
    except (OSError, KeyError) as problem:
        os.write(2, f"it could not be shut in: {problem}\n".encode())
        os._exit(REFUSED)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -status)
    os._exit(status & 0xFF if status >= 0 else 128 - status)
