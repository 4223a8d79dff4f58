"""Which metrics are rewritten together: those of one class, and all that one old name makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from codemods.code.calls import innermost
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Match
from codemods.rules.metrics.renamed import MetricSite, sites
from codemods.rules.metrics.table import RENAMED, metric_of

Found = list[tuple[CallNode, Match]]


def with_names(file: PythonFile, facts: Facts, found: Found, waiting: Set[str | None]) -> Iterator[Match]:
    """The matches, with the new names of metrics that have others since 0.8: a name and all that it makes are rewritten
    together, or none of them, as where it is `waiting` for a person in another place."""
    named = {call.node: dotted for call, _ in found if (dotted := _old_name(call))}
    if not named:
        yield from _together(found)
        return
    places: dict[str, list[MetricSite]] = {}
    for site in sites(file, facts):
        places.setdefault(site.dotted, []).append(site)
    unplain = {name for name, every in places.items() if any(site.edits is None for site in every)}
    stuck = _stuck(found, named, {*unplain, *waiting})
    given = []
    for call, match in found:
        dotted = named.get(call.node, "")
        last = dotted.rpartition(".")[2]
        old = f"`{last}` is `{RENAMED[last]}` since torchmetrics 0.8" if dotted else ""
        if match.fix != "manual" and not stuck & _ties(call, named):
            edits = [edit for site in places.pop(dotted, ()) for edit in site.edits or ()]
            reason = f"{match.reason} {old}." if old else match.reason
            match = replace(match, edits=(*match.edits, *edits), reason=reason, unit=file.path)
        elif match.fix != "manual":
            match = _waiting(match, f"{old}, and what else has that name" if old else "what is imported with it")
        elif old:
            spelled = ast.unparse(call.node.func)
            told = match.reason.replace(f"`{spelled}(", f"`{spelled.removesuffix(last)}{RENAMED[last]}(")
            match = replace(match, reason=told.replace("Not rewritten: ", f"Not rewritten: {old}; ", 1))
        given.append((call, match))
    yield from _together(given)


def _stuck(found: Found, named: Mapping[ast.Call, str], stuck: set[object]) -> set[object]:
    """The classes and the old names of which a part waits for a person."""
    while True:
        more = {
            key
            for call, match in found
            if match.fix == "manual" or stuck & _ties(call, named)
            for key in _ties(call, named)
        }
        if more <= stuck:
            return stuck
        stuck = stuck | more


def _old_name(call: CallNode) -> str | None:
    """The dotted name of a metric of torchmetrics that is called otherwise now."""
    dotted = call.scope.resolve(call.node.func) or ""
    return dotted if spelled_new(call) and dotted.rpartition(".")[2] in RENAMED and metric_of(dotted) else None


def _ties(call: CallNode, named: Mapping[ast.Call, str]) -> set[object]:
    """What a call is rewritten together with: its class, and its old name."""
    return {key for key in (_owner(call), named.get(call.node)) if key}


def _waiting(match: Match, who: str) -> Match:
    told = f"{match.reason[:1].lower()}{match.reason[1:]}"
    reason = f"Not rewritten: {who} has to be repaired by hand; {told}"
    return replace(match, fix="manual", edits=(), unit="", reason=reason)


def _together(found: Found) -> Iterator[Match]:
    """The matches; of one class all are rewritten or none."""
    levels = {(_owner(call), match.fix) for call, match in found if _owner(call)}
    for call, match in found:
        owner = _owner(call)
        if match.fix != "manual" and (owner, "manual") in levels:
            yield _waiting(match, "another metric of the class")
        elif match.fix == "safe" and (owner, "unsafe") in levels:
            yield replace(match, fix="unsafe", reason=f"{match.reason} Another metric of the class is not as sure.")
        else:
            yield match


def _owner(call: CallNode) -> ast.AST | None:
    return innermost(call.within, ast.ClassDef)


def unit_of(file: PythonFile, call: CallNode) -> str:
    """What names the matches of a class."""
    owner = _owner(call)
    return f"{file.path}:{getattr(owner, 'lineno', '')}" if owner else ""


def spelled_new(call: CallNode) -> bool:
    """Whether a call goes to torchmetrics itself rather than to what Lightning had of it."""
    return (call.scope.resolve(call.node.func) or "").startswith("torchmetrics.")
