"""What is told of findings in the end: which of them another rule's repair answers, and what repairs led to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from codemods.engine.line_map import LineMap
from codemods.finding import Finding, Span

Unit = tuple[str, str]
"""A rule's code and the path of a file."""
WENT = "M"
"""How the rows of the guide begin that say what went; others say what behaves otherwise."""
_WORD = re.compile(r"\w+")


def told(
    settled: Sequence[Finding],
    left: Collection[tuple[str, str, str, str | None]],
    changed: Collection[Unit],
    seen: Mapping[Unit, Sequence[Finding]],
    texts: Mapping[str, tuple[bytes, bytes]],
) -> tuple[Finding, ...]:
    """The findings with what became of them. `left` is what a look at the result gives, as code, path, message and row,
    `changed` says which files each rule changed, `seen` what it found in each when its turn came, and `texts` holds the
    files that were changed, before and after."""
    every = [*settled, *_led_to(settled, changed, seen)]
    files: dict[str, list[Finding]] = {}
    for finding in every:
        files.setdefault(finding.path, []).append(finding)
    repairs = {
        path: [finding for finding in found if finding.applied and (finding.code, path) in changed]
        for path, found in files.items()
    }
    moved = {
        path: LineMap(*both) for path, both in texts.items() if any(_may_be_gone(item) for item in files.get(path, ()))
    }
    instead: dict[Finding, Finding] = {}
    for (code, path), then in seen.items():
        mine = [finding for finding in files.get(path, ()) if finding.code == code]
        instead |= _forestalled(mine, then, repairs.get(path, ()))
    return tuple(
        _answered(finding, answer)
        if (answer := _answer(finding, files[finding.path], left, repairs, moved.get(finding.path)))
        else instead.get(finding, finding)
        for finding in every
    )


def _may_be_gone(finding: Finding) -> bool:
    return not finding.applied and _went(finding)


def _went(finding: Finding) -> bool:
    """Whether a finding says that something went: by its row, or, without one, as it stops on the target."""
    return finding.row.startswith(WENT) if finding.row else finding.stops


def _is_gone(finding: Finding, moved: LineMap) -> bool:
    """Whether what a finding names, or else its text, stands in none of the lines that took the place of its own."""
    place, block = finding.span, moved.block(finding.span.line)
    if block is None or block.is_kept:
        return False
    first = moved.old[place.line - 1]
    text = first[place.column - 1 : place.end_column - 1] if place.end_line == place.line else first[place.column - 1 :]
    told = set(_WORD.findall(finding.message))
    named = [word for word in _WORD.findall(text) if word in told]
    what = re.compile(rf"\b{named[-1]}\b" if named else re.escape(text.strip()))
    return not any(what.search(moved.new[line - 1]) for line in block.new)


def _answer(
    finding: Finding,
    others: Sequence[Finding],
    left: Collection[tuple[str, str, str, str | None]],
    repairs: Mapping[str, Sequence[Finding]],
    moved: LineMap | None,
) -> Finding | None:
    """The repair that answers a finding which was left, where its own rule says nothing of the kind about the result:
    what another rule made at its place, going by the same row, or what took the text away that it is about. Where
    nothing went, a finding speaks of what follows from the move, and is not answered by it."""
    if finding.applied or (finding.code, finding.path, finding.message, finding.row) in left:
        return None
    applied = [other for other in others if other.applied]
    if finding.row and (repair := _repair_at(finding, [other for other in applied if other.row == finding.row])):
        return repair
    if moved is None or finding.cell is not None or not _went(finding) or not _is_gone(finding, moved):
        return None
    if any((code, path, row) == (finding.code, finding.path, finding.row) for code, path, _, row in left):
        return None  # a message may name what another rule wrote there
    block = moved.block(finding.span.line)
    by_others = [repair for repair in repairs[finding.path] if repair.code != finding.code]
    near = [repair for repair in by_others if block and set(_lines_of(repair)) & set(block.old)] or by_others
    return min(near, key=lambda repair: abs(repair.span.line - finding.span.line), default=None)


def _lines_of(finding: Finding) -> range:
    return range(finding.span.line, finding.span.end_line + 1)


def _answered(finding: Finding, answer: Finding) -> Finding:
    return replace(finding, applied=True, fix=answer.fix, reason=f"The repair of {answer.code} answers it.")


def _led_to(
    findings: Sequence[Finding], changed: Collection[Unit], seen: Mapping[Unit, Sequence[Finding]]
) -> list[Finding]:
    """What rules rewrote that found nothing in the files as they were, at the places that led to it."""
    found_at_first = {(finding.code, finding.path) for finding in findings if finding.applied}
    led: dict[Finding, None] = {}
    for unit in sorted({*changed} - found_at_first):
        for found in seen.get(unit, ()):
            if found.applied and (cause := _nearest(found, findings, changed)):
                reason = f"{found.reason.rstrip('.')}. It is in what {cause.code} made."
                led[replace(found, span=cause.span, cell=cause.cell, reason=reason)] = None
            elif found.applied:
                led[found] = None
    return [*led]


def _nearest(finding: Finding, others: Sequence[Finding], changed: Collection[Unit]) -> Finding | None:
    """The finding of another rule that rewrote the file which stands nearest."""
    there = [
        other
        for other in others
        if other.applied
        and other.path == finding.path
        and other.code != finding.code
        and (other.code, other.path) in changed
    ]
    return min(
        there,
        key=lambda other: (other.cell != finding.cell, abs(other.span.line - finding.span.line)),
        default=None,
    )


def _forestalled(
    mine: Sequence[Finding], then: Sequence[Finding], repairs: Sequence[Finding]
) -> dict[Finding, Finding]:
    """What is told instead of the findings that a rule, when its turn came, found no more to rewrite of in a file: what
    it said then, else whose repair answers it."""
    lost = _lost([finding for finding in mine if finding.applied], then, repairs)
    known = Counter(map(_said, mine))
    others = []
    for found in sorted(then, key=lambda found: found.span) if lost else ():
        known[_said(found)] -= 1
        if known[_said(found)] < 0:
            others.append(found)
    instead: dict[Finding, Finding] = {}
    for finding, now in zip_longest(lost, others[: len(lost)]):
        if now and now.applied:
            instead[finding] = replace(finding, fix=now.fix, reason=now.reason)
        elif now:
            instead[finding] = replace(now, span=finding.span, cell=finding.cell)
        elif answer := _repair_at(finding, repairs):
            instead[finding] = _answered(finding, answer)
        else:
            by = sorted({repair.code for repair in repairs} - {finding.code})
            made = f"What {', '.join(by) or 'others'} rewrote takes care of it."
            instead[finding] = replace(finding, reason=made)
    return instead


def _lost(applied: Sequence[Finding], then: Sequence[Finding], repairs: Sequence[Finding]) -> list[Finding]:
    """The findings, of those that were to be rewritten, that a rule has not seen again: of several of a kind those at
    which another rule rewrote something."""
    short = Counter(map(_said, applied)) - Counter(_said(found) for found in then if found.applied)
    lost = []
    for finding in sorted(applied, key=lambda each: (not _repair_at(each, repairs), each.span)) if short else ():
        if short[_said(finding)] > 0:
            short[_said(finding)] -= 1
            lost.append(finding)
    return sorted(lost, key=lambda finding: finding.span)


def _said(finding: Finding) -> tuple[str, str | None]:
    return finding.message, finding.row


def _repair_at(finding: Finding, others: Sequence[Finding]) -> Finding | None:
    """The first finding of another rule at the same place of the same file."""
    return next(
        (
            other
            for other in others
            if other.code != finding.code and other.cell == finding.cell and _meet(other.span, finding.span)
        ),
        None,
    )


def _meet(one: Span, other: Span) -> bool:
    """Whether two places share a character."""
    starts = (one.line, one.column), (other.line, other.column)
    return max(starts) < min((one.end_line, one.end_column), (other.end_line, other.end_column))
