"""What a plan or a proof came to: its report, as a fleet keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fixer.fleet.failures import StepFailure, failure_of, index_failure
from fixer.fleet.state import FindingCount
from fixer.fleet.tasks import LOG, REPORT, FleetTask, TaskOutcome
from fixer.fleet.words import State
from fixer.reports.json_report import each_place
from fixer.reports.words import count

NOT_PROVEN = "not proven"
_SAID = "fixer: "
_WORST_FIRST = (
    "regressed", "inconclusive", "changed", "not executed", "preserved in part", "repaired in part", "preserved",
    "repaired",
)  # fmt: skip


@dataclass(frozen=True)
class ReportedRun:
    """What the report of a run says: the state that its repository comes to, why where it goes no further, and what it
    found. `needs_nothing` is that nothing was to be rewritten before any proof."""

    state: State
    reason: str
    verdict: str
    ready: bool
    branch: str | None
    head: str | None
    summary: str
    findings: tuple[FindingCount, ...]
    needs_nothing: bool

    def values(self) -> dict[str, Any]:
        """What is noted of the repository."""
        return {
            "state": self.state,
            "reason": self.reason,
            "kind": "",
            "verdict": self.verdict,
            "ready": self.ready,
            "branch": self.branch,
            "head": self.head,
            "summary": self.summary,
        }


def reported(task: FleetTask, outcome: TaskOutcome, *, proves: bool, require: str | None, address: str) -> ReportedRun:
    """What a task that came to its end says. Raises StepFailure where it did not do its work."""
    folder = Path(task.folder)
    if outcome.code is None:
        raise StepFailure(f"ended after {task.seconds:g} s, its limit")
    try:
        document = json.loads((folder / REPORT).read_bytes())
    except (OSError, ValueError):
        raise _broken(folder, outcome.code, address) from None
    if document["error"]:
        raise failure_of(document["error"], address)
    if outcome.code not in (0, 1):
        raise _broken(folder, outcome.code, address)
    if unreached := index_failure(_said(document["evidence"])):
        raise unreached
    return _told(task, document, proves=proves, unmet=bool(require) and outcome.code == 1, require=require or "")


def _told(task: FleetTask, document: Mapping[str, Any], *, proves: bool, unmet: bool, require: str) -> ReportedRun:
    readiness, commits = document["readiness"], document["commits"]
    left = sum(not finding["applied"] for finding in document["findings"])
    places = each_place(document)
    state: State = "proven" if task.step == "prove" else "planned"
    reason = ""
    verdict = worst([item["verdict"] for item in document["evidence"]]) if document["evidence"] else NOT_PROVEN
    if not document["files"]:
        state, verdict = "left out", ""
        reason = f"nothing to rewrite; {count(left, 'finding')} left to repair by hand" if left else "nothing to change"
    elif not commits or (document["branch"] is None and (task.step == "prove" or not proves)):
        state, reason = "left out", "nothing is left of the changes after their proof"
    elif task.step == "prove" and unmet:
        state, reason = "left out", f"its proof does not reach {require}"
    return ReportedRun(
        state=state,
        reason=reason,
        verdict=verdict,
        ready=bool(readiness and readiness["ready"]),
        branch=document["branch"],
        head=commits[-1]["id"] if commits and document["branch"] else None,
        summary=readiness["headline"] if readiness else "",
        findings=tuple(counted(task.repository, places)),
        needs_nothing=task.step == "plan" and not document["files"],
    )


def worst(verdicts: Sequence[str]) -> str:
    """The verdict of several groups: the one that asks most of a reader."""
    return min(verdicts, key=lambda one: _WORST_FIRST.index(one) if one in _WORST_FIRST else 0)


def counted(repository: str, findings: Iterable[Mapping[str, Any]]) -> Iterable[FindingCount]:
    """The findings by rule and, of those that are left, by reason."""
    found: dict[tuple[str, str, bool], list[bool]] = {}
    for finding in findings:
        key = (finding["code"], "" if finding["applied"] else finding["reason"], bool(finding["applied"]))
        found.setdefault(key, []).append(bool(finding["stops"]) and not finding["applied"])
    for (code, reason, done), stops in found.items():
        yield FindingCount(repository, code, reason, done, len(stops), any(stops))


def _said(evidence: Iterable[Mapping[str, Any]]) -> list[str]:
    """What is said of groups that could not be proven."""
    return [
        text
        for item in evidence
        if item["verdict"] == "inconclusive"
        for text in (item["reason"], *(fact["text"] for fact in item["facts"]))
    ]


def _broken(folder: Path, code: int, address: str) -> StepFailure:
    """A process that left no report: by what it said last, if it said why."""
    try:
        lines = (folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    if code == 2 and lines and lines[-1].startswith(_SAID):
        return failure_of(lines[-1].removeprefix(_SAID), address)
    said = f": {lines[-1]}" if lines else ""
    if code < 0 or code in (130, 137, 143):
        return StepFailure(f"its process was ended from outside ({code}){said}", "killed")
    return StepFailure(f"its process ended with {code} and no report{said}")
