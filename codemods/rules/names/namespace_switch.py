"""The move of a whole project to one of Lightning's two namespaces, where the user asks for it: `--namespace`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.code.calls import space_of
from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.source import CallNode, PythonFile, TextFile
from codemods.code.syntax import uses
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rewrite.import_statement import why_not
from codemods.rule import Match, TextEdit
from codemods.rules.names.lit003 import ENDED, ended, refusal
from codemods.rules.names.sites import Sites, dotted_of, read_sites, root_of, serves_both
from codemods.rules.names.table import FABRIC

OLD, NEW = "pytorch_lightning", "lightning.pytorch"
SPACES = {"pytorch_lightning": OLD, "lightning": NEW}
"""What `--namespace` takes, with the package that Lightning is then imported from."""
ROOTS = ("Callback", "LightningDataModule", "LightningModule", "Trainer", "seed_everything", "__version__")
LOADERS = ("getLogger", "import_module", "find_spec", "patch")
ROW = "B06"
REASON = "--namespace asks for it; both hold the same code, module by module."
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")


def renamed(dotted: str, to: str) -> str | None:
    """What a dotted name is called in the namespace `to`; None where it is not of the other one."""
    away = OLD if to == NEW else NEW
    for here, there in ((away, to), (FABRIC[away], FABRIC[to])):
        if dotted == here or dotted.startswith(here + "."):
            return there + dotted[len(here) :]
    first, _, rest = dotted.partition(".")
    if to == OLD and first == "lightning" and rest:
        name = rest.partition(".")[0]
        return f"{OLD}.{rest}" if name in ROOTS else f"{FABRIC[OLD]}.{rest}" if name == "Fabric" else None
    return None


@dataclass(frozen=True)
class _NamespaceUse:
    """A place that names the other namespace, and its edits; none where it has to be left."""

    node: ast.alias | ast.stmt | ast.expr
    edits: tuple[TextEdit, ...] = ()
    why: str = ""


def python_matches(file: PythonFile, facts: Facts, to: str) -> Iterator[Match]:
    """The imports, chains and strings of a file that have to move to `to`; what is handed to, or taken from, a library
    that was built on `pytorch_lightning` stays there."""
    sites = read_sites(file)
    places = [*_imports(file, sites, to), *_strings(file, sites, to)]
    package = next((name for _, name in ended(file, facts)), "") if to == NEW else ""
    held = f"{refusal(package)}, and its classes are refused by a Trainer of `{NEW}`" if package else ""
    stuck = next((place.why for place in places if place.why), "")
    level, reason = _sure(facts, to)
    for place in places:
        message = f"the project is to take Lightning from `{to}`"
        if stuck or held:
            why = place.why or held or f"another place of the file has to be looked at: {stuck}"
            yield Match(file.span(place.node), message, "manual", f"Not rewritten: {why}.", ROW)
        else:
            yield Match(file.span(place.node), message, level, reason, ROW, place.edits, unit=file.path, needs="2.0.0")


def _sure(facts: Facts, to: str) -> tuple[Fix, str]:
    """How surely a file may move, and why: what stays for a library's sake refuses the classes of what moves."""
    if "names.held" not in facts.memo:
        files = (
            facts.open(path)
            for path, source in facts.sources.items()
            if any(package.encode() in source.unescaped for package in ENDED)
        )
        facts.memo["names.held"] = next((file.path for file in files if file and any(ended(file, facts))), "")
    stays = facts.memo["names.held"]
    if to != NEW or not stays:
        return "safe", REASON
    return (
        "unsafe",
        f"{REASON} {stays} stays, and fixer assumes that it passes no class "
        "of Lightning to others, and gets none from them.",
    )


def _imports(file: PythonFile, sites: Sites, to: str) -> Iterator[_NamespaceUse]:
    for node, scope, arms in sites.imports:
        if isinstance(node, ast.ImportFrom):
            if not node.level and not serves_both(node, arms):
                yield from _from(file, node, to)
        else:
            for alias in node.names:
                if not serves_both(node, arms):
                    yield from _plain(file, sites, node, alias, scope, to)
    yield from _chains(file, sites, to)


def _from(file: PythonFile, node: ast.ImportFrom, to: str) -> Iterator[_NamespaceUse]:
    module = node.module or ""
    new = renamed(module, to)
    start, end = file.offsets(node)
    if new:
        place = file.text.index(module, start, end)
        yield _NamespaceUse(node, (TextEdit(place, place + len(module), new),))
    elif module == "lightning" and to == OLD:
        names = {alias: renamed(f"lightning.{alias.name}", to) for alias in node.names}
        refusal = why_not(file, node)
        if refusal or None in names.values():
            unknown = next((alias.name for alias, name in names.items() if name is None), "")
            yield _NamespaceUse(node, why=refusal or f"`{unknown}` has no place in `{to}`")
            return
        lines = [_statement(str(name), alias.asname or alias.name) for alias, name in names.items()]
        indent = file.text[file.text.rfind("\n", 0, start) + 1 : start]
        yield _NamespaceUse(node, (TextEdit(start, end, f"\n{indent}".join(_joined(lines))),))


def _statement(dotted: str, bound: str) -> tuple[str, str]:
    """What is imported from where, to be bound to a name; a package by itself comes from nowhere."""
    module, _, name = dotted.rpartition(".")
    return module, name if name == bound else f"{name} as {bound}"


def _joined(items: list[tuple[str, str]]) -> list[str]:
    modules = dict.fromkeys(module for module, _ in items)
    names = {module: ", ".join(name for home, name in items if home == module) for module in modules}
    return [f"from {module} import {names[module]}" if module else f"import {names[module]}" for module in modules]


def _plain(
    file: PythonFile, sites: Sites, node: ast.Import, alias: ast.alias, scope: Scope, to: str
) -> Iterator[_NamespaceUse]:
    new = renamed(alias.name, to)
    start = file.offsets(alias)[0]
    if new:
        bound = new.partition(".")[0]
        others = scope.bindings.get(bound, frozenset()) - {bound}
        if not alias.asname and others:
            yield _NamespaceUse(node, why=f"this file uses the name `{bound}` for something else")
        else:
            yield _NamespaceUse(alias, (TextEdit(start, start + len(alias.name), new),))
    elif alias.name == "lightning" and to == OLD:
        yield _of_package(file, sites, alias)


def _of_package(file: PythonFile, sites: Sites, alias: ast.alias) -> _NamespaceUse:
    """`import lightning as L`: whole where everything that is reached through it is in pytorch_lightning."""
    bound = alias.asname or alias.name
    edits = []
    uses = [item for item, where in sites.names if item.id == bound and where.lookup(bound) == "lightning"]
    reached = {id(root_of(chain)) for chain, where, _ in sites.chains if dotted_of(chain, where)}
    if any(id(item) not in reached for item in uses):
        return _NamespaceUse(alias, why=f"`{bound}` is passed on as a whole")
    for chain, where, _ in sites.chains:
        root = root_of(chain)
        if not root or root.id != bound or where.lookup(bound) != "lightning":
            continue
        new = renamed(dotted_of(chain, where) or "", OLD)
        if not new or not new.startswith(OLD + "."):
            return _NamespaceUse(alias, why=f"`{ast.unparse(chain)}` is not in `{OLD}`")
        if alias.asname:
            edits.append(TextEdit(*file.offsets(chain), bound + new[len(OLD) :]))
    start = file.offsets(alias)[0]
    return _NamespaceUse(alias, (TextEdit(start, start + len("lightning"), OLD), *edits))


def _chains(file: PythonFile, sites: Sites, to: str) -> Iterator[_NamespaceUse]:
    """What is reached through a package that is imported by its own name: `pytorch_lightning.Trainer`."""
    roots = {OLD, FABRIC[OLD]} if to == NEW else {"lightning"}
    within = {id(root_of(chain)) for chain, _, _ in sites.chains}
    for chain, scope, _ in sites.chains:
        root = root_of(chain)
        if not root or root.id not in roots or scope.lookup(root.id) != root.id:
            continue
        part: ast.expr = chain
        while isinstance(part, ast.Attribute):
            new = renamed(dotted_of(part, scope) or "", to)
            below = renamed(dotted_of(part.value, scope) or "", to)
            if new and not below:
                yield _NamespaceUse(part, (TextEdit(*file.offsets(part), new),))
                break
            part = part.value
        else:
            new = renamed(root.id, to)
            yield (
                _NamespaceUse(root, (TextEdit(*file.offsets(root), new),))
                if new
                else _NamespaceUse(chain, why=f"`{ast.unparse(chain)}` has no place in `{to}`")
            )
    for name, scope in sites.names:
        if name.id in roots and id(name) not in within and scope.lookup(name.id) == name.id:
            new = renamed(name.id, to)
            yield _NamespaceUse(
                name, (TextEdit(*file.offsets(name), new),) if new else (), "" if new else "it is passed on"
            )


def _strings(file: PythonFile, sites: Sites, to: str) -> Iterator[_NamespaceUse]:
    """Dotted names in strings; a package alone where a call takes it for one."""
    calls = [
        call
        for call in file.calls_near(LOADERS)
        if call.node.args and isinstance(call.node.func, ast.Name | ast.Attribute)
        if getattr(call.node.func, "attr", getattr(call.node.func, "id", "")) in LOADERS
    ]
    loaded = {id(item) for call in calls for item in _spelled_out(file, call, calls)}
    for node, value in sites.strings:
        new = renamed(value, to) if DOTTED.fullmatch(value) else None
        start = file.place_in(node, value)
        if not new or start is None or ("." not in value and id(node) not in loaded):
            continue
        yield _NamespaceUse(node, (TextEdit(start, start + len(value), new),))


def _spelled_out(file: PythonFile, call: CallNode, calls: Sequence[CallNode]) -> Iterator[ast.expr]:
    """What a call is given: an expression, or each item of the list that a loop around it takes a name through, where
    neither the name nor the list serves anything but such calls."""
    node = call.node.args[0]
    yield node
    served = {id(other.node.args[0]) for other in calls}
    name = node.id if isinstance(node, ast.Name) else ""
    for loop in walk(space_of(file, call)) if name else ():
        for target, source in _goes_through(loop):
            held = [item for item in uses(loop, name) if isinstance(item.ctx, ast.Load)]
            if target != name or node not in held or not {id(item) for item in held} <= served:
                continue
            if isinstance(source, ast.Name) and len(file.assignments_to(source.id)) == 1:
                alone = len(uses(file.tree, source.id)) == 2
                source = file.assignments_to(source.id)[0].node.value or source if alone else source
            if isinstance(source, ast.List | ast.Tuple | ast.Set):
                yield from source.elts


def _goes_through(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The plain names that a loop, or a comprehension, takes through something."""
    loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
    for loop in loops:
        if isinstance(loop.target, ast.Name):
            yield loop.target.id, loop.iter


_IN_TEXT = {
    NEW: re.compile(r"(?<![\w./@-])(?:pytorch_lightning|lightning_fabric)(?:\.\w+)*(?![\w/@-])"),
    OLD: re.compile(r"(?<![\w./@-])lightning\.(?:pytorch|fabric|Trainer|LightningModule)(?:\.\w+)*(?![\w/@-])"),
}
_LOADED = re.compile(r"(?:import|from|-m)[ \t]+$")
_VALUE = re.compile(r"(?:^|[:=,\[{-])[ \t]*[\"']?$")


def text_matches(file: TextFile, facts: Facts, to: str) -> Iterator[Match]:
    """The names of configurations that have to move, and the first mention of each other file."""
    config = file.kind in ("yaml", "json", "toml")
    level, reason = _sure(facts, to)
    for place in _IN_TEXT[to].finditer(file.text):
        new = renamed(place.group(), to)
        line_start = file.text.rfind("\n", 0, place.start()) + 1
        before = file.text[line_start : place.start()]
        if not new or (config and "#" in before):
            continue
        if not config and "." not in place.group() and not _LOADED.search(before):
            continue
        message = f"the project is to take Lightning from `{to}`"
        span = file.span(*place.span())
        after = file.text[place.end() :].partition("\n")[0].strip()
        whole = after.startswith(('"', "'", ",", "]", "}", "#", "(")) or not after
        if config and _VALUE.search(before) and whole and "." in place.group():
            yield Match(span, message, level, reason, ROW, (TextEdit(*place.span(), new),), needs="2.0.0")
            continue
        yield Match(span, message, "manual", f"Not rewritten: it is in running text. It is `{new}` then.", ROW)
        if not config:
            return
