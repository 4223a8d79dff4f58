"""What a rule finds in a file together with what its classes take from other files, and in neither of them alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from codemods.code.source import PythonFile
from codemods.engine.collected_of_form import CollectedOfForm
from codemods.engine.normal_form_findings import carried, improved, plainly, seen_through
from codemods.engine.rule_failures import unseen
from codemods.engine.triggers import SaidInText, awake, calls
from codemods.finding import Span
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.file_summary import collect_file
from codemods.lightning.linking import LinkedFile, linked, open_taker, takers, together
from codemods.rule import Match, Rule, TextEdit

MOST_BELOW = 2
"""With how many of the files that take something from it a file is looked at."""


def seen_together(rule: Rule, file: PythonFile, facts: Facts, found: Sequence[Match]) -> list[Match]:
    """What a rule found in a file, and what it finds in it where the bases, methods and helpers that classes take from
    other files stand in these."""
    every = list(found)
    try:
        for owner, whole in _wholes(file, facts):
            made = improved(every, _seen(rule, file, facts, owner, whole), file, owner.path)
            if owner is file or len(made) == len(every) or not _tells_of(rule, owner, facts, file):
                every = made
    except Exception as error:  # a program that nobody wrote may be one that a rule cannot take: what was found is kept
        return [*every, unseen(rule, error)]
    return every


def is_called(rule: Rule, file: PythonFile, facts: Facts) -> bool:
    """Whether a file itself calls a rule, and not another alone that it is looked at together with."""
    if file.path not in together(facts):
        return True
    return calls(rule, file.text, file.memo.setdefault("calls", {}))


def seen_for_another(rule: Rule, file: PythonFile, facts: Facts) -> list[Match]:
    """What a rule that another file calls finds in a file together with that, for a person."""
    return [
        replace(match, fix="manual", edits=(), imports=(), creates=()) for match in seen_together(rule, file, facts, [])
    ]


def _tells_of(rule: Rule, owner: PythonFile, facts: Facts, file: PythonFile) -> bool:
    """Whether what a rule finds in one file tells of another, into which it follows it by itself."""
    check: Any = rule.check
    found = seen_through(rule, owner, facts, list(check(owner, facts)))
    return any(file.path in f"{match.message} {match.reason}" for match in found)


def _wholes(file: PythonFile, facts: Facts) -> Iterator[tuple[PythonFile, LinkedFile]]:
    """The programs that a file is a part of, each with the file whose classes are put together in it."""
    if file.path in facts.files and (whole := linked(file, facts)) is not None:
        yield file, whole
    for path in takers(facts).get(file.path, ())[:MOST_BELOW]:
        other = open_taker(path, facts)
        whole = linked(other, facts) if other is not None and path in facts.files else None
        if whole is not None and other is not None and any(part.path == file.path for part, _ in whole.parts):
            yield other, whole


def _seen(rule: Rule, file: PythonFile, facts: Facts, owner: PythonFile, whole: LinkedFile) -> list[Match]:
    """What a rule finds in the lines of a file that are a part of a whole."""
    text = whole.said.data
    if rule.spelled is not None and not rule.spelled(text.decode(errors="surrogatepass")):
        return []
    said: SaidInText = whole.file.memo.setdefault("said in whole", SaidInText(text))
    if not said.spells(rule) or not awake(whole.said, (rule,)):
        return []
    view = whole.file.normal or whole.file
    every = _found_in(rule, view, owner, facts)
    moved = []
    for match in every:
        part, line = whole.place(match.span.line)
        if (part or owner).path == file.path and not (part is None and line in whole.imports):
            moved.append(replace(match, span=_shifted(match.span, match.span.line - line)))
    torn = bool(whole.parts) and len(moved) < len(every)
    if torn or (whole.start and any(isinstance(edit, TextEdit) for match in every for edit in match.edits)):
        moved = [replace(match, fix="manual", edits=(), imports=(), creates=()) for match in moved]
    return carried(moved, file, view, facts, owner.path)


def _found_in(rule: Rule, view: PythonFile, owner: PythonFile, facts: Facts) -> Sequence[Match]:
    """What a rule finds in a whole, which the files that it is made of ask for one after the other."""
    check: Any = rule.check
    known: dict[str, tuple[Match, ...]] = memo_of(owner, facts).setdefault("found together", {})
    if rule.code not in known:
        absent = rule.present is not None and not rule.present(view)
        known[rule.code] = () if absent else tuple(check(view, _together(owner, facts, view)))
    return known[rule.code]


def _shifted(span: Span, lines: int) -> Span:
    return Span(span.line - lines, span.column, span.end_line - lines, span.end_column)


def _together(owner: PythonFile, facts: Facts, view: PythonFile) -> Facts:
    """The facts with what the whole says in the place of what the file says whose classes are put together."""
    memo = memo_of(owner, facts)
    if "together" not in memo:
        words = view.text.encode()
        said = collect_file(view, CollectedOfForm(view, lambda rule: any(word in words for word in rule.triggers)))
        memo["together"] = plainly(facts).having(said, facts.trees.plain_beside(view))
    known: Facts = memo["together"]
    return known
