"""Shutting a program in by an installed bubblewrap: the command line that gives it the world that jail.py makes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from verify.sandbox.jail import DEVICES, OUTSIDE, SYSTEM

_ALWAYS = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent",
)  # fmt: skip
_STREAMS = (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2"))


def installed() -> str | None:
    """Where bubblewrap is, None where there is none; it is a program of Linux."""
    found = shutil.which("bwrap") if sys.platform == "linux" else None
    return str(Path(found).absolute()) if found else None


def arguments(
    private: Path, readable: Iterable[str], writable: Iterable[str], shared: int, online: bool
) -> Iterator[str]:
    """The options of bubblewrap for a program that may read the system and what is `readable`, and write what is
    `writable`; `private` is a folder of ours, `shared` bytes of shared memory. Before 0.8 it does not know them all."""
    yield from _ALWAYS
    if not online:
        yield "--unshare-net"
    (private / "base").mkdir(exist_ok=True)
    yield from ("--bind", str(private / "base"), "/")
    seen = _VisiblePaths()
    for place in SYSTEM:
        yield from seen.read(Path(place))
    yield from ("--dir", "/dev")
    for device in (device for pattern in DEVICES for device in sorted(Path("/dev").glob(pattern))):
        yield from ("--dev-bind", str(device), str(device))
    yield from ("--perms", "1777", "--size", str(shared), "--tmpfs", "/dev/shm")
    for name, of in _STREAMS:
        yield from ("--symlink", f"/proc/self/fd{of}", f"/dev/{name}")
    yield from ("--proc", "/proc")
    seen.places += [Path("/dev"), Path("/proc")]
    for name in ("/tmp", "/var/tmp"):
        yield from ("--bind", str(private / "tmp"), name)
    for name in OUTSIDE:
        (private / "outside" / name[1:]).mkdir(parents=True, exist_ok=True)
        yield from ("--bind", str(private / "outside" / name[1:]), name)
    for text in readable:
        yield from seen.read(Path(text))
    for text in writable:
        yield from seen.write(Path(text))


@dataclass
class _VisiblePaths:
    """The places that are shown so far, with all below them: a link that lies there leads where it does outside."""

    places: list[Path] = field(default_factory=list)

    def read(self, place: Path) -> Iterator[str]:
        """The options that show a file or folder in its place and, where a link leads to it, in its own."""
        real = Path(os.path.realpath(place))
        for path in dict.fromkeys((real, place)) if real.exists() else ():
            if any(path.is_relative_to(shown) for shown in self.places):
                continue
            if path != real and path.parent == Path("/"):
                yield from ("--symlink", str(path.readlink()), str(path))
            else:
                self.places.append(path)
                yield from ("--ro-bind", str(real), str(path))

    def write(self, place: Path) -> Iterator[str]:
        """The options that show a file or folder to be written."""
        real = Path(os.path.realpath(place))
        if real.exists():
            yield from ("--bind", str(real), str(real))
        if real.exists() and place != real and not any(place.is_relative_to(shown) for shown in self.places):
            yield from ("--bind", str(real), str(place))
