"""The two looks at a file: what it says alone, and what the rules find in it once the facts of all are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from packaging.version import Version

from codemods.code.notebook import Notebook, place_in_cell
from codemods.code.source import PythonFile, TextFile, Unreadable
from codemods.engine.linked_findings import is_called, seen_for_another, seen_together
from codemods.engine.normal_form_findings import is_spelled, is_unlike, may_hold, seen_through
from codemods.engine.rule_failures import FAILED, whom_to_tell
from codemods.engine.triggers import asks_of_trainers, is_indirect, sees_text
from codemods.engine.workers import Item
from codemods.engine.workspace import Options, Workspace
from codemods.finding import Finding, Span
from codemods.lightning.dead_code import is_dead
from codemods.lightning.facts import Facts, FileFacts
from codemods.lightning.file_summary import collect_file
from codemods.lightning.linking import together
from codemods.lightning.spelling import hidden
from codemods.rewrite.origin import around
from codemods.rule import Match, NodeEdit, Rule

Ask = Callable[[], None]
"""Is called between files, or rules; what it raises ends a look."""
Every = Callable[[Rule, "PythonFile | TextFile", Facts], Iterator[Match]]
IsAbsent = Callable[[Rule, PythonFile], bool]


@dataclass(frozen=True)
class FirstLook:
    """What the first look at a file gave: its facts (None where it has none), the codes of the rules that are to look
    at it again, why it could not be read, and what rules collected of a file that is not Python."""

    facts: FileFacts | None
    present: tuple[str, ...]
    error: str | None = None
    collected: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Checked:
    """What the second look at a file gave: its findings, the (code, unit) pairs of which a part was silenced there,
    the codes in its comments that silenced something, with path and line, and the codes of rules that cannot match
    in it."""

    findings: tuple[Finding, ...] = ()
    silenced: frozenset[tuple[str, str]] = frozenset()
    served: frozenset[tuple[str, int, str]] = frozenset()
    absent: frozenset[str] = frozenset()


def read(workspace: Workspace, item: Item) -> FirstLook:
    """What one file says, with what the rules of those codes want of it."""
    path, codes = item
    source = workspace.sources[path]
    texts = tuple(rule.code for rule in workspace.options.rules if rule.code in codes and sees_text(rule, source))
    try:
        file = workspace.open(path, bool(codes) and len(texts) == len(codes))
    except Unreadable as error:
        return FirstLook(None, texts if source.kind == "notebook" else (), str(error))
    if isinstance(file, TextFile):
        return FirstLook(None, codes, collected=_collected_text(file, workspace.options.rules, codes))
    rules = [rule for rule in workspace.options.rules if rule.code in codes and rule.code not in texts]
    said: dict[Any, Any] = {}
    try:
        for rule in rules:
            if (collect := rule.collect) and collect not in said:
                with workspace.timed(rule):
                    said[collect] = collect(file)
    except RecursionError:
        return FirstLook(None, (), "cannot be read as Python: its code nests too deeply")
    except Exception as error:
        return FirstLook(None, (), f"could not be looked at ({type(error).__name__}: {error}); please report it")
    collected = {rule.code: value for rule in rules if rule.collect and (value := said[rule.collect]) is not None}
    if rules and workspace.trees.has_room:
        workspace.trees.hold(path)
    unread = f"{file.unread}; the other cells were looked at" if isinstance(file, Notebook) and file.unread else None
    return FirstLook(collect_file(file, collected), (*texts, *(rule.code for rule in rules)), unread)


def _is_absent(rule: Rule, file: PythonFile) -> bool:
    """Whether a file, in whatever form rules see it, cannot hold a match of a rule."""
    if rule.present is None:
        return not may_hold(rule, file)
    if rule.kinds == ("python",) and asks_of_trainers(rule):
        if "indirect" not in file.memo:
            file.memo["indirect"] = is_indirect(file.text.encode(errors="surrogatepass"))
        if file.memo["indirect"]:
            return False
    return not is_present(rule, file)


def is_present_as_written(rule: Rule, file: PythonFile) -> bool:
    """Whether a file as it is written can hold a match of a rule."""
    return may_hold(rule, file) and (rule.present is None or rule.present(file))


def is_present(rule: Rule, file: PythonFile) -> bool:
    """Whether a file, as it is written or in its normal form, can hold a match of a rule."""
    if is_present_as_written(rule, file):
        return True
    if rule.present is None or not is_spelled(rule, file):
        return False
    try:
        return is_unlike(rule, file) and file.normal is not None and rule.present(file.normal)
    except Exception:  # the second look fails there too, and says so
        return "python" in rule.kinds


def _collected_text(file: TextFile, rules: Sequence[Rule], codes: tuple[str, ...]) -> dict[str, Any]:
    asked = [(rule.code, rule.collect_text) for rule in rules if rule.code in codes and rule.collect_text]
    return {code: value for code, collect in asked if (value := collect(file)) is not None}


def check(workspace: Workspace, item: Item, ask: Ask = lambda: None) -> Checked:
    """What the rules of those codes find in one file. `ask` is called before each; what it raises ends the look."""
    return _checked(workspace, item, _every, _is_absent, ask)


def check_as_written(workspace: Workspace, item: Item) -> Checked:
    """What the rules of those codes find in one file as it is written, without what they see through."""
    return _checked(workspace, item, _as_written, lambda rule, file: not is_present_as_written(rule, file))


def _checked(
    workspace: Workspace, item: Item, every_of: Every, is_absent: IsAbsent, ask: Ask = lambda: None
) -> Checked:
    path, codes = item
    options, facts, source = workspace.options, workspace.facts, workspace.sources[path]
    rules = [rule for rule in options.rules if rule.code in codes]
    views: dict[bool, PythonFile | TextFile] = {}
    every: list[tuple[Rule, Match, PythonFile | TextFile]] = []
    absent: set[str] = set()
    alone = path not in together(facts)
    for rule in rules:
        ask()
        as_text = sees_text(rule, source)
        try:
            file = views.setdefault(as_text, views.get(as_text) or workspace.open(path, as_text))
        except Unreadable:
            continue
        if isinstance(file, PythonFile):
            workspace.trees.hold(path)
        with workspace.timed(rule):
            apart = alone or rule.kinds != ("python",)
            if apart and isinstance(file, PythonFile) and is_absent(rule, file):
                absent.add(rule.code)
            else:
                every.extend((rule, match, file) for match in every_of(rule, file, facts))
    silent = [_silent(rule, match, file, options) for rule, match, file in every]
    units = {
        (rule.code, match.unit) for (rule, match, _), quiet in zip(every, silent, strict=True) if match.unit and quiet
    }
    found = tuple(
        finding_of(rule, match, file, options)
        for (rule, match, file), quiet in zip(every, silent, strict=True)
        if not quiet
    )
    workspace.trees.release(path)
    served = {comment for rule, match, file in every for comment in _comments(rule, match, file)}
    return Checked(found, frozenset(units), frozenset(served), frozenset(absent))


def finding_of(rule: Rule, match: Match, file: PythonFile | TextFile, options: Options) -> Finding:
    """What is reported of a match; in a notebook its lines are counted in its cell."""
    cell, span = None, match.span
    if isinstance(file, Notebook):
        cell, span = file.place(span)
    elif isinstance(file, TextFile) and file.kind == "notebook":
        cell, span = place_in_cell(file, span)
    return Finding(
        rule.code,
        file.path,
        span,
        match.message,
        match.fix,
        match.reason,
        match.row,
        cell,
        applied=options.applies(rule.code, match),
        needs=match.needs,
        stops=_stops(rule, options) if match.stops is None else match.stops,
        torchmetrics=match.torchmetrics,
    )


def _stops(rule: Rule, options: Options) -> bool:
    """Whether what a rule names stops on the target where it is left."""
    if rule.stops is not None:
        return rule.stops
    return rule.breaks_in is not None and Version(rule.breaks_in) <= Version(options.target or rule.breaks_in)


def matches(rule: Rule, file: PythonFile | TextFile, facts: Facts, options: Options) -> list[Match]:
    """What a rule finds in a file, less what a comment or an option leaves out."""
    return [match for match in _every(rule, file, facts) if not _silent(rule, match, file, options)]


def _every(rule: Rule, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """A rule's matches; those that belong to a silenced one elsewhere lose their edits."""
    if isinstance(file, PythonFile) and not rule.last and not is_called(rule, file, facts):
        yield from (match for match in seen_for_another(rule, file, facts) if not is_dead(file, facts, match.span))
        return
    found = _found(rule, file, facts)
    if isinstance(file, PythonFile) and not (rule.last or rule.judges_ignores):
        found = seen_together(rule, file, facts, seen_through(rule, file, facts, found))
    yield from _settled(rule, file, facts, found)


def _as_written(rule: Rule, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """A rule's matches in a file as it is written, where it is called there."""
    if not isinstance(file, PythonFile) or is_called(rule, file, facts):
        yield from _settled(rule, file, facts, _found(rule, file, facts))


def _found(rule: Rule, file: PythonFile | TextFile, facts: Facts) -> list[Match]:
    """What a rule finds in a file as it stands. One that fails in one file says so there, and stops neither others nor
    the run."""
    check: Any = rule.check
    try:
        return list(check(file, facts))
    except Exception as error:
        deep = isinstance(error, RecursionError)
        why = "its code nests too deeply" if deep else f"{type(error).__name__}: {error}; {whom_to_tell(rule)}"
        reason = f"Not checked: {why}. Check the file for what `fixer explain {rule.code}` shows."
        return [Match(Span(1, 1, 1, 1), f"{rule.code} {FAILED} this file", "manual", reason)]


def _settled(rule: Rule, file: PythonFile | TextFile, facts: Facts, found: Sequence[Match]) -> Iterator[Match]:
    """Matches as they are told: none of code that never runs, and none with edits that may not be made there."""
    if isinstance(file, PythonFile):
        found = [match for match in found if not is_dead(file, facts, match.span)]
    for match in _named_there(file, found):
        needed = match.needs or rule.needs
        if match.edits and needed and facts.target and Version(needed) > Version(facts.target):
            reason = f"Not rewritten: its replacement exists since Lightning {needed}, and the target is older."
            match = replace(match, fix="manual", reason=reason, edits=())
        if (rule.code, match.unit) in facts.silenced and match.edits:
            reason = "Not rewritten: a part of the same change is ignored by a comment, or lies outside the given path."
            match = replace(match, fix="manual", reason=reason, edits=())
        elif facts.forked and rule.breaks_in and match.fix == "safe":
            unknown = "Lightning is installed here from an address that names no release, so the effect is unknown."
            reason = f"{match.reason.rstrip('.')}. {unknown}"
            match = replace(match, fix="unsafe", reason=reason)
        yield match


def _named_there(file: PythonFile | TextFile, found: Sequence[Match]) -> list[Match]:
    """The matches, without the edits of those that would read an import by a name that is another thing there, and of
    what changes together with them."""
    moving = {match.unit for match in found if _moves_import(match)} - {""}
    asked = (match for match in found if match.unit not in moving and not _moves_import(match))
    taken = {id(match): name for match in asked if (name := _taken(file, match))}
    units = {match.unit: taken[id(match)] for match in found if id(match) in taken and match.unit}
    named = [(match, taken.get(id(match)) or units.get(match.unit)) for match in found]
    return [
        replace(match, fix="manual", reason=_elsewise(match, name), edits=()) if name else match
        for match, name in named
    ]


def _moves_import(match: Match) -> bool:
    """Whether a match has a name come from another module, for all who use it."""
    nodes = (edit.node for edit in match.edits if isinstance(edit, NodeEdit))
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)


def _taken(file: PythonFile | TextFile, match: Match) -> str | None:
    """The name of an import of a match that stands for something else where its edits are made."""
    if not match.imports or not isinstance(file, PythonFile):
        return None
    lines = {edit.node.lineno for edit in match.edits if isinstance(edit, NodeEdit) and hasattr(edit.node, "lineno")}
    places = ((line, tuple(sorted(around(file, line), key=lambda node: node.lineno))) for line in sorted(lines))
    return next((name for line, within in places if (name := hidden(file, match.imports, within, line))), None)


def _elsewise(match: Match, name: str) -> str:
    module = next((module for module, item in match.imports if name == (item or module.partition(".")[0])), name)
    what = f"`{name}` is something else here, or may be"
    return f"Not rewritten: {what}; import that of `{module}` by another name, and use it. {match.reason}"


def _silent(rule: Rule, match: Match, file: PythonFile | TextFile, options: Options) -> bool:
    if file.path in options.left_out or f"{rule.code}:{match.row}" in options.ignored_rows:
        return True
    here = options.ignored_in.get(file.path, ())
    if rule.code.startswith(here) or f"{rule.code}:{match.row}" in here:
        return True
    return any(True for _ in _comments(rule, match, file))


def _comments(rule: Rule, match: Match, file: PythonFile | TextFile) -> Iterator[tuple[str, int, str]]:
    """The codes in comments that silence a match, with path and line (0 where lines are those of a notebook's JSON)."""
    named = {rule.code, f"{rule.code}:{match.row}"} | ({"*"} if not rule.judges_ignores else set())
    for line in {match.span.line, match.span.end_line}:
        for code in file.ignores.get(line, frozenset()) & named:
            yield file.path, 0 if isinstance(file, TextFile) and file.kind == "notebook" else line, code
