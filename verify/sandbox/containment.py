"""What a program that is not ours may see of this machine: as little as the system lets us arrange."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from verify.sandbox import bubblewrap
from verify.sandbox.process import TASKS_EACH, Limits

Level = Literal["full", "network", "limits", "none"]

_JAIL = Path(__file__).with_name("jail.py")
_START = (sys.executable, "-I", "-S", str(_JAIL))
_LEVELS: tuple[Level, ...] = ("full", "network", "limits")
_SAID: dict[Level, str] = {
    "full": "without network, with nothing to read but its copy, its environment and the system's libraries",
    "network": "without network, but not kept from reading and writing files of yours, since this system has no "
    "mount namespace for us",
    "limits": "with the network on and not kept from files and processes of yours, since this system has no "
    "namespaces for us",
    "none": "with the network on, without limits and not kept from files and processes of yours, since this system "
    "has no way for us",
}


@dataclass(frozen=True)
class Containment:
    """How far programs are shut in, the folders outside their own that they may read all the same, and the bubblewrap
    that does it, where not we ourselves do."""

    level: Level
    readable: tuple[Path, ...] = ()
    bubblewrap: str | None = None

    @property
    def said(self) -> str:
        """What is true of every program that is run so, for the evidence."""
        more = f", and {', '.join(map(str, self.readable))}" if self.readable and self.level == "full" else ""
        by = "by bubblewrap " if self.bubblewrap else ""
        return f"run {by}{_SAID[self.level]}{more}"

    def command(
        self,
        command: Sequence[str],
        own: Path,
        needs: Iterable[str],
        limits: Limits,
        writable: Iterable[Path] = (),
        online: bool = False,
    ) -> list[str]:
        """The command that runs another one shut in: it may write below `own` and what is `writable`, and read what it
        `needs`. With the network on, there is nothing between being shut in as far as may be and limits alone."""
        if self.level == "none":
            return list(command)
        own.mkdir(parents=True, exist_ok=True)
        private = Path(tempfile.mkdtemp(prefix="private-", dir=own))  # in one that is known a program could lay links
        libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
        readable = [*needs, *libraries, *map(str, self.readable)]
        spec = {
            "level": "limits" if online and self.level == "network" else self.level,
            "online": online,
            "limits": _limits(limits),
            "tasks": limits.processes * TASKS_EACH,
            "writable": [str(own), *map(str, writable)],
            "readable": [place for place in dict.fromkeys(readable) if Path(place).is_absolute() and place != "/"],
            "private": str(private),
            "shared": limits.memory // 4,
        }
        if self.bubblewrap:
            return self._wrapped(self.bubblewrap, command, spec)
        return [*_START, json.dumps(spec), *command]

    def _wrapped(self, program: str, command: Sequence[str], spec: Mapping[str, Any]) -> list[str]:
        """The command that has bubblewrap run another one. What sets the limits inside needs its Python there."""
        private = Path(spec["private"])
        (private / "tmp").mkdir(exist_ok=True)
        readable = [*spec["readable"], sys.base_prefix, str(_JAIL)]
        options = bubblewrap.arguments(private, readable, spec["writable"], spec["shared"], spec["online"])
        inside = {"level": "inside", "limits": spec["limits"], "tasks": spec["tasks"]}
        outside = {"level": "outside", "limits": {}}
        python = [str(Path(sys.executable).resolve()), *_START[1:]]
        return [*_START, json.dumps(outside), program, *options, "--", *python, json.dumps(inside), *command]


def contain(folder: Path, readable: tuple[Path, ...] = ()) -> Containment:
    """The most that this system lets us arrange, found by trying; `folder` is one to try in."""
    return next(ways(folder, readable), Containment("none", readable))


def ways(folder: Path, readable: tuple[Path, ...] = ()) -> Iterator[Containment]:
    """Every way that works here in which programs are shut in, the best first."""
    folder.mkdir(exist_ok=True)
    wrapper = bubblewrap.installed()
    every = [Containment("full", readable, wrapper)] if wrapper else []
    every += [Containment(level, readable) for level in (_LEVELS if sys.platform != "win32" else ())]
    for found in every:
        needs = [sys.prefix, sys.base_prefix, *sys.path]
        command = found.command([sys.executable, "-I", "-c", "import ctypes"], folder, needs, Limits(10, 2**30))
        try:
            tried = subprocess.run(command, cwd=folder, capture_output=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if tried.returncode == 0:
            yield found


def _limits(limits: Limits) -> dict[str, int]:
    """The bounds on each process. Drivers of accelerators set aside far more memory than they use."""
    seconds = int(limits.seconds) * (os.cpu_count() or 1) + 10
    found = {"RLIMIT_CPU": seconds, "RLIMIT_FSIZE": limits.disk, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 4096}
    accelerated = any(Path(device).exists() for device in ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg"))
    return found if accelerated else {**found, "RLIMIT_DATA": limits.memory + 2**30}
