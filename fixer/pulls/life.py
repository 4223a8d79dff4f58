"""The life of a pull request: what to do next, decided from what is there.

All that is remembered stands in the pull requests themselves: a hidden line in the body with digests of what was
offered, and the check boxes of the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Literal

from codemods.engine.plan import Change
from fixer.reports.diff import unified
from fixer.result import FileDiff, Result
from fixer.settings import SharedOptions

PEOPLE = "<!-- fixer: commits of people -->"
NOTHING = "<!-- fixer: nothing is left to do -->"

_MEMO = re.compile(r"<!-- fixer: (\{.*?\}) -->")
_BOX = re.compile(r"^\s*[-*] \[ \] .*<!-- fixer:rule ([A-Z]+[0-9]+) -->\s*$", re.MULTILINE)
_HUNK = re.compile(r"^@@ .*$", re.MULTILINE)

Part = tuple[str, str]
"""A rule and a file that it changes."""


@dataclass(frozen=True)
class PullRequestMemo:
    """What a pull request remembers: digests of the diff, of what is said of it, of each rule's part of it, of what
    the command line asked for, and of the path of each file that it changes; and whether it was made a draft."""

    result: str
    told: str = ""
    parts: frozenset[str] = frozenset()
    asked: str = ""
    files: frozenset[str] = frozenset()
    draft: bool = False

    def line(self) -> str:
        """The hidden line that holds it."""
        held = {name: sorted(one) if isinstance(one, frozenset) else one for name, one in vars(self).items()}
        return f"<!-- fixer: {json.dumps(held, separators=(',', ':'))} -->"


@dataclass(frozen=True)
class Pull:
    """A pull or merge request as the server has it."""

    number: int
    url: str
    state: Literal["open", "closed", "merged"]
    body: str
    draft: bool = False

    @property
    def memo(self) -> PullRequestMemo | None:
        """What it remembers; None where somebody took the line out."""
        found = _MEMO.findall(self.body)
        try:
            held = json.loads(found[-1]) if found else {}
            parts, files = (frozenset(map(str, held[name])) for name in ("parts", "files"))
            draft = bool(held.get("draft"))
            return PullRequestMemo(str(held["result"]), str(held["told"]), parts, str(held["asked"]), files, draft)
        except (ValueError, KeyError, TypeError):
            return None

    @property
    def forgotten(self) -> str:
        """Its body without what it offered, so that to close it is not to refuse that."""
        return _MEMO.sub(PullRequestMemo("").line(), self.body)


@dataclass(frozen=True)
class Issue:
    """An issue as the server has it."""

    number: int
    url: str
    body: str
    is_open: bool


class PullAction(Enum):
    """What there is to do at the server."""

    push = "push"
    open = "open"
    rewrite = "rewrite"
    comment = "comment"
    close = "close"


def current(pulls: Sequence[Pull]) -> Pull | None:
    """The open one; of several the newest, which comes first."""
    return next((pull for pull in pulls if pull.state == "open"), None)


def next_steps(
    pull: Pull | None, wanted: PullRequestMemo, *, there: bool, people: bool, said: bool
) -> tuple[PullAction, ...]:
    """What to do with a result, given the open pull request.

    `there` says whether the branch is at the remote, `people` whether it holds commits of people, and `said` whether
    that was said in a comment already.
    """
    if people:
        return (PullAction.comment,) if pull and not said else ()
    if pull is None:
        return (PullAction.push, PullAction.open)
    if not there or pull.memo is None or pull.memo.result != wanted.result:
        return (PullAction.push, PullAction.rewrite)
    same = pull.memo.told == wanted.told and is_draft(pull, wanted) is pull.draft
    return () if same else (PullAction.rewrite,)


def is_draft(pull: Pull, wanted: PullRequestMemo) -> bool:
    """Whether an open pull request is to be a draft: as the result says, unless a person has said otherwise since."""
    ours = pull.memo is not None and pull.memo.draft is pull.draft
    return wanted.draft if ours else pull.draft


def last_steps(pull: Pull | None, *, people: bool, said: bool) -> tuple[PullAction, ...]:
    """What to do with the open pull request once nothing is left to change; `said` whether a comment said so."""
    if pull is None:
        return ()
    if people:
        return () if said else (PullAction.comment,)
    return (PullAction.comment, PullAction.close)


def switched_off(pulls: Sequence[Pull]) -> frozenset[str]:
    """The rules whose check boxes are empty in the newest pull request, open or not."""
    return frozenset(_BOX.findall(pulls[0].body.replace("\r", ""))) if pulls else frozenset()


def refused(pulls: Sequence[Pull], changes: Iterable[Change]) -> frozenset[Part]:
    """The parts that were offered with the same content in a pull request that is closed: its owner did not want
    them, or took them back after the merge. What an open one offers is wanted."""
    before = {part for pull in pulls if pull.state != "open" and pull.memo for part in pull.memo.parts}
    open_now = {part for pull in pulls if pull.state == "open" and pull.memo for part in pull.memo.parts}
    return frozenset((item.code, item.path) for item in changes if part_of(item) in before - open_now)


def part_of(change: Change) -> str:
    """A digest of the lines that a rule takes out of a file and puts in, wherever in the file they are."""
    lines = unified(change.path, _text(change.before), _text(change.after)).splitlines()
    edited = [line for line in lines[3:] if line.startswith(("+", "-"))]
    return _digest(change.code, change.path, *edited)[:10]


def result_of(files: Iterable[FileDiff]) -> str:
    """A digest of diffs with the lines around each change, but not their numbers: it is another one as soon as the
    base changes so that the branch could conflict with it."""
    return _digest(*(_HUNK.sub("@@", file.diff) for file in files))[:16]


def asked_of(asked: SharedOptions, scope: str) -> str:
    """A digest of what the command line asked for, and of the part of the repository that it named."""
    return _digest(scope, repr(replace(asked, path=Path(), jobs=None, check_pins=False)))[:16]


def path_of(path: str) -> str:
    """A digest of a path."""
    return _digest(path)[:10]


def told_of(result: Result, title: str, off: Iterable[str]) -> str:
    """A digest of what the body says besides the diffs, without what differs from machine to machine."""
    verdicts = [f"{item.group} {item.verdict} {item.rung}" for item in result.evidence]
    left = [finding.id for finding in result.findings if not finding.applied]
    answer = result.readiness
    ready = [answer.headline, *(f"{stop.place} {stop.what}" for stop in answer.stops)] if answer else []
    return _digest(title, *verdicts, *left, *ready, *sorted(off))[:16]


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
