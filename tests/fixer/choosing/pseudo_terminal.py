"""A command at a pseudo-terminal of some size, answered as a person would."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from tests.fixer.command import environment

COLOR = re.compile(r"\x1b\[[0-9;]*m")
PROMPT = re.compile(r"Make this change\? \[[^\]]*\] (\x1b\[0m)?$")


class AtTerminal:
    """`fixer` with its standard streams at a terminal, or with its standard output in a file."""

    def __init__(
        self, folder: Path, *arguments: str, columns: int = 100, out: BinaryIO | None = None, **env: str
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        plain = dict.fromkeys(("NO_COLOR", "FORCE_COLOR", "COLUMNS"), "") | {"TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fixer", *arguments],
            cwd=folder,
            env={**environment({**plain, **env})},
            stdin=theirs,
            stdout=out or theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
        )
        os.close(theirs)
        self.seen = ""

    def __enter__(self) -> AtTerminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def read(self, until: re.Pattern[str], seconds: float = 120) -> str:
        """What is shown from where was read last, until it matches."""
        new, deadline = "", time.monotonic() + seconds
        while not until.search(new):
            assert time.monotonic() < deadline, f"it does not come: {until.pattern}\n{new}"
            more = self._more(deadline - time.monotonic())
            assert more, f"it ended before {until.pattern}\n{new}"
            new += more
        return new

    def question(self) -> str:
        """The next question, as it is shown."""
        return self.read(PROMPT)

    def say(self, text: str) -> str:
        """Answers, and returns the next question."""
        self.type(f"{text}\n")
        return self.question()

    def type(self, keys: str | bytes) -> None:
        os.write(self._ours, keys.encode() if isinstance(keys, str) else keys)

    def interrupt(self) -> None:
        """Presses Ctrl-C until the program ends, as a person would: Python's reading of a line may miss the first one,
        which came after it looked for signals and before it waited for keys."""
        deadline = time.monotonic() + 120
        while self.process.poll() is None and time.monotonic() < deadline:
            self.type("\x03")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    def end(self, text: str = "") -> tuple[int, str]:
        """The exit code, and what is shown to the end, after a last answer."""
        if text:
            self.type(f"{text}\n")
        new = ""
        while more := self._more(120):
            new += more
        return self.process.wait(120), new

    def _more(self, seconds: float) -> str:
        if not select.select([self._ours], [], [], seconds)[0]:
            return ""
        try:
            data = os.read(self._ours, 1 << 16)
        except OSError:  # the other end is closed
            return ""
        self.seen += (text := data.decode(errors="replace").replace("\r\n", "\n"))
        return text
