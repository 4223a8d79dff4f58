"""Can I merge this? The answer of a result in one sentence, with what was run, what was not, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fixer.reports.evidence_list import few, lines
from fixer.reports.words import count, one_line
from fixer.result import Result

if TYPE_CHECKING:
    from verify.evidence import Evidence, Outcome

_SHOWN: dict[Outcome, str] = {
    "preserved": "the code before and after train with the same numbers",
    "repaired": "the code before fails, and the code after trains",
    "preserved in part": "what was run trains with the same numbers as before; some changed files were not run",
    "repaired in part": "what was run fails before and trains after; some changed files were not run",
    "changed": "the code before and after train with different numbers",
    "regressed": "the code after fails or learns nothing",
    "inconclusive": "the runs did not show what the changes do",
    "not executed": "nothing that was changed was run",
}
_WORDS: dict[Outcome, str] = {
    "regressed": "no",
    "inconclusive": "not shown",
    "not executed": "not shown",
    "changed": "your decision",
    "preserved in part": "yes, after a look at what was not run",
    "repaired in part": "yes, after a look at what was not run",
    "preserved": "yes",
    "repaired": "yes",
}
"""The answers, from the worst verdict to the best."""
_WHOLE: dict[Outcome, Outcome] = {"preserved": "preserved in part", "repaired": "repaired in part"}
"""What a verdict on every file is where a part of one was not run."""
_TRAINED = ("trains", "same")


@dataclass(frozen=True)
class MergeAnswer:
    """The answer in a word, the verdict that it goes by, and as a sentence; what was run and what was not, a text
    each."""

    word: str
    verdict: Outcome
    sentence: str
    ran: tuple[str, ...]
    not_run: tuple[str, ...]


def merge_answer(result: Result) -> MergeAnswer | None:
    """The answer; None where nothing is there to merge, or the command ended with an error."""
    readiness = result.readiness
    if result.error is not None or (readiness is None and not result.evidence):
        return None
    evidence, not_run = _of_branch(result), tuple(_not_run(result))
    outcomes = {item.outcome for item in evidence}
    worst: Outcome = next((one for one in _WORDS if one in outcomes), "inconclusive")
    if worst in _WHOLE and not_run:
        worst = _WHOLE[worst]
    word = _WORDS[worst]
    if readiness is not None and not readiness.ready:
        word, worst = "not yet", "regressed"
    elif word.startswith("yes") and (
        (readiness is not None and readiness.caveat) or any(item.rung not in _TRAINED for item in evidence)
    ):
        word, worst = _WORDS["inconclusive"], "inconclusive"
    shown = "; ".join(_shown(evidence))
    headline = readiness.headline if readiness else ""
    sentence = (": " if headline.endswith("merge") else "; ").join(part for part in (headline, shown) if part)
    return MergeAnswer(
        word,
        worst,
        f"{one_line(sentence[:1].upper() + sentence[1:])}.",
        tuple(_ran(evidence)) or ("none of the project's code",),
        not_run or ("nothing that was changed",),
    )


def _of_branch(result: Result) -> tuple[Evidence, ...]:
    """The proofs, less those of what regressed and was taken out of the branch for it."""
    landed = {commit.code for commit in result.commits}
    out = [item for item in result.evidence if item.verdict == "regressed" and landed.isdisjoint(item.codes)]
    return tuple(item for item in result.evidence if not landed or item not in out)


def _shown(evidence: tuple[Evidence, ...]) -> Iterator[str]:
    """What the proof of each group showed; what several showed alike once, with their names where they differ."""
    groups: dict[str, list[str]] = {}
    for item in evidence:
        groups.setdefault(_shown_by(item), []).append(item.group)
    for told, names in groups.items():
        of = f"{', '.join(name for name in names if name)}: " if len(groups) > 1 and any(names) else ""
        yield f"{of}{told}"


def _shown_by(item: Evidence) -> str:
    """What one proof showed; its own reason where it holds without a run."""
    unrun = item.verdict == "preserved" and item.after is None and not item.alone
    return item.reason if unrun else _SHOWN[item.outcome]


def _ran(evidence: tuple[Evidence, ...]) -> Iterator[str]:
    told = [line.text for item in evidence for line in lines(item) if line.label == "ran"]
    yield from dict.fromkeys(told)


def _not_run(result: Result) -> Iterator[str]:
    """The changed files that no run executed, read or was installed from, and what was not called of the others."""
    touched = [file for item in _of_branch(result) for file in item.touched]
    changed = [file.path for file in result.files] or list(dict.fromkeys(file.path for file in touched))
    lost = {file.path for file in touched if not (file.is_covered or file.idle)}
    ran = {file.path for file in touched if file.is_covered} - lost
    if left := [path for path in changed if path not in ran]:
        yield f"{len(left)} of {count(len(changed), 'changed file')}: {few(left)}"
    if idle := list(dict.fromkeys(name for file in touched if file.path in ran for name in file.idle)):
        yield f"{count(len(idle), 'changed function')} of files that ran: {few(idle)}"
