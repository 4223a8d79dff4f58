"""The processes that train cases, one for each release and test session."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.training.interpreters import packages_of, python_for
from verify.harness import HARNESS

KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "XDG_CACHE_HOME")


class Worker:
    """A process that trains cases on one release of Lightning, in the order in which they are asked for."""

    def __init__(self, release: str) -> None:
        self.release = release
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self._process = subprocess.Popen(
            [str(python_for(release)), str(Path(__file__).with_name("worker.py")), str(HARNESS),
             *packages_of(release)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**environment, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        version = self.answer()["version"]
        if version != release.split()[0]:
            raise RuntimeError(f"the interpreter for Lightning {release} has {version}")

    def ask(self, case: dict[str, Any]) -> None:
        """Send a case."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """What came back for the first case that is not answered yet."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process for Lightning {self.release} ended with {self._process.wait()}")
        return json.loads(line)

    def end(self) -> None:
        """Let the process end."""
        with contextlib.suppress(OSError):
            self._process.communicate(timeout=10)


@functools.cache
def worker(release: str) -> Worker:
    """The process of a release, started when it is asked for first; it ends when its input does, with the session."""
    return Worker(release)
