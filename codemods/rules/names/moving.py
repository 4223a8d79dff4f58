"""Names that a table says moved, wherever a file speaks of them: imports, chains of attributes and strings."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import bound_by
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.rewrite.import_statement import ImportTarget, moved, why_not
from codemods.rule import Match, TextEdit
from codemods.rules.names.availability import FLAGS
from codemods.rules.names.chains import chain_matches
from codemods.rules.names.report import MovedName, NameTable, left_match, moved_match
from codemods.rules.names.sites import (
    Sites,
    dotted_of,
    root_of,
    serves_both,
    source_module,
    under_version_check,
)
from codemods.rules.names.uses import GATHER, reworded

DOTTED = re.compile(r"[\w.]+")
CHECKED = "it is inside a version check"


def moved_names(file: PythonFile, facts: Facts, sites: Sites, names: NameTable) -> Iterator[Match]:
    """Every place of a file that has such a name, with the edits that take it from where it is now."""
    for node, _, arms in sites.imports:
        if serves_both(node, arms):
            continue
        checked = under_version_check(arms)
        if isinstance(node, ast.ImportFrom):
            yield from _from_import(file, facts, sites, node, names, checked)
        else:
            yield from _plain_import(file, facts, sites, node, names, checked)
    yield from chain_matches(file, sites, names)
    yield from _strings(file, sites, names)


def _from_import(
    file: PythonFile, facts: Facts, sites: Sites, node: ast.ImportFrom, names: NameTable, checked: bool
) -> Iterator[Match]:
    module = source_module(node, file.path)
    if not names.covers(module) or node.level:
        return
    dotted = {alias: f"{module}.{alias.name}" for alias in node.names}
    found = {alias: names.sure(hit, dotted[alias]) for alias in node.names if (hit := names.own(dotted[alias]))}
    if file.plain and any(alias.name in FLAGS for alias in found):
        return  # what else is moved goes with the uses of flags, of which the normal form leaves out some
    refusal = why_not(file, node)
    spared = {
        alias: told
        for alias, hit in found.items()
        if node in file.tree.body
        and not refusal
        and (not hit.new or alias.name == GATHER)
        and (told := reworded(file, sites, facts, alias, module))
    }
    movable = {
        alias: hit
        for alias, hit in found.items()
        if hit.new
        and alias not in spared
        and not (refusal or checked or hit.refusal)
        and _kept_together(sites, names, alias, dotted[alias], hit)
    }
    uses = {alias: _uses(file, sites, facts, node, alias, hit) for alias, hit in movable.items()}
    uses |= {alias: (told.target(alias), list(told.edits)) for alias, told in spared.items()}
    places = {alias: place for alias, (place, _) in uses.items()}
    present = (
        _own_names(file, node) | {("", alias.name) for alias in spared} | _brought(file, facts, sites, node, names)
    )
    edits = (
        (*moved(file, node, places, present), *(edit for _, changed in uses.values() for edit in changed))
        if places
        else ()
    )
    unsure = any(hit.caution for hit in movable.values()) or any(told.level != "safe" for told in spared.values())
    level: Fix = "unsafe" if unsure else "safe"
    unit = f"{file.path}:{node.lineno}"
    for alias, hit in found.items():
        if alias in spared:
            told = spared[alias]
            yield Match(file.span(alias), hit.message, level, told.reason, hit.row, edits, unit=unit, needs=told.needs)
        elif alias in movable:
            yield moved_match(file, alias, hit, level, edits, unit)
        else:
            why = CHECKED if checked else refusal or hit.refusal
            yield left_match(file, alias, hit, why if hit.new else "")


def _brought(
    file: PythonFile, facts: Facts, sites: Sites, place: ast.ImportFrom, names: NameTable
) -> frozenset[tuple[str, str]]:
    """What the imports above one bring to the file in the place of names that it does without."""
    found = set()
    for node, _, arms in sites.imports:
        above = isinstance(node, ast.ImportFrom) and node in file.tree.body and node.lineno < place.lineno
        module = source_module(node, file.path) if isinstance(node, ast.ImportFrom) and above else ""
        if not module or not names.covers(module) or serves_both(node, arms):
            continue
        for alias in node.names if not why_not(file, node) else ():
            hit = names.own(f"{module}.{alias.name}")
            told = reworded(file, sites, facts, alias, module) if hit and not hit.new else None
            if told and told.instead:
                found.add((told.instead.module, told.instead.name))
    return frozenset(found)


def _kept_together(sites: Sites, names: NameTable, alias: ast.alias, dotted: str, hit: MovedName) -> bool:
    """Whether everything that a file reaches through a moved module is in its new place under the same name."""
    if not hit.parts:
        return True
    for chain, scope, _ in sites.chains:
        spelling = dotted_of(chain, scope) or ""
        root = root_of(chain)
        if spelling.startswith(dotted + ".") and root and root.id == (alias.asname or alias.name):
            below = spelling[len(dotted) :]
            child = f".{below.split('.')[1]}"
            there, deeper = names.find(dotted + child), names.find(spelling)
            if there is None or there.new != hit.new + child or (deeper and deeper.new != hit.new + below):
                return False
    return True


def _own_names(file: PythonFile, place: ast.ImportFrom) -> frozenset[tuple[str, str]]:
    """What the file imports under its own name in the body of the module, by then."""
    return frozenset(
        (node.module or "", alias.name)
        for node in file.tree.body
        if isinstance(node, ast.ImportFrom) and not node.level and node.lineno <= place.lineno
        for alias in node.names
        if alias.asname in (None, alias.name)
    )


def _uses(
    file: PythonFile, sites: Sites, facts: Facts, node: ast.ImportFrom, alias: ast.alias, hit: MovedName
) -> tuple[ImportTarget, list[TextEdit]]:
    """Where a name is imported from now, and the edits of its uses where it has another name there."""
    new_module, _, name = hit.new.rpartition(".")
    old, dotted = alias.asname or alias.name, f"{node.module}.{alias.name}"
    if alias.asname or name == alias.name:
        return ImportTarget(new_module, name, old), []
    present = (new_module, name) in _own_names(file, node)
    uses = _names_of(file, facts, sites, old, dotted, name, hit.new if present else "")
    if uses is None and not hit.expression:
        return ImportTarget(new_module, name, old), []
    if uses is None:
        uses = [item for item, scope in sites.names if item.id == old and scope.lookup(old) == dotted]
    written = hit.expression or name
    return ImportTarget(new_module, name, name), [TextEdit(*file.offsets(item), written) for item in uses]


def _plain_import(
    file: PythonFile, facts: Facts, sites: Sites, node: ast.Import, names: NameTable, checked: bool
) -> Iterator[Match]:
    for alias in node.names:
        hit = names.broken(alias.name)
        if not hit:
            continue
        hit = names.sure(hit, alias.name)
        unit = f"{file.path}:{node.lineno}"
        away = not (alias.asname or hit.root or checked or hit.refusal)
        if away and (edits := _package(file, facts, sites, names, alias, hit)):
            yield moved_match(file, alias, hit, hit.level, edits, unit)
            continue
        stays = _kept_together(sites, names, alias, alias.name, hit) if alias.asname else bool(hit.root)
        if hit.new and not checked and stays and not hit.refusal:
            edit = TextEdit(*file.offsets(alias), _aliased(hit.new, alias))
            yield moved_match(file, alias, hit, hit.level, (edit,), unit)
        else:
            yield left_match(file, alias, hit, CHECKED if checked else hit.refusal)


def _package(
    file: PythonFile, facts: Facts, sites: Sites, names: NameTable, alias: ast.alias, hit: MovedName
) -> tuple[TextEdit, ...]:
    """The edits after which a package that is imported by its own name is another one: it has its new name wherever the
    file says the old one, or is known here by that. None where a part of it is elsewhere, or it is imported twice."""
    old = alias.name
    bound = [each for node, _, _ in sites.imports for each in node.names if bound_by(node, each) == old]
    if not hit.new or "." in old or len(bound) > 1 or not _kept_together(sites, names, alias, old, hit):
        return ()
    uses = _names_of(file, facts, sites, old, old, hit.new) if "." not in hit.new else None
    if uses is None:
        return (TextEdit(*file.offsets(alias), f"{hit.new} as {old}"),)
    return (TextEdit(*file.offsets(alias), hit.new), *(TextEdit(*file.offsets(node), hit.new) for node in uses))


def _names_of(
    file: PythonFile, facts: Facts, sites: Sites, old: str, dotted: str, new: str, present: str = ""
) -> list[ast.Name] | None:
    """The places where a file says a name that it imports once; None where something else may mean the name by that
    word, or the new one means anything but what is imported as `present`."""
    uses = [node for node, scope in sites.names if node.id == old and scope.lookup(old) == dotted]
    spoken = Counter(re.findall(r"\b\w+\b", file.text))[old]
    imports = sum(old in (item.name, item.asname) for node, _, _ in sites.imports for item in node.names)
    whole = spoken == len(uses) + imports and imports == 1 and not is_read_elsewhere(facts, file, old)
    return uses if whole and not _is_taken(file, sites, new, present) else None


def _is_taken(file: PythonFile, sites: Sites, name: str, present: str) -> bool:
    """Whether a name means anything in a file but what the module imports as `present`: what else binds it anywhere,
    or what Python or a star has by it."""
    if not re.search(rf"\b{name}\b", file.text):
        return False
    scopes = [scope for node, scope, _ in sites.imports for alias in node.names if bound_by(node, alias) == name]
    inner = any(not isinstance(scope.node, ast.Module) for scope in scopes)
    if inner or file.scope.bindings.get(name, frozenset()) != ({present} if present else frozenset()):
        return True
    if any(node.id == name and not (present and isinstance(node.ctx, ast.Load)) for node, _ in sites.names):
        return True
    others = (node for node in walk(file.tree) if not isinstance(node, ast.alias | ast.keyword))
    return any(name in (getattr(node, part, None) for part in ("arg", "name", "rest")) for node in others)


def _aliased(module: str, alias: ast.alias) -> str:
    return f"{module} as {alias.asname}" if alias.asname else module


def _strings(file: PythonFile, sites: Sites, names: NameTable) -> Iterator[Match]:
    for node, value in sites.strings:
        if not (names.covers(value) and DOTTED.fullmatch(value)):
            continue
        hit = names.in_string(value)
        if not hit:
            continue
        start = file.place_in(node, value)
        if hit.new and "sys.modules" in file.lines[node.lineno - 1]:
            yield left_match(file, node, hit, "it is a key of sys.modules: who asks for the old name needs it")
        elif hit.new and hit.in_text:
            yield left_match(file, node, hit, hit.in_text)
        elif hit.new and not hit.expression and start is not None:
            edit = TextEdit(start, start + len(value), hit.new)
            yield moved_match(file, node, hit, hit.level, (edit,), "")
        else:
            yield left_match(file, node, hit, "")
