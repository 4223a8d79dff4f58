"""Chains of attributes that lead to a name which moved, or is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.source import PythonFile
from codemods.rewrite.import_statement import import_of
from codemods.rule import Match, TextEdit
from codemods.rules.names.report import MovedName, NameTable, left_match, moved_match
from codemods.rules.names.sites import Arms, Sites, dotted_of, under_version_check
from codemods.rules.names.uses import reads_as_property, whole_line


def chain_matches(file: PythonFile, sites: Sites, names: NameTable) -> Iterator[Match]:
    for chain, scope, arms in sites.chains:
        hit = _chain_hit(chain, scope, names)
        if not hit:
            continue
        node, found = hit
        dotted = dotted_of(chain, scope) or ""
        found = names.reached(names.sure(found, dotted), dotted)
        if under_version_check(arms):
            if not _both_arms(sites, names, arms):
                yield left_match(file, node, found, "it is inside a version check")
            continue
        if found.is_idle and chain in sites.decorators and node is chain:
            yield _idle(file, chain, found)
            continue
        if type(node.ctx) is not ast.Load:
            yield left_match(file, node, found, "it is set here: who asks for the old name needs it")
            continue
        edits = _chain_edits(file, node, scope, found)
        if edits and found.refusal:
            yield left_match(file, node, found, found.refusal)
        elif edits:
            yield moved_match(file, node, found, found.level, edits, "")
        else:
            yield left_match(file, node, found, "it is reached by a chain of attributes" if found.new else "")


def _both_arms(sites: Sites, names: NameTable, arms: Arms) -> bool:
    """Whether the other arm of the version check around a place speaks of the package too."""
    outer, part = next((item, name) for item, name in arms if isinstance(item, ast.If))
    other = {
        inner for name in ("body", "orelse") if name != part for item in getattr(outer, name) for inner in walk(item)
    }
    chains = any(node in other and names.covers(dotted_of(node, scope) or "") for node, scope, _ in sites.chains)
    return chains or any(node in other for node, _, _ in sites.imports)


def _idle(file: PythonFile, chain: ast.Attribute, found: MovedName) -> Match:
    """A decorator that did nothing any more: its line goes."""
    edit = whole_line(file, *file.offsets(chain), before="@")
    if edit is None or reads_as_property(file, chain):
        return left_match(file, chain, found, "")
    reason = "The decorator has no effect any more: it is removed."
    return Match(file.span(chain), found.message, "safe", reason, found.row, (edit,), needs="1.0.0")


def _chain_hit(chain: ast.Attribute, scope: Scope, names: NameTable) -> tuple[ast.Attribute, MovedName] | None:
    """The longest part of a chain that the table speaks of itself, or the first that is gone; none where the import
    that it begins with is what breaks."""
    parts: list[ast.Attribute] = []
    node: ast.expr = chain
    while isinstance(node, ast.Attribute):
        parts.append(node)
        node = node.value
    base = dotted_of(node, scope)
    if not base or not names.covers(base) or names.broken(base):
        return None
    hits = [(part, found) for part in parts if (dotted := dotted_of(part, scope)) and (found := names.own(dotted))]
    itself = [(part, found) for part, found in hits if dotted_of(part, scope) == found.old]
    if not itself or itself[0][0] is parts[0] or itself[0][1].is_name:
        return itself[0] if itself else None
    part, found = itself[0]
    return part, replace(found, new="", advice=f"check {found.new} for it" if found.new else "")


def _chain_edits(file: PythonFile, node: ast.Attribute, scope: Scope, found: MovedName) -> tuple[TextEdit, ...]:
    """The edits that lead a chain to its new place, with the import of another package where that is one."""
    if found.expression or not found.new or not (found.root or found.added):
        return ()
    if found.root:
        if written := _written_start(file, node, scope, found.new):
            return (TextEdit(*file.offsets(node), written),)
        if root := _alias(file, node, scope, found.root):
            return (TextEdit(*file.offsets(node), root + found.new[len(found.root) :]),)
    module = found.added or found.new.partition(".")[0]
    package = module.partition(".")[0]
    known = scope.lookup(package)
    if known not in (None, package) or (not known and _hidden(scope, package)):
        return ()
    added = () if known else import_of(file, module)
    return (TextEdit(*file.offsets(node), found.new), *added) if added is not None else ()


def _alias(file: PythonFile, node: ast.Attribute, scope: Scope, root: str) -> str | None:
    """The name that an import of the module's own body before a place gives to a package, where it is that here."""
    before = [line for line in file.tree.body if isinstance(line, ast.Import) and line.lineno < node.lineno]
    aliases = [alias for line in before for alias in line.names]
    names = [alias.asname or alias.name for alias in aliases if alias.name == root]
    return next((name for name in names if "." not in name and scope.lookup(name) == root), None)


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
