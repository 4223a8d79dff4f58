"""All edits and findings of a run: each rule rewrites what it found, one rule after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile, groupby

from codemods.code.source import PythonFile, Source, TextFile, Unreadable
from codemods.engine.draft import Change as Change
from codemods.engine.draft import Draft, Step
from codemods.engine.passes import finding_of, is_present, matches
from codemods.engine.reconcile import Unit, told
from codemods.engine.refused import Key, Refusals, key_of
from codemods.engine.rewriting import DEEP, RequestedRewrite, RewrittenFile, fresh, rewritten
from codemods.engine.scan import Options, Progress, Scan, scan, seldom_collecting
from codemods.engine.scan_cache import Memory
from codemods.engine.triggers import awake, sees_text
from codemods.engine.turns import KnownTurns, Looked
from codemods.finding import Finding
from codemods.lightning.facts import Facts
from codemods.lightning.pins.stated import is_forked, pins_of
from codemods.rule import Match, Rule

BEHIND_ALL = 2
"""How often a rule was late that has its turn behind those for requirements, too; once is behind the others."""


@dataclass(frozen=True)
class Plan:
    """The edits (in the order in which they were made) and findings of a run. `bugs` are rewrites that were
    thrown away because their result did not hold, `spent` the seconds that each rule took where nothing is rewritten.
    Files that rules make are Python modules."""

    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    bugs: tuple[str, ...] = ()
    spent: Mapping[str, float] = field(default_factory=dict, compare=False)

    def final(self) -> dict[str, bytes]:
        """The new content of every changed file."""
        return {change.path: change.after for change in self.changes}


def find(
    sources: Sequence[Source], options: Options, progress: Progress | None = None, memory: Memory | None = None
) -> Plan:
    """The findings alone: LibCST is not loaded and nothing is rewritten."""
    looked = scan(sources, options, progress, memory)
    return Plan(looked.findings, skipped=looked.skipped, spent=looked.spent)


def plan(
    sources: Sequence[Source], options: Options, progress: Progress | None = None, memory: Memory | None = None
) -> Plan:
    """Finds and rewrites."""
    return planned(sources, options, progress, memory, keeps_steps=False)[0]


def planned(
    sources: Sequence[Source],
    options: Options,
    progress: Progress | None = None,
    memory: Memory | None = None,
    *,
    keeps_steps: bool = True,
) -> tuple[Plan, Draft]:
    """Finds and rewrites; the draft holds the steps on the way, with the trees of their files.

    A rewrite is thrown away, and its findings become `manual`, where the result does not parse, where the
    rule would change it again, or where a second run over the whole result would. A rule that finds something to
    rewrite in what rules behind it made has its turn behind them, with what is known of their result; where it still
    does, as one that goes by requirements which others raised, behind all, with the requirements as they are then.
    """
    with seldom_collecting():
        return _planned(sources, options, progress, memory or Memory(), keeps_steps)


def _planned(
    sources: Sequence[Source], options: Options, progress: Progress | None, memory: Memory, keeps_steps: bool
) -> tuple[Plan, Draft]:
    thrown: dict[Key, str] = {}
    while True:
        asked = replace(options, refused=frozenset({*options.refused, *thrown})) if thrown else options
        draft, looked, again = _attempted(sources, asked, progress, memory, keeps_steps)
        if not (lost := _thrown(draft, looked, options)):
            break
        thrown |= lost
    left = {(finding.code, finding.path, finding.message, finding.row) for finding in again}
    settled = [_settle(finding, draft, asked, thrown) for finding in looked.findings]
    changed = {path for _, path in draft.changed}
    texts = {path: (draft.base[path].data, draft.now[path].data) for path in changed & draft.base.keys()}
    findings = told(settled, left, draft.changed, draft.seen, texts)
    bad = {**draft.rejected, **{key[:2]: why for key, why in thrown.items()}}
    bugs = tuple(f"{code} in {path}: {why}" for (code, path), why in sorted(bad.items()) if why != DEEP)
    return Plan(findings, tuple(draft.changes), looked.skipped, bugs), draft


def _thrown(draft: Draft, looked: Scan, options: Options) -> dict[Key, str]:
    """What was found to be rewritten and was thrown away: rules that go by what others rewrite have counted on it."""
    last = {rule.code for rule in options.rules if rule.last}
    return {
        key_of(finding): why
        for finding in looked.findings
        if finding.applied and finding.code not in last and last
        if (why := draft.rejected.get((finding.code, finding.path)))
    }


def _attempted(
    sources: Sequence[Source], options: Options, progress: Progress | None, memory: Memory, keeps_steps: bool
) -> tuple[Draft, Scan, Sequence[Finding]]:
    """What the rules make of the files, what was found in them, and what a second run finds in the result."""
    refusals = Refusals(options.refused, sources)
    looked = scan(sources, options, progress, memory, refusals)
    refusals.learn(looked.by_unit)
    turns = KnownTurns(looked.facts)
    rejected: dict[Unit, str] = {}
    late: dict[str, int] = {}
    last = {rule.code for rule in options.rules if rule.last}
    while True:
        draft = Draft(sources, rejected, refusals, turns, keeps_steps=keeps_steps)
        _rewrite(draft, looked, options, late, memory)
        again = _look_at_result(draft, looked, options, memory).findings if draft.changes else ()
        unstable = {
            (finding.code, finding.path): "a second run would change the result"
            for finding in again
            if finding.applied and (finding.code, finding.path) not in draft.rejected
        }
        may = _eased(looked, again) - late.keys() - last
        if opened := _opened(draft, looked, options, memory, may):
            late = {**late, **dict.fromkeys(opened, 1)}
            continue
        if not unstable:
            break
        if led_to := {code for code, _ in unstable if late.get(code, 0) < (1 if code in last else BEHIND_ALL)}:
            here = _opened(draft, looked, options, memory, led_to - last) | last
            late = {**late, **{code: late.get(code, 0) + 1 if code in here else BEHIND_ALL for code in led_to}}
        else:
            rejected = {**draft.rejected, **unstable}
    return draft, looked, again


def _eased(looked: Scan, again: Sequence[Finding]) -> set[str]:
    """The rules that left a place to a person, and see less in the way of a rewrite in the result."""
    left = {(finding.code, finding.path, finding.message) for finding in looked.findings if finding.fix == "manual"}
    found = (finding for finding in again if finding.fix != "manual")
    return {finding.code for finding in found if (finding.code, finding.path, finding.message) in left}


def _opened(draft: Draft, looked: Scan, options: Options, memory: Memory, codes: Collection[str]) -> set[str]:
    """Those of some rules that would rewrite what others left, by the pins that there were: the result is judged by
    those that there are then, of which the release that code was written for can no longer be told."""
    if not codes:
        return set()
    rules = tuple(rule for rule in options.rules if rule.code in codes)
    found = _look_again(draft, looked, replace(options, rules=rules), memory.of_result).findings
    return {each.code for each in found if each.applied and (each.code, each.path) not in draft.rejected}


def walked(
    earlier: Draft, sources: Sequence[Source], options: Options, refused: Collection[Key], memory: Memory
) -> Iterator[tuple[Draft, Sequence[Step]]]:
    """Goes once more through the turns that rules had in an earlier draft, and says what each of them rewrites in what
    the others left. What is added to `refused` before the next is asked for is left, and said once more without it."""
    known = len(refused)
    first: Rule | None = None
    for rule, own in groupby(earlier.steps, key=lambda step: step.rule):
        first = rule
        yield earlier, [*own]
        if len(refused) > known:
            break
    else:
        return
    rules = [*dropwhile(lambda rule: rule is not first, _in_turn(options, earlier.late))]
    draft, known, scanned = earlier.until(rules), -1, -1
    for rule in rules:
        while True:
            if len(refused) > known:
                draft.refusals, known = Refusals(refused, sources), len(refused)
            if scanned < 0 or (rule.last and scanned < known):
                looked, scanned = scan(sources, options, None, memory.again(), draft.refusals), known
            draft.refusals.learn(looked.by_unit)
            attempt, facts = _turn(rule, draft, looked, options, memory)
            if attempt.steps:
                yield draft, attempt.steps
            if len(refused) == known:
                break
        draft.take(attempt.changes, attempt.steps, attempt.files, facts)


def _settle(finding: Finding, draft: Draft, options: Options, thrown: Mapping[Key, str]) -> Finding:
    if why := thrown.get(key_of(finding)):
        return _discarded(finding, why)
    why = draft.rejected.get((finding.code, finding.path))
    match = draft.turned.get(finding)
    if match and not (why and options.applies(finding.code, match)):
        return replace(finding, applied=options.applies(finding.code, match), fix=match.fix, reason=match.reason)
    return finding if not finding.applied or why is None else _discarded(finding, why)


def _discarded(finding: Finding, why: str) -> Finding:
    reason = f"fixer discarded its own rewrite ({why}); please report it"
    if why == DEEP:
        reason = f"Not rewritten: {DEEP}, or that of a file which changes with it."
    return replace(finding, applied=False, fix="manual", reason=reason)


def _rewrite(draft: Draft, looked: Scan, options: Options, late: Mapping[str, int], memory: Memory) -> None:
    draft.late = late
    for rule in _in_turn(options, late):
        attempt, facts = _turn(rule, draft, looked, options, memory)
        draft.take(attempt.changes, attempt.steps, attempt.files, facts)


def _in_turn(options: Options, late: Mapping[str, int]) -> list[Rule]:
    """The rules in the order in which they rewrite."""

    def turn(rule: Rule) -> tuple[bool, ...]:
        times = late.get(rule.code, 0)
        return not rule.judges_ignores, times == BEHIND_ALL, rule.last, times > 0

    return sorted(options.rules, key=turn)


def _turn(rule: Rule, draft: Draft, looked: Scan, options: Options, memory: Memory) -> tuple[_RuleAttempt, Facts]:
    """What a rule rewrites when its turn comes, with the facts that it knows then."""
    known = looked
    times = draft.late.get(rule.code, 0)
    if times == BEHIND_ALL:
        known = _look_at_result(draft, looked, options, memory)
    elif times and not (rule.last and _rewrites_base(rule, looked)):
        known = _look_again(draft, looked, options, memory.of_result)
    while True:
        attempt, failed = _apply_rule(rule, draft, looked, known, options)
        if not failed:
            return attempt, known.facts
        draft.rejected.update(failed)


def _rewrites_base(rule: Rule, looked: Scan) -> bool:
    """Whether a rule found something to rewrite in the files as they were; what one that goes last found there goes by
    what others will have rewritten, and is not found again where they have."""
    return any(finding.applied and finding.code == rule.code for finding in looked.findings)


@dataclass(frozen=True)
class _RuleAttempt:
    """The changes of one rule over all files, the steps that led to them, and their results where those are Python."""

    changes: Sequence[Change] = ()
    steps: Sequence[Step] = ()
    files: Mapping[str, PythonFile] = field(default_factory=dict)


def _apply_rule(
    rule: Rule, draft: Draft, looked: Scan, known: Scan, options: Options
) -> tuple[_RuleAttempt, dict[Unit, str]]:
    """The rule's changes over all files, or, where one fails, it and the files it shares a unit with. `looked` is what
    the base tree gave, `known` the same or, for a rule that comes late, what was looked at for it."""
    changed = {change.path for change in draft.changes}
    wanted = _wanted(rule, draft, looked, known, changed, options)
    for path in wanted:
        why = draft.rejected.get((rule.code, path))
        torn = {(rule.code, item) for item in _sharing(path, wanted)} - draft.rejected.keys()
        if why and torn:
            return _RuleAttempt(), dict.fromkeys(torn, why)
    if gone := _torn(rule, wanted, draft, looked, known.facts, options):
        return _RuleAttempt(), dict.fromkeys(gone, "another rule already changed a part of this place")
    changes: list[Change] = []
    steps: list[Step] = []
    files: dict[str, PythonFile] = {}
    for path, want in wanted.items():
        if not want.matches or (rule.code, path) in draft.rejected:
            continue
        result = _rewritten(rule, draft, path, want, known.facts, options)
        if isinstance(result, str):
            return _RuleAttempt(), {(rule.code, item): result for item in (path, *_sharing(path, wanted))}
        changes.append(Change(rule.code, path, draft.now[path].data, result.data))
        if isinstance(result.file, PythonFile):
            files[path] = result.file
        made = _created(rule, want.matches, {*draft.now, *(change.path for change in changes)})
        changes += made
        steps.append(Step(rule, draft.now[path], want, {each.path: each.after for each in made}))
    return _RuleAttempt(changes, steps, files), {}


def _rewritten(
    rule: Rule, draft: Draft, path: str, want: RequestedRewrite, facts: Facts, options: Options
) -> RewrittenFile | str:
    source, turns = draft.now[path], draft.turns
    if want.refused:
        return rewritten(rule, source, want, facts, options)
    return turns.once(turns.rewritten, rule, source, facts, lambda: rewritten(rule, source, want, facts, options))


def _wanted(
    rule: Rule, draft: Draft, looked: Scan, known: Scan, changed: Container[str], options: Options
) -> dict[str, RequestedRewrite]:
    """What a rule is to rewrite in each file, as they are by now, less what was refused and what that takes along."""
    looks: dict[str, Looked] = {}
    for path in sorted(known.present):
        calls, said = rule.code in known.present[path], known.by_unit.get((rule.code, path), [])
        if path in changed and _can_wait(calls, said):
            continue
        if calls and path not in changed and _is_settled(said):
            draft.seen[rule.code, path] = said
        elif calls or (path in changed and _wakes(rule, path, draft, known.facts)):
            looks[path] = _looked_at(rule, path, draft, known.facts, options)
    refused = _refused(rule, draft, looks, options)
    wanted: dict[str, RequestedRewrite] = {}
    for path, (file, matched) in looks.items():
        off = refused.get(path, set())
        found = [replace(match, edits=()) if number in off else match for number, match in enumerate(matched)]
        asked = [match for match in found if options.applies(rule.code, match)]
        wanted[path] = RequestedRewrite(file, asked, found, len(off))
        if path in changed:
            draft.turned |= _turned(rule, path, found, looked, options)
        draft.seen[rule.code, path] = [finding_of(rule, match, file, options) for match in found if file]
    return wanted


def _refused(
    rule: Rule,
    draft: Draft,
    looks: Mapping[str, tuple[PythonFile | TextFile | None, Sequence[Match]]],
    options: Options,
) -> dict[str, set[int]]:
    """The numbers of the matches in each file that were refused, or are parts of a change of which a part was."""
    refused: dict[str, set[int]] = {}
    for path, (file, found) in looks.items() if draft.refusals.names(rule.code) else ():
        told = [finding_of(rule, match, file, options) for match in found if file]
        gone = enumerate(draft.refusals.refused(told, draft.now[path]))
        if numbers := {number for number, off in gone if off and options.applies(rule.code, found[number])}:
            refused[path] = numbers
    units = {unit for path, gone in refused.items() for number in gone if (unit := looks[path][1][number].unit)}
    for path, (_, found) in looks.items() if units else ():
        refused.setdefault(path, set()).update(
            number for number, match in enumerate(found) if match.unit in units and options.applies(rule.code, match)
        )
    return refused


def _can_wait(calls: bool, said: Sequence[Finding]) -> bool:
    """Whether a rule that looks at a file found nothing there, so that what others make for it to rewrite is seldom:
    the look at the result finds it, and the rule comes late then."""
    return calls and not said


def _is_settled(said: Sequence[Finding]) -> bool:
    """Whether what a rule found in a file is all that it would find again, and nothing to rewrite."""
    return not any(finding.applied for finding in said)


def _turned(rule: Rule, path: str, fresh: Sequence[Match], looked: Scan, options: Options) -> dict[Finding, Match]:
    """The findings that what other rules made of the file says otherwise of: they were to be rewritten and cannot be
    there, or the other way round."""
    named: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in looked.by_unit.get((rule.code, path), ()):
        named.setdefault((finding.message, finding.row), []).append(finding)
    turned: dict[Finding, Match] = {}
    for said, findings in named.items():
        now = sorted((match for match in fresh if (match.message, match.row) == said), key=lambda match: match.span)
        if len(now) != len(findings):
            now = now[:1] * len(findings) if not any(options.applies(rule.code, match) for match in now) else []
        turned |= {
            finding: match
            for finding, match in zip(findings, now, strict=bool(now))
            if finding.applied != options.applies(rule.code, match)
        }
    return turned


def _torn(
    rule: Rule, wanted: Mapping[str, RequestedRewrite], draft: Draft, looked: Scan, facts: Facts, options: Options
) -> set[Unit]:
    """The files of changes of which a part was found in the base tree and is not found any more, while another is."""
    claimed = Counter(finding.path for finding in looked.findings if finding.applied and finding.code == rule.code)
    units = {path: {match.unit for match in each.matches} for path, each in wanted.items()}
    torn: set[Unit] = set()
    for path, number in claimed.items():
        if (rule.code, path) in draft.rejected or (path in wanted and len(wanted[path].matches) >= number):
            continue
        before = fresh(rule, draft.base[path], facts, options)
        lost = {match.unit for match in before if match.unit} - units.get(path, set())
        sharing = {other for other, found in units.items() if lost & found}
        torn |= {(rule.code, item) for item in (path, *sharing) if sharing}
    return torn - draft.rejected.keys()


def _created(rule: Rule, wanted: Sequence[Match], there: Container[str]) -> list[Change]:
    """The files that matches bring along and that are not there yet."""
    texts = dict(item for match in wanted for item in match.creates)
    return [Change(rule.code, path, b"", text.encode()) for path, text in sorted(texts.items()) if path not in there]


def _sharing(path: str, wanted: Mapping[str, RequestedRewrite]) -> set[str]:
    """The files that hold a part of a change that this file holds a part of."""
    units = {match.unit for match in wanted[path].matches if match.unit}
    return {other for other, found in wanted.items() if units & {match.unit for match in found.matches}}


def _wakes(rule: Rule, path: str, draft: Draft, facts: Facts) -> bool:
    """Whether a rule that saw nothing in a file has to look at what other rules made of it."""
    source = draft.now[path]
    if rule.last or not awake(source, (rule,)):
        return False
    return draft.turns.once(draft.turns.woken, rule, source, facts, lambda: _may_match(rule, path, draft, facts))


def _may_match(rule: Rule, path: str, draft: Draft, facts: Facts) -> bool:
    source = draft.now[path]
    if (rule.present is None and rule.spelled is None) or sees_text(rule, source):
        return True
    try:
        file = draft.open(rule, path, facts)
    except Unreadable:
        return False
    return isinstance(file, PythonFile) and is_present(rule, file)


def _looked_at(rule: Rule, path: str, draft: Draft, facts: Facts, options: Options) -> Looked:
    """A file as a rule sees it, with what it finds there; nothing where it cannot be read."""

    def look() -> Looked:
        try:
            file = draft.open(rule, path, facts)
        except Unreadable:
            return None, []
        return file, matches(rule, file, facts, options)

    return draft.turns.once(draft.turns.looked, rule, draft.now[path], facts, look)


def _look_at_result(draft: Draft, looked: Scan, options: Options, memory: Memory) -> Scan:
    """What a second run would find, with the pins that there are then where those of before were the project's own."""
    after = _after(draft)
    if options.pins == pins_of([*draft.base.values()]):
        options = replace(options, pins=pins_of(after), forked=is_forked(after))
    later = memory.of_result
    found = _look_again(draft, looked, options, later)
    memory.keep_result(later)
    return found


def _after(draft: Draft) -> list[Source]:
    """The files that were there, as they are now, and those that were made."""
    made = sorted(draft.now.keys() - draft.base.keys())
    return [draft.now[path] for path in (*draft.base, *made)]


def _look_again(draft: Draft, looked: Scan, options: Options, memory: Memory) -> Scan:
    """What a look at the result gives, of which `memory` is to know."""
    rules = tuple(rule for rule in options.rules if not rule.judges_ignores)
    asked = replace(options, rules=rules)
    memory.parsed = lambda source: draft.parsed(source) or looked.facts.trees.known(source)
    found = scan(_after(draft), asked, memory=memory, refusals=draft.refusals.behind(draft.seen))
    memory.parsed = found.facts.trees.known
    return found
