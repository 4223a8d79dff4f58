"""What the rules say of their own examples when these are edited without a change of what they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemods.engine.plan import find
from codemods.engine.rule_failures import is_failure
from codemods.engine.scan import Options
from codemods.finding import Finding, Fix
from codemods.rule import Example, Rule, all_rules
from codemods.testing.neutral import EDITS, moved
from codemods.testing.neutral_handing import FILES as HANDED
from codemods.testing.neutral_program import Program
from codemods.testing.neutral_wrappers import NAMED
from codemods.testing.texts import sources

MOVED = "moved to a file"
STARRED = "brought by a star"
FILES = {**HANDED, **NAMED}
EVERY = (*EDITS, *FILES, MOVED, STARRED)
SITES = 2
"""How many places of an example an edit is tried at: those nearest to what is found."""


@dataclass(frozen=True)
class Fired:
    """An example in which its rule finds something."""

    rule: Rule
    number: int
    example: Example
    levels: tuple[Fix, ...]
    lines: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.rule.code}-{self.number}"

    @property
    def files(self) -> dict[str, str]:
        return {self.example.path: self.example.before, **dict(self.example.files)}


@dataclass(frozen=True)
class EditOutcome:
    """What became of an example's findings under an edit: `kept`, `level` (which changed), `told` (another finding
    names the place), `vanished` or `crashed`."""

    fired: Fired
    edit: str
    line: int
    kind: str
    files: Mapping[str, str]


def fired(rules: Sequence[Rule] | None = None) -> list[Fired]:
    """The examples in Python in which their rule finds something, of some rules or of all."""
    made = []
    for rule in all_rules() if rules is None else rules:
        for number, example in enumerate(rule.examples):
            if example.path.endswith(".py"):
                files = {example.path: example.before, **dict(example.files)}
                found = [item for item in look(files, rule, example.pins) if item.code == rule.code]
                if found:
                    lines = tuple(item.span.line for item in found if item.path == example.path)
                    made.append(Fired(rule, number, example, tuple(item.fix for item in found), lines))
    return made


def edited(case: Fired, edit: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The files of an example under an edit, at the places nearest to what is found, with the line."""
    if edit in FILES:
        every = sorted(FILES[edit](Program(case.example.before)), key=lambda item: _distance(item[0], case.lines))
        for line, texts in every[:SITES]:
            yield line, {**case.files, **{path or case.example.path: text for path, text in texts.items()}}
        return
    if edit in (MOVED, STARRED):
        parts = moved(case.example.before, case.example.path, by_star=edit == STARRED)
        if parts and "parts.py" not in case.files:
            yield 1, {**case.files, case.example.path: parts[0], "parts.py": parts[1]}
        return
    first, _, second = edit.partition(" + ")
    for line, text in _nearest(case.example.before, first, case.lines):
        if second:
            again = _nearest(text, second, tuple(item + 1 for item in case.lines))[:1]
            text = again[0][1] if again else ""
        if text:
            yield line, {**case.files, case.example.path: text}


def _nearest(text: str, edit: str, lines: Sequence[int]) -> list[tuple[int, str]]:
    made = list(EDITS[edit](Program(text)))
    made.sort(key=lambda item: _distance(item[0], lines))
    return made[:SITES]


def _distance(place: int, lines: Sequence[int]) -> tuple[int, int]:
    return min([abs(place - line) for line in lines], default=0), place


def outcome(case: Fired, edit: str, line: int, files: Mapping[str, str]) -> EditOutcome:
    """What the rule, or else another one, says of the files."""
    try:
        found = [item for item in look(files, case.rule, case.example.pins) if item.code == case.rule.code]
    except Exception:
        return EditOutcome(case, edit, line, "crashed", files)
    if any(map(is_failure, found)):
        return EditOutcome(case, edit, line, "crashed", files)
    was, now = Counter(case.levels), Counter(item.fix for item in found)
    if not was - now:
        kind = "kept"
    elif len(found) >= len(case.levels):
        kind = "level"
    else:
        kind = "told" if _told(case, files) else "vanished"
    return EditOutcome(case, edit, line, kind, files)


def _told(case: Fired, files: Mapping[str, str]) -> bool:
    """Whether any rule says something that none said before."""
    was, now = (
        Counter((item.code, item.message) for item in look(texts, None, case.example.pins))
        for texts in (case.files, files)
    )
    return bool(now - was)


def look(files: Mapping[str, str], rule: Rule | None, pins: tuple[str, ...]) -> tuple[Finding, ...]:
    """What a rule, or all where none is given, finds in the files."""
    rules = all_rules() if rule is None or rule.last else (rule,)
    return find(sources(files), Options(rules, pins=pins)).findings
