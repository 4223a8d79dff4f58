"""Chains of attributes that lead to a name of Lightning's which moved, or is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.source import PythonFile
from codemods.rule import Match, TextEdit
from codemods.rules.names.moved_metrics import REFUSAL, Levels, as_sure_as_used, level_of
from codemods.rules.names.report import left_match, look_up, message, moved_match, own
from codemods.rules.names.sites import Arms, Sites, dotted_of, is_lightning, under_version_check
from codemods.rules.names.statement import import_of
from codemods.rules.names.table import Gone, spelled, split
from codemods.rules.names.uses import whole_line

IDLE_DECORATORS = ("pl.data_loader", "pl.core.decorators.data_loader", "pl.core.decorators.parameter_validation")


def chain_matches(file: PythonFile, sites: Sites, target: tuple[int, ...], levels: Levels) -> Iterator[Match]:
    for chain, scope, arms in sites.chains:
        hit = _chain_hit(chain, scope, target)
        if not hit:
            continue
        node, namespace, entry = hit
        dotted = dotted_of(chain, scope) or ""
        entry = as_sure_as_used(entry, levels, dotted)
        if under_version_check(arms):
            if not _both_arms(sites, arms):
                yield left_match(file, node, namespace, entry, "it is inside a version check")
            continue
        if entry.old in IDLE_DECORATORS and chain in sites.decorators and node is chain:
            yield _idle(file, chain, namespace, entry)
            continue
        if type(node.ctx) is not ast.Load:
            yield left_match(file, node, namespace, entry, "it is set here: who asks for the old name needs it")
            continue
        edits = _chain_edits(file, node, scope, namespace, entry)
        if edits and level_of(levels, dotted) == "manual":
            yield left_match(file, node, namespace, entry, REFUSAL)
        elif edits:
            yield moved_match(file, node, namespace, entry, "unsafe" if entry.caution else "safe", edits, "")
        else:
            yield left_match(
                file, node, namespace, entry, "it is reached by a chain of attributes" if entry.new else ""
            )


def _both_arms(sites: Sites, arms: Arms) -> bool:
    """Whether the other arm of the version check around a place speaks of Lightning too."""
    outer, part = next((item, name) for item, name in arms if isinstance(item, ast.If))
    other = {
        inner for name in ("body", "orelse") if name != part for item in getattr(outer, name) for inner in walk(item)
    }
    chains = any(node in other and "lightning" in (dotted_of(node, scope) or "") for node, scope, _ in sites.chains)
    return chains or any(node in other for node, _, _ in sites.imports)


def _idle(file: PythonFile, chain: ast.Attribute, namespace: str, entry: Gone) -> Match:
    """A decorator that did nothing any more: its line goes."""
    edit = whole_line(file, *file.offsets(chain), before="@")
    if edit is None:
        return left_match(file, chain, namespace, entry, "")
    reason = "The decorator has no effect any more: it is removed."
    return Match(file.span(chain), message(namespace, entry), "safe", reason, entry.row, (edit,), needs="1.0.0")


def _chain_hit(chain: ast.Attribute, scope: Scope, target: tuple[int, ...]) -> tuple[ast.Attribute, str, Gone] | None:
    """The longest part of a chain that the table speaks of itself, or the first that is gone; none where the import
    that it begins with is what breaks."""
    parts: list[ast.Attribute] = []
    node: ast.expr = chain
    while isinstance(node, ast.Attribute):
        parts.append(node)
        node = node.value
    base = dotted_of(node, scope)
    if not base or not is_lightning(base) or look_up(base, target):
        return None
    hits = [(part, *hit) for part in parts if (dotted := dotted_of(part, scope)) and (hit := own(dotted, target))]
    itself = [
        (part, name, entry) for part, name, entry in hits if split(dotted_of(part, scope) or "") == (name, entry.old)
    ]
    if not itself or itself[0][0] is parts[0] or itself[0][2].is_name:
        return itself[0] if itself else None
    part, name, entry = itself[0]
    return part, name, replace(entry, new="", advice=f"check {spelled(entry.new, name)} for it" if entry.new else "")


def _chain_edits(
    file: PythonFile, node: ast.Attribute, scope: Scope, namespace: str, entry: Gone
) -> tuple[TextEdit, ...]:
    """The edits that lead a chain to its new place, with the import of another package where that is one."""
    if entry.expression or not entry.new.startswith(("pl.", "metrics.")):
        return ()
    if entry.new.startswith("pl."):
        if written := _written_start(file, node, scope, spelled(entry.new, namespace)):
            return (TextEdit(*file.offsets(node), written),)
        if root := _alias(file, node, scope, namespace):
            return (TextEdit(*file.offsets(node), root + entry.new[len("pl") :]),)
    package = spelled(entry.new, namespace).partition(".")[0]
    known = scope.lookup(package)
    if known not in (None, package) or (not known and _hidden(scope, package)):
        return ()
    added = () if known else import_of(file, package)
    return (TextEdit(*file.offsets(node), spelled(entry.new, namespace)), *added) if added is not None else ()


def _alias(file: PythonFile, node: ast.Attribute, scope: Scope, namespace: str) -> str | None:
    """The name that an import of the module's own body before a place gives to the namespace, where it is that here."""
    before = [line for line in file.tree.body if isinstance(line, ast.Import) and line.lineno < node.lineno]
    aliases = [alias for line in before for alias in line.names]
    names = [alias.asname or alias.name for alias in aliases if alias.name == namespace]
    return next((name for name in names if "." not in name and scope.lookup(name) == namespace), None)


def _hidden(scope: Scope | None, name: str) -> bool:
    """Whether a function or class around a place binds a name itself."""
    while scope is not None and scope.parent is not None:
        if name in scope.bindings:
            return True
        scope = scope.parent
    return False


def _written_start(file: PythonFile, node: ast.Attribute, scope: Scope, new: str) -> str | None:
    """The new place as it is written after the longest part of a chain that leads there too: `pl`, or `loggers` of
    `loggers.LightningLoggerBase`."""
    part = node.value
    while True:
        dotted = dotted_of(part, scope)
        if dotted and new.startswith(f"{dotted}."):
            return file.source_of(part) + new[len(dotted) :]
        if not isinstance(part, ast.Attribute):
            return None
        part = part.value
