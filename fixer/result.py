"""What a command found, changed and proved, as one value that every report reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codemods.finding import Finding
from fixer.readiness import Readiness
from verify.evidence import Evidence

Command = Literal["run", "check", "diff", "fix", "verify", "demo"]


@dataclass(frozen=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class FileDiff:
    """What changed in one file: a unified diff with `a/` and `b/` prefixes, from base to result."""

    path: str
    diff: str


@dataclass(frozen=True)
class Commit:
    """One commit of the branch: the codemod that made it, its group and the findings that it repairs."""

    id: str
    code: str
    group: str
    subject: str
    findings: tuple[str, ...]


class RunInterrupted(KeyboardInterrupt):
    """A command that was interrupted, with what it knew by then."""

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted")
        self.result = result


@dataclass(frozen=True)
class Result:
    """The outcome of one command.

    `project` is the name of the project's folder, `base` the commit it started from (None outside a repository),
    `target` the Lightning release it moves to, `branch` the branch that holds the result (None where there is none),
    `pull_request` the address of the one that offers it, `messages` what the user should know besides (uncommitted
    work left out, nothing to look at), `error` the one message of a command that could not do its work. `duration_s`
    is wall time in seconds, `arguments` are the path and the options that lead `run` to the same branch, and that
    `check` and `diff` were given. `readiness` says whether that branch runs on the target (None where nothing was
    changed and nothing stops, and for other commands).
    """

    command: Command
    base: str | None
    target: str
    project: str = ""
    branch: str | None = None
    pull_request: str | None = None
    findings: tuple[Finding, ...] = ()
    files: tuple[FileDiff, ...] = ()
    commits: tuple[Commit, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    messages: tuple[str, ...] = ()
    error: str | None = None
    duration_s: float = 0.0
    arguments: tuple[str, ...] = ()
    readiness: Readiness | None = None
