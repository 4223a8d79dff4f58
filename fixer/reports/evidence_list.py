"""A proof as the lines that every report tells: the verdict of each commit, and what ran, was compared and did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fixer.reports.words import block, count, one_line, plain, rung
from fixer.result import Commit, Result

if TYPE_CHECKING:
    from verify.evidence import Evidence, FactKind, FileCoverage, How, Outcome, Share

_NAMED = 5
_HOW: dict[How, str] = {
    "executed": "ran",
    "read": "was read by the run",
    "installed": "is what the environment was installed from",
    "same code": "has only other comments and texts",
    "document": "has no change that a training reads or installs",
    "arguments": "did not run, but for the changed arguments of its Trainer: they trained a module alone",
    "not loaded": "was not loaded by the run",
    "not called": "was loaded, but nothing that was changed in it was called",
    "not read": "was not read by the run",
    "not told": "is not known to have been loaded: the run ended before it told",
    "not installed": "is a manifest, and nothing was installed from it",
    "not run": "is nothing that the run executes",
}
_FIRST: tuple[FactKind, ...] = (
    "not executed", "ran", "next", "compared", "explained by", "not compared", "also", "provided",
)  # fmt: skip
"""What is told first where there is no room for all."""


@dataclass(frozen=True)
class EvidenceLine:
    """One thing that a proof says, with the word that stands before it, and the lines of settings that it asks for."""

    label: str
    text: str
    paste: str = ""


def lines(evidence: Evidence) -> list[EvidenceLine]:
    """All that a proof says besides its verdict and its reason."""
    from verify.judging.proof_list import facts_of

    return [EvidenceLine(fact.kind, one_line(fact.text), block(fact.paste)) for fact in facts_of(evidence)]


def brief(evidence: Evidence, most: int, known: Sequence[EvidenceLine] = ()) -> list[EvidenceLine]:
    """The most telling of those lines that are not known yet, in their order."""
    every = [line for line in lines(evidence) if line not in known]
    ranked = sorted(range(len(every)), key=lambda at: (_rank(every, at), at))
    return [every[at] for at in sorted(ranked[: max(0, most)])]


def _rank(every: Sequence[EvidenceLine], at: int) -> tuple[bool, float]:
    """The first line of each kind comes before the second one of any; the second of what ran names the versions, and
    comes after what to do next."""
    label = every[at].label
    is_second = any(other.label == label for other in every[:at])
    if is_second and label == "ran":
        return False, _FIRST.index("next") + 0.5
    return is_second, next(place for place, kind in enumerate(_FIRST) if kind == label)


def share_of(evidence: Evidence, code: str) -> Share | None:
    """What the proof of a group says of one of its codes; None where it was not told apart."""
    return next((share for share in evidence.shares if share.code == code), None)


def outcome_of(result: Result, commit: Commit) -> Outcome | None:
    """What the proof says of a commit; None where it was not proven."""
    item = next((item for item in result.evidence if item.group == commit.group and commit.code in item.codes), None)
    if item is None:
        return None
    share = share_of(item, commit.code)
    return share.outcome if share else item.verdict


def left_of(result: Result, commit: Commit) -> list[EvidenceLine]:
    """What was not executed of the files of a commit."""
    found = (share_of(item, commit.code) for item in result.evidence if item.group == commit.group)
    return [line for share in found if share for line in share_lines(share) if line.label == "not executed"]


def share_lines(share: Share) -> list[EvidenceLine]:
    """What was executed of the files of a commit, and what was not."""
    done = [coverage_line(file) for file in share.files if file.is_covered]
    left = [coverage_line(file) for file in share.files if not file.is_covered]
    return [*(EvidenceLine("executed", text) for text in done), *(EvidenceLine("not executed", text) for text in left)]


def coverage_line(file: FileCoverage) -> str:
    """What was executed of a changed file, with the names of the changed functions that were called, how
    often where that was counted, and that were not."""
    times = [*file.times, *[0] * len(file.called)]
    ran = [f"{name} ({count(n, 'time')})" if n else name for name, n in zip(file.called, times, strict=False)]
    called = f": {few(ran)}" if ran else ""
    idle = f"; not called: {few(file.idle)}" if file.idle else ""
    return f"{plain(file.path)} {_HOW[file.how]}{called}{idle}"


def note(commit: Commit, evidence: Evidence) -> Iterator[str]:
    """The lines of the note of a commit: its own verdict first, then that of its group."""
    share = share_of(evidence, commit.code)
    outcome = share.outcome if share else evidence.verdict
    yield outcome if outcome == "not executed" else f"{outcome} ({rung(evidence)})"
    yield ""
    for line in share_lines(share) if share else ():
        yield f"{line.label}: {line.text}"
    codes = ", ".join(map(one_line, evidence.codes))
    yield f"group {one_line(evidence.group)} ({codes}), judged as a whole: {evidence.outcome} ({rung(evidence)})"
    yield one_line(evidence.reason)
    for line in lines(evidence):
        if line.label not in ("not executed", "next"):
            yield f"{line.label}: {line.text}"


def few(names: Iterable[str]) -> str:
    """The first names of many, and how many more there are."""
    found = [plain(name) for name in names]
    return ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if found[_NAMED:] else "")
