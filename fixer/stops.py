"""What stops a branch on the target: uses that are left, what the next look finds, and what the proof saw."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from codemods.code.source import Source
from codemods.engine.line_map import LineMap
from codemods.engine.plan import Plan, find
from codemods.engine.scan import Options
from codemods.engine.scan_cache import Memory
from codemods.finding import Finding
from codemods.lightning.pins.stated import is_forked, pins_of
from fixer.groups import changed_codes
from fixer.readiness import Readiness, Stop

if TYPE_CHECKING:
    from verify.evidence import Evidence, Failure, Recording

_DOCUMENTS = (".md", ".rst")
_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d+): (?P<what>.+)", re.DOTALL)
_ANOTHER = re.compile(r"\(see ([A-Z]+\d+) there\)")
_UNREAD = "not read"
_ARGUMENT = re.compile(r"(?P<owner>\w+)\((?P<name>\w+)=\.\.\.\)")
_CALL = 40
"""How many lines of a call are looked at for one of its arguments."""
_SURROUNDINGS = re.compile(
    r"FileNotFoundError|NotADirectoryError|PermissionError|OSError|Connection|URLError|HTTP|Timeout|gaierror"
    r"|SystemExit|MemoryError|Offline|LocalEntryNotFound|CUDA|NVIDIA|NCCL"
)
"""What ends a run for want of data, of a network or of a device, which says nothing of the code."""
_PROGRAM = re.compile(r"\b(?:ffmpeg|ffprobe|sox|espeak|espeak-ng|java|git)\b")
"""The same for want of a program of the system, which the failure names."""
_OF_THE_CODE = (
    "AttributeError",
    "ImportError",
    "IndentationError",
    "MisconfigurationException",
    "NameError",
    "NotImplementedError",
    "SyntaxError",
    "TypeError",
    "UnboundLocalError",
)
"""Failures that are the code's own, also where it failed so before."""


def look_again(sources: Sequence[Source], made: Plan, options: Options, memory: Memory) -> tuple[Finding, ...]:
    """What the next look at the result finds, with the pins that it has then."""
    final = made.final()
    after = [replace(source, data=final.get(source.path, source.data)) for source in sources]
    brought = sorted(final.keys() - {source.path for source in sources})
    after += [Source(path, "python", final[path]) for path in brought]
    rules = tuple(rule for rule in options.rules if not rule.judges_ignores)
    again = replace(options, rules=rules, pins=pins_of(after), forked=is_forked(after))
    return find(after, again, memory=memory.of_result).findings


def readiness(
    sources: Sequence[Source],
    made: Plan,
    again: Sequence[Finding],
    evidence: Sequence[Evidence],
    target: str,
    *,
    verified: bool,
) -> Readiness | None:
    """Whether the result of a plan runs on the target; None where nothing was changed and nothing stops.

    `again` is what a look at the result finds, `verified` says whether a proof was asked for.
    """
    landed = set(changed_codes(made))
    proof = [item for item in evidence if landed.intersection(item.codes)]
    found = list(_found(sources, made, again))
    stops = tuple(_once(chain(found, *(_unnamed(_seen(item), found) for item in proof))))
    if not (made.changes or stops):
        return None
    return Readiness(not stops, target, stops, "" if stops else _caveat(proof, verified))


def _once(stops: Iterable[Stop]) -> Iterator[Stop]:
    """The first that is said of each place, in the order of the places, without what leads to another one there."""
    kept: dict[tuple[str, str], Stop] = {}
    places: set[str] = set()
    for stop in stops:
        if stop.code or stop.place not in places:
            kept.setdefault((stop.place, f"{stop.code}{stop.what}"), stop)
            places.add(stop.place)
    told = {(stop.place, stop.code) for stop in kept.values()}
    left = (stop for stop in kept.values() if (stop.place, _sent_to(stop)) not in told)
    yield from sorted(left, key=lambda stop: (stop.path, stop.cell or 0, stop.line or 0))


def _sent_to(stop: Stop) -> str:
    """The rule that says what is to be done about a use, where the one that names it leaves that to another."""
    found = _ANOTHER.search(stop.todo)
    return found[1] if found else ""


def _unnamed(seen: Iterable[Stop], found: Sequence[Stop]) -> Iterator[Stop]:
    """What the proof saw, without arguments that a rule names: it does so where they stand, the proof at their call."""
    every = list(seen)
    for stop in every:
        match, line = _ARGUMENT.match(stop.what), stop.line or 0
        following = (other.line or 0 for other in every if (other.path, other.what) == (stop.path, stop.what))
        end = min((number for number in following if number > line), default=line + _CALL)
        named = match and any(
            (other.path, other.cell) == (stop.path, None)
            and f"`{match['name']}=` of {match['owner']} " in f"{other.what} "
            and line <= (other.line or 0) < end
            for other in found
        )
        if not named:
            yield stop


def _found(sources: Sequence[Source], made: Plan, again: Sequence[Finding]) -> Iterator[Stop]:
    """The findings that stop: those of the result, then those that were left and that a look at it does not see."""
    taken_out = {(item.code, item.path, item.message): item.reason for item in made.findings if not item.applied}
    said, places = set(), set()
    for item in again:
        key = (item.code, item.path, item.message)
        said.add(key)
        if _stops(item):
            reason = taken_out.get(key, item.reason)
            if item.applied and key not in taken_out:
                reason = f"`fixer run` rewrites it where {item.code} is not left out"
            elif item.fix == "unsafe":
                reason = f"{reason.rstrip('.')}; `--unsafe-fixes` rewrites it"
            places.add((item.code, item.path, item.cell, item.span.line))
            yield Stop(item.path, item.span.line, item.message, reason, item.code, item.cell)
    before, after = {source.path: source.data for source in sources}, made.final()
    moved: dict[str, LineMap] = {}
    for item in made.findings:
        if not item.applied and _stops(item) and (item.code, item.path, item.message) not in said:
            line = item.span.line
            if item.cell is None and item.path in after:
                if item.path not in moved:
                    moved[item.path] = LineMap(before.get(item.path, b""), after[item.path])
                line = moved[item.path].line(line)
            if (item.code, item.path, item.cell, line) not in places:
                yield Stop(item.path, line, item.message, item.reason, item.code, item.cell)


def _stops(finding: Finding) -> bool:
    return finding.stops and not finding.path.endswith(_DOCUMENTS)


def _seen(item: Evidence) -> Iterator[Stop]:
    """What the proof saw stop: names that the target lacks, and an error that ended the training."""
    for text in (*item.problems, *item.left):
        match = _LINE.fullmatch(text)
        if match and not match["what"].startswith(_UNREAD):
            todo = "use its replacement; `fixer verify --conforms` checks it again"
            yield Stop(match["path"], int(match["line"]), match["what"], todo)
    failure = None if item.alone else _failure(item.before, item.after)
    if failure:
        path, _, number = (failure.place or "").rpartition(":")
        script = item.after.script if item.after else ""
        what = f"{failure.type}: {' '.join(failure.said.split())}"
        todo = "fix it, and run fixer again: the training ended there"
        yield Stop(path or script, int(number) if path and number.isdigit() else None, what, todo)
    elif item.verdict == "regressed":
        todo = "leave out the rule that did it (`--ignore`), or fix it"
        yield Stop(item.after.script if item.after else item.group, None, item.reason, todo)


def _failure(before: Recording | None, after: Recording | None) -> Failure | None:
    """The error that ended the training of the result, where it is of the code and not of what is around it."""
    failure = after.failure if after and not after.fitted else None
    if failure is None or (failure.type == "ModuleNotFoundError" and "lightning" not in failure.message):
        return None
    if _SURROUNDINGS.search(failure.type) or re.search(r"CUDA|NVIDIA|NCCL", failure.message):
        return None
    if _PROGRAM.search(failure.message) and failure.type not in _OF_THE_CODE:
        return None
    old = before.failure if before else None
    same = old is not None and failure.is_like(old)
    return None if same and failure.type not in _OF_THE_CODE else failure


def _caveat(evidence: Sequence[Evidence], verified: bool) -> str:
    """What the answer lacks."""
    if not verified:
        return "nothing was run, so only the findings say so"
    unseen = [code for item in evidence if item.rung not in ("trains", "same") for code in item.codes]
    if unseen or not evidence:
        return f"no training showed it for {', '.join(dict.fromkeys(unseen)) or 'anything'}"
    return ""
