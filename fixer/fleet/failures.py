"""Why a step of a repository failed, and whether that is the repository's own or of what is around it.

What is around, a server that is not reached or a token that is not taken, fails for all alike: three such failures stop
a fleet, where three bad repositories do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_AROUND = (
    ("disk", re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)),
    ("token", re.compile(
        r"authentication failed|could not read (?:username|password)|permission denied \(publickey|answers 401"
        r"|bad credentials|needs a token|is not accepted there|401 unauthorized|error: 40[13]\b", re.IGNORECASE,
    )),
    ("server", re.compile(
        r"could not resolve host|failed to connect|connection (?:refused|timed out|reset)|couldn't connect"
        r"|cannot be reached|early eof|unexpected disconnect|operation timed out|network is unreachable"
        r"|error: 5\d\d\b|answers 5\d\d|answers 429|rate limit", re.IGNORECASE,
    )),
)  # fmt: skip
_KILLED = re.compile(r"ended from outside|died of signal")
_NO_INDEX = re.compile(
    r"cannot be (?:installed|built|solved).*?(?:failed to fetch|client error \(connect\)|dns error|could not connect"
    r"|connection refused|network is unreachable|name resolution)", re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_TOLD = 300
PASSING = ("killed", "server")
"""Kinds of failures after which the same may go well."""
LOST = "lost"
"""The kind of failures of what has to be cloned and planned anew."""


class StepFailure(Exception):
    """A step that could not be done. `kind` is what it has in common with other failures, "" where it is the
    repository's own."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


def failure_of(reason: str, address: str) -> StepFailure:
    """A failure by what was said of it; what is around is told apart by the server that it is of."""
    if _KILLED.search(reason):
        return StepFailure(reason, "killed")
    for kind, pattern in _AROUND:
        if pattern.search(reason):
            return StepFailure(reason, kind if kind == "disk" else f"{kind} {host_of(address)}")
    return StepFailure(reason)


def host_of(address: str) -> str:
    """The server of an address, or the path itself."""
    if "://" in address:
        return urlsplit(address).hostname or address
    return address.rpartition("@")[2].partition(":")[0]


def index_failure(said: Iterable[str]) -> StepFailure | None:
    """The failure of a proof in which something could not be installed, since no package index was reached; None where
    nothing that it said tells of that."""
    found = next((text for text in said if _NO_INDEX.search(text)), None)
    return StepFailure(f"no package index was reached: {' '.join(found.split())[:_TOLD]}", "index") if found else None


def is_around(kind: str) -> bool:
    """Whether a failure of a kind is of what is around the repositories."""
    return kind.partition(" ")[0] in ("disk", "token", "server", "index")


def is_passing(kind: str) -> bool:
    """Whether what failed so is worth another try at once."""
    return kind.partition(" ")[0] in PASSING
