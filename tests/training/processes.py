"""The processes that train cases, one for each release and test session."""

from __future__ import annotations

import functools
import io
import json
import os
from pathlib import Path
from typing import Any

from tests import warm
from tests.training.interpreters import packages_of, python_for
from verify.harness import HARNESS

WORKER = Path(__file__).with_name("worker.py")
KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "XDG_CACHE_HOME")


class Worker:
    """A process that trains cases on one release of Lightning, in the order in which they are asked for."""

    def __init__(self, release: str) -> None:
        self.release = release
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(python_for(release)), str(WORKER), str(HARNESS), *packages_of(release)]
        reading, asking = os.pipe()
        self._process = warm.begun(command, Path.cwd(), environment, reading)
        self._asking = os.fdopen(asking, "w", encoding="utf-8")
        self._answers = io.TextIOWrapper(io.BufferedReader(self._process.stdout), encoding="utf-8")
        version = self.answer()["version"]
        if version != release.split()[0]:
            raise RuntimeError(f"the interpreter for Lightning {release} has {version}")

    def ask(self, case: dict[str, Any]) -> None:
        """Send a case."""
        self._asking.write(json.dumps(case) + "\n")
        self._asking.flush()

    def answer(self) -> Any:
        """What came back for the first case that is not answered yet."""
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"the process for Lightning {self.release} ended with {self._process.wait()}")
        return json.loads(line)


@functools.cache
def worker(release: str) -> Worker:
    """The process of a release, started when it is asked for first; it ends when its input does, with the session."""
    return Worker(release)
