"""All edits and findings of a run: each rule rewrites what it found, one rule after the other."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codemods.code.notebook import Notebook
from codemods.code.parsed_files import load
from codemods.code.source import PythonFile, Source, TextFile, Unreadable
from codemods.code.unbound import lost, lost_in_scope
from codemods.engine.looks import finding_of, is_present, matches
from codemods.engine.memory import Memory
from codemods.engine.scan import Options, Progress, Scan, scan
from codemods.engine.telling import Unit, told
from codemods.engine.triggers import awake, sees_text
from codemods.finding import Finding
from codemods.lightning.facts import Facts
from codemods.rule import Match, NodeEdit, Rule, TextEdit

DEEP = "its code nests too deeply"
"""Why a rewrite is left out that LibCST cannot make; no fault of the rule."""


@dataclass(frozen=True)
class Change:
    """What one rule did to one file; `before` is empty for a file that it made."""

    code: str
    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Plan:
    """The edits (in the order in which they were made) and findings of a run. `bugs` are rewrites that were
    thrown away because their result did not hold. Files that rules make are Python modules."""

    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    bugs: tuple[str, ...] = ()

    def final(self) -> dict[str, bytes]:
        """The new content of every changed file."""
        return {change.path: change.after for change in self.changes}


@dataclass
class _Draft:
    """The state of a plan in the making: current bytes, those of the base tree, changes so far, what was thrown away
    and why, findings that were not rewritten after all, as they were found when their rule's turn came, and all that
    each rule found then."""

    data: dict[str, bytes]
    base: Mapping[str, bytes]
    changes: list[Change] = field(default_factory=list)
    rejected: dict[Unit, str] = field(default_factory=dict)
    turned: dict[Finding, Match] = field(default_factory=dict)
    seen: dict[Unit, list[Finding]] = field(default_factory=dict)

    @property
    def changed(self) -> set[Unit]:
        """The rules that changed a file, with its path."""
        return {(change.code, change.path) for change in self.changes if change.before}


def find(
    sources: Sequence[Source], options: Options, progress: Progress | None = None, memory: Memory | None = None
) -> Plan:
    """The findings alone: LibCST is not loaded and nothing is rewritten."""
    looked = scan(sources, options, progress, memory)
    return Plan(looked.findings, skipped=looked.skipped)


def plan(
    sources: Sequence[Source], options: Options, progress: Progress | None = None, memory: Memory | None = None
) -> Plan:
    """Finds and rewrites.

    A rewrite is thrown away, and its findings become `manual`, where the result does not parse, where the
    rule would change it again, or where a second run over the whole result would. A rule that finds something to
    rewrite in what rules behind it made has its turn behind them, with what is known of their result.
    """
    memory = memory or Memory()
    looked = scan(sources, options, progress, memory)
    rejected: dict[Unit, str] = {}
    late: frozenset[str] = frozenset()
    while True:
        draft = _rewrite(sources, looked, options, rejected, late, memory)
        again = _look_again(sources, draft, options, memory.again()).findings if draft.changes else ()
        unstable = {
            (finding.code, finding.path): "a second run would change the result"
            for finding in again
            if finding.applied and (finding.code, finding.path) not in draft.rejected
        }
        if not unstable:
            break
        if led_to := {code for code, _ in unstable} - late:
            late |= led_to
        else:
            rejected = {**draft.rejected, **unstable}
    left = {(finding.code, finding.path, finding.message, finding.row) for finding in again}
    settled = [_settle(finding, draft, options) for finding in looked.findings]
    texts = {path: (draft.base[path], data) for path, data in draft.data.items() if data != draft.base.get(path, data)}
    findings = told(settled, left, draft.changed, draft.seen, texts)
    bugs = tuple(f"{code} in {path}: {why}" for (code, path), why in sorted(draft.rejected.items()) if why != DEEP)
    return Plan(findings, tuple(draft.changes), looked.skipped, bugs)


def _settle(finding: Finding, draft: _Draft, options: Options) -> Finding:
    why = draft.rejected.get((finding.code, finding.path))
    match = draft.turned.get(finding)
    if match and not (why and options.applies(match)):
        return replace(finding, applied=options.applies(match), fix=match.fix, reason=match.reason)
    if not finding.applied or why is None:
        return finding
    reason = f"fixer's own rewrite was thrown away ({why}); please report it"
    if why == DEEP:
        reason = f"Not rewritten: {DEEP}, or that of a file which changes with it."
    return replace(finding, applied=False, fix="manual", reason=reason)


def _rewrite(
    sources: Sequence[Source],
    looked: Scan,
    options: Options,
    rejected: Mapping[Unit, str],
    late: Container[str],
    memory: Memory,
) -> _Draft:
    base = {source.path: source.data for source in sources}
    draft = _Draft(dict(base), base, rejected=dict(rejected))
    kinds = {source.path: source.kind for source in sources}
    for rule in sorted(options.rules, key=lambda rule: (not rule.judges_ignores, rule.last, rule.code in late)):
        known = looked
        if rule.code in late and not rule.last:
            now = _look_again(sources, draft, options, memory.again())
            known = replace(looked, facts=now.facts, present=now.present)
            kinds = dict.fromkeys(draft.data, "python") | kinds
        while True:
            attempt, failed = _apply_rule(rule, draft, kinds, known, options)
            if not failed:
                break
            draft.rejected.update(failed)
        draft.changes.extend(attempt)
        draft.data.update({change.path: change.after for change in attempt})
    return draft


def _apply_rule(
    rule: Rule, draft: _Draft, kinds: Mapping[str, str], looked: Scan, options: Options
) -> tuple[list[Change], dict[Unit, str]]:
    """The rule's changes over all files, or, where one fails, it and the files it shares a unit with."""
    wanted: dict[str, list[Match]] = {}
    changed = {change.path for change in draft.changes}
    for path in sorted(looked.present):
        source = Source(path, kinds[path], draft.data[path])
        if rule.code in looked.present[path] or (path in changed and _wakes(rule, source)):
            file, fresh = _looked_at(rule, source, looked.facts, options)
            wanted[path] = [match for match in fresh if options.applies(match)]
            if path in changed:
                draft.turned |= _turned(rule, path, fresh, looked, options)
            draft.seen[rule.code, path] = [finding_of(rule, match, file, options) for match in fresh if file]
    for path in wanted:
        why = draft.rejected.get((rule.code, path))
        torn = {(rule.code, item) for item in _sharing(path, wanted)} - draft.rejected.keys()
        if why and torn:
            return [], dict.fromkeys(torn, why)
    if gone := _torn(rule, wanted, draft, kinds, looked, options):
        return [], dict.fromkeys(gone, "a rule before it took a part of its change away")
    changes: list[Change] = []
    for path, found in wanted.items():
        if not found or (rule.code, path) in draft.rejected:
            continue
        source = Source(path, kinds[path], draft.data[path])
        after, why = _rewritten(rule, source, found, looked.facts, options)
        if why:
            return [], {(rule.code, item): why for item in (path, *_sharing(path, wanted))}
        changes.append(Change(rule.code, path, source.data, after))
        changes += _created(rule, found, {*draft.data, *(change.path for change in changes)})
    return changes, {}


def _turned(rule: Rule, path: str, fresh: Sequence[Match], looked: Scan, options: Options) -> dict[Finding, Match]:
    """The findings that what other rules made of the file says otherwise of: they were to be rewritten and cannot be
    there, or the other way round."""
    named: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in looked.findings:
        if finding.code == rule.code and finding.path == path:
            named.setdefault((finding.message, finding.row), []).append(finding)
    turned: dict[Finding, Match] = {}
    for said, findings in named.items():
        now = sorted((match for match in fresh if (match.message, match.row) == said), key=lambda match: match.span)
        if len(now) != len(findings):
            now = now[:1] * len(findings) if not any(map(options.applies, now)) else []
        turned |= {
            finding: match
            for finding, match in zip(findings, now, strict=bool(now))
            if finding.applied != options.applies(match)
        }
    return turned


def _torn(
    rule: Rule,
    wanted: Mapping[str, Sequence[Match]],
    draft: _Draft,
    kinds: Mapping[str, str],
    looked: Scan,
    options: Options,
) -> set[Unit]:
    """The files of changes of which a part was found in the base tree and is not found any more, while another is."""
    claimed = Counter(finding.path for finding in looked.findings if finding.applied and finding.code == rule.code)
    torn: set[Unit] = set()
    for path, number in claimed.items():
        if (rule.code, path) in draft.rejected or len(wanted.get(path, ())) >= number:
            continue
        before = _fresh(rule, Source(path, kinds[path], draft.base[path]), looked.facts, options)
        lost = {match.unit for match in before if match.unit} - {match.unit for match in wanted.get(path, ())}
        sharing = {other for other, found in wanted.items() if lost & {match.unit for match in found}}
        torn |= {(rule.code, item) for item in (path, *sharing) if sharing}
    return torn - draft.rejected.keys()


def _created(rule: Rule, wanted: Sequence[Match], there: Container[str]) -> list[Change]:
    """The files that matches bring along and that are not there yet."""
    texts = dict(item for match in wanted for item in match.creates)
    return [Change(rule.code, path, b"", text.encode()) for path, text in sorted(texts.items()) if path not in there]


def _sharing(path: str, wanted: Mapping[str, Sequence[Match]]) -> set[str]:
    """The files that hold a part of a change that this file holds a part of."""
    units = {match.unit for match in wanted[path] if match.unit}
    return {other for other, found in wanted.items() if units & {match.unit for match in found}}


def _wakes(rule: Rule, source: Source) -> bool:
    """Whether a rule that saw nothing in a file has to look at what other rules made of it."""
    if rule.last or not awake(source, (rule,)):
        return False
    if rule.present is None or sees_text(rule, source):
        return True
    try:
        file = load(source)
    except Unreadable:
        return False
    return isinstance(file, PythonFile) and is_present(rule, file)


def _looked_at(
    rule: Rule, source: Source, facts: Facts, options: Options
) -> tuple[PythonFile | TextFile | None, list[Match]]:
    """A file as a rule sees it, with what it finds there; nothing where it cannot be read."""
    try:
        file = load(source, sees_text(rule, source))
        return file, matches(rule, file, facts, options)
    except Unreadable:
        return None, []


def _fresh(rule: Rule, source: Source, facts: Facts, options: Options) -> list[Match]:
    return _looked_at(rule, source, facts, options)[1]


def _rewritten(
    rule: Rule, source: Source, wanted: Sequence[Match], facts: Facts, options: Options
) -> tuple[bytes, str | None]:
    """The new bytes, or the reason why there are none."""
    file = load(source, sees_text(rule, source))
    edits = [edit for match in wanted for edit in match.edits]
    try:
        after = file.encode(_edited(file, edits, [item for match in wanted for item in match.imports]))
    except Exception as error:
        return b"", DEEP if _is_deep(error) else f"{type(error).__name__}: {error}"
    result = replace_data(source, after)
    try:
        if source.kind == "python":
            name = lost(ast.parse(source.data), ast.parse(after)) or lost_in_scope(source.data, after)
            if name:
                return b"", f"the result reads `{name}`, which nothing binds any more"
            if _compiles(source.data):
                _compile(after)
        elif isinstance(file, Notebook):
            load(result)
    except RecursionError:
        return b"", DEEP
    except (SyntaxError, ValueError, Unreadable) as error:
        return b"", f"the result does not parse: {error}"
    if after == source.data:
        return b"", "the rewrite changed nothing"
    if any(options.applies(match) for match in _fresh(rule, result, facts, options)):
        return b"", "the rule would change its own result again"
    return after, None


def _is_deep(error: BaseException) -> bool:
    """Whether an error comes of code that nests too deeply; LibCST may fail otherwise on its way out."""
    every: list[BaseException | None] = [error]
    while every[-1] is not None:
        every.append(every[-1].__cause__ or every[-1].__context__)
    return any(isinstance(item, RecursionError) for item in every)


def _compiles(data: bytes) -> bool:
    """Whether Python takes a file, which asks for more than its grammar: no two parameters of a name, no stray
    `return`."""
    try:
        _compile(data)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _compile(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, "<file>", "exec", dont_inherit=True)


def replace_data(source: Source, data: bytes) -> Source:
    """The same file with other content."""
    return replace(source, data=data)


def _edited(
    file: PythonFile | TextFile,
    edits: Sequence[NodeEdit | TextEdit],
    imports: Sequence[tuple[str, str | None]],
) -> str:
    from codemods.rewrite.locate import apply_node_edits, apply_text_edits

    nodes = [edit for edit in edits if isinstance(edit, NodeEdit)]
    texts = [edit for edit in edits if isinstance(edit, TextEdit)]
    if not isinstance(file, PythonFile) or (texts and not nodes):
        return apply_text_edits(file.text, texts)
    if texts:
        raise ValueError("edits of nodes and of text do not go together")
    return apply_node_edits(file, nodes, imports)


def _look_again(sources: Sequence[Source], draft: _Draft, options: Options, memory: Memory) -> Scan:
    """What a look at the result gives."""
    after = [replace_data(source, draft.data[source.path]) for source in sources]
    made = sorted(draft.data.keys() - {source.path for source in sources})
    after += [Source(path, "python", draft.data[path]) for path in made]
    rules = tuple(rule for rule in options.rules if not rule.judges_ignores)
    return scan(after, replace(options, rules=rules, jobs=1), memory=memory)
