"""LIT001: names and modules of Lightning that moved, or are gone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from codemods.facts import Facts
from codemods.finding import Fix
from codemods.metrics.table import TASK, metric_of
from codemods.names.sites import (
    Arms,
    Sites,
    dotted_of,
    is_lightning,
    read_sites,
    root_of,
    serves_both,
    source_module,
    under_version_check,
)
from codemods.names.statement import Place, import_of, moved, why_not
from codemods.names.table import NAMESPACES, OTHERS, Gone, around, find, gone, last_names, spelled, split
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.scopes import Scope
from codemods.source import PythonFile

CODE = "LIT001"
IDLE_DECORATORS = ("pl.data_loader", "pl.core.decorators.data_loader", "pl.core.decorators.parameter_validation")
DOTTED = re.compile(r"[\w.]+")
WORDS = re.compile(r"\w+")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not _present(file):
        return
    sites = read_sites(file)
    target = tuple(int(part) for part in facts.target.split(".")[:2]) if facts.target else (2, 6)
    for node, _, arms in sites.imports:
        if serves_both(node, arms):
            continue
        checked = under_version_check(arms)
        if isinstance(node, ast.ImportFrom):
            yield from _from_import(file, facts, sites, node, target, checked)
        else:
            yield from _plain_import(file, sites, node, target, checked)
    yield from _chains(file, sites, target)
    yield from _strings(file, sites, target)


def _present(file: PythonFile) -> bool:
    """Whether a file may speak of a name that is gone: by an import, by an attribute of what it imports, or by a
    string."""
    if is_lightning(file.module) or any(f"{quote}{name}." in file.text for quote in "'\"" for name in NAMESPACES):
        return True
    shorts = {parts[1] for dotted in _imported(file) if (parts := split(dotted))}
    if any(name.endswith(".*") or find(name) for name in shorts):
        return True
    return any(name in around() for name in shorts) and not last_names().isdisjoint(WORDS.findall(file.text))


def _imported(file: PythonFile) -> Iterator[str]:
    """The dotted names that the imports of a file bring in, and the modules that they are taken from."""
    for node in file.imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            module = source_module(node, file.path)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _look_up(dotted: str, target: tuple[int, ...]) -> tuple[str, Gone] | None:
    parts = split(dotted)
    entry = find(parts[1]) if parts else None
    return (parts[0], entry) if parts and entry and entry.release < target else None


def _own(dotted: str, target: tuple[int, ...]) -> tuple[str, Gone] | None:
    """The entry of a name that no other rule answers for where it is imported or called."""
    parts = split(dotted)
    return None if parts and parts[1] in OTHERS else _look_up(dotted, target)


def _from_import(
    file: PythonFile, facts: Facts, sites: Sites, node: ast.ImportFrom, target: tuple[int, ...], checked: bool
) -> Iterator[Match]:
    module = source_module(node, file.path)
    if not is_lightning(module) or node.level:
        return
    found = {alias: hit for alias in node.names if (hit := _own(f"{module}.{alias.name}", target))}
    refusal = why_not(file, node)
    movable = {
        alias: hit
        for alias, hit in found.items()
        if hit[1].new and not refusal and not checked and _kept_together(sites, alias, f"{module}.{alias.name}", hit[1])
    }
    uses = {alias: _uses(file, sites, facts, alias, module, *hit) for alias, hit in movable.items()}
    places = {alias: place for alias, (place, _) in uses.items()}
    edits = (
        (*moved(file, node, places, _own_names(sites)), *(edit for _, renames in uses.values() for edit in renames))
        if places
        else ()
    )
    level: Fix = "unsafe" if any(hit[1].caution for hit in movable.values()) else "safe"
    for alias, (namespace, entry) in found.items():
        if alias in movable:
            yield _moved(file, alias, namespace, entry, level, edits, f"{file.path}:{node.lineno}")
        else:
            why = "it stands under a version check" if checked else refusal or ""
            yield _left(file, alias, namespace, entry, why if entry.new else "")


def _kept_together(sites: Sites, alias: ast.alias, dotted: str, entry: Gone) -> bool:
    """Whether everything that a file reaches through a moved module is in its new place under the same name."""
    if entry.is_name:
        return True
    for chain, scope, _ in sites.chains:
        spelling = dotted_of(chain, scope) or ""
        root = root_of(chain)
        if spelling.startswith(dotted + ".") and root and root.id == (alias.asname or alias.name):
            below = spelling[len(dotted) :]
            child = f".{below.split('.')[1]}"
            there = find(entry.old + child)
            if there is None or there.new != entry.new + child:
                return False
            deeper = gone().get(entry.old + below)
            if deeper and deeper.new != entry.new + below:
                return False
    return True


def _own_names(sites: Sites) -> frozenset[tuple[str, str]]:
    """What the file imports at the top of the module under its own name."""
    return frozenset(
        (node.module or "", alias.name)
        for node, scope, _ in sites.imports
        if isinstance(node, ast.ImportFrom) and isinstance(scope.node, ast.Module) and not node.level
        for alias in node.names
        if alias.asname in (None, alias.name)
    )


def _uses(
    file: PythonFile, sites: Sites, facts: Facts, alias: ast.alias, module: str, namespace: str, entry: Gone
) -> tuple[Place, list[TextEdit]]:
    """Where a name is imported from now, and the edits of its uses where it has another name there."""
    new_module, _, name = spelled(entry.new, namespace).rpartition(".")
    old = alias.asname or alias.name
    if alias.asname or name == alias.name:
        return Place(new_module, name, old), []
    dotted = f"{module}.{alias.name}"
    written = entry.expression or name
    uses = [node for node, scope in sites.names if node.id == old and scope.lookup(old) == dotted]
    spoken = Counter(re.findall(r"\b\w+\b", file.text))[old]
    imports = sum(old in (item.name, item.asname) for node, _, _ in sites.imports for item in node.names)
    handed_on = any(
        target == f"{file.module}.{old}" or target.endswith(f".{file.module}.{old}")
        for path, other in facts.files.items()
        if path != file.path
        for target in other.exports.values()
    )
    taken = name in file.scope.bindings and (new_module, name) not in _own_names(sites)
    whole = spoken == len(uses) + imports and imports == 1 and not handed_on and not taken
    if not whole and not entry.expression:
        return Place(new_module, name, old), []
    return Place(new_module, name, name), [TextEdit(*file.offsets(node), written) for node in uses]


def _plain_import(
    file: PythonFile, sites: Sites, node: ast.Import, target: tuple[int, ...], checked: bool
) -> Iterator[Match]:
    for alias in node.names:
        hit = _look_up(alias.name, target)
        if not hit:
            continue
        namespace, entry = hit
        stays = _kept_together(sites, alias, alias.name, entry) if alias.asname else entry.new.startswith("pl.")
        if entry.new and not checked and stays:
            edit = TextEdit(*file.offsets(alias), _aliased(spelled(entry.new, namespace), alias))
            yield _moved(file, alias, namespace, entry, "safe", (edit,), f"{file.path}:{node.lineno}")
        else:
            yield _left(
                file, alias, namespace, entry, "it stands under a version check" if checked and entry.new else ""
            )


def _aliased(module: str, alias: ast.alias) -> str:
    return f"{module} as {alias.asname}" if alias.asname else module


def _chains(file: PythonFile, sites: Sites, target: tuple[int, ...]) -> Iterator[Match]:
    for chain, scope, arms in sites.chains:
        hit = _chain_hit(chain, scope, target)
        if not hit:
            continue
        node, namespace, entry = hit
        if under_version_check(arms):
            if not _both_arms(sites, arms):
                yield _left(file, node, namespace, entry, "it stands under a version check")
            continue
        if entry.old in IDLE_DECORATORS and chain in sites.decorators and node is chain:
            yield _idle(file, chain, namespace, entry)
            continue
        edits = _chain_edits(file, node, scope, namespace, entry)
        if edits:
            yield _moved(file, node, namespace, entry, "unsafe" if entry.caution else "safe", edits, "")
        else:
            yield _left(file, node, namespace, entry, "it is reached by a chain of attributes" if entry.new else "")


def _both_arms(sites: Sites, arms: Arms) -> bool:
    """Whether the other arm of the version check around a place speaks of Lightning too."""
    outer, part = next((item, name) for item, name in arms if isinstance(item, ast.If))
    other = {
        inner
        for name in ("body", "orelse")
        if name != part
        for item in getattr(outer, name)
        for inner in ast.walk(item)
    }
    chains = any(node in other and "lightning" in (dotted_of(node, scope) or "") for node, scope, _ in sites.chains)
    return chains or any(node in other for node, _, _ in sites.imports)


def _idle(file: PythonFile, chain: ast.Attribute, namespace: str, entry: Gone) -> Match:
    """A decorator that did nothing any more: its line goes."""
    start, end = file.offsets(chain)
    first = file.text.rfind("\n", 0, start) + 1
    after = file.text.find("\n", end)
    message, reason = _message(namespace, entry), "The decorator did nothing any more: it goes."
    if file.text[first:start].strip() != "@" or file.text[end:after].strip():
        return _left(file, chain, namespace, entry, "")
    edit = TextEdit(first, after + 1, "")
    return Match(file.span(chain), message, "safe", reason, entry.row, (edit,), needs="1.0.0")


def _chain_hit(chain: ast.Attribute, scope: Scope, target: tuple[int, ...]) -> tuple[ast.Attribute, str, Gone] | None:
    """The longest part of a chain that the table speaks of itself, or the first that is gone; none where the import
    that it begins with is what breaks."""
    parts: list[ast.Attribute] = []
    node: ast.expr = chain
    while isinstance(node, ast.Attribute):
        parts.append(node)
        node = node.value
    base = dotted_of(node, scope)
    if not base or not is_lightning(base) or _look_up(base, target):
        return None
    hits = [(part, *hit) for part in parts if (dotted := dotted_of(part, scope)) and (hit := _own(dotted, target))]
    own = [
        (part, name, entry) for part, name, entry in hits if split(dotted_of(part, scope) or "") == (name, entry.old)
    ]
    if not own or own[0][0] is parts[0] or own[0][2].is_name:
        return own[0] if own else None
    part, name, entry = own[0]
    return part, name, replace(entry, new="", advice=f"look for it in {spelled(entry.new, name)}" if entry.new else "")


def _chain_edits(
    file: PythonFile, node: ast.Attribute, scope: Scope, namespace: str, entry: Gone
) -> tuple[TextEdit, ...]:
    """The edits that lead a chain to its new place, with the import of another package where that is one."""
    root = _written_root(file, node, scope, namespace)
    if root is None or entry.expression:
        return ()
    if entry.new.startswith("pl."):
        return (TextEdit(*file.offsets(node), root + entry.new[len("pl") :]),)
    if not entry.new.startswith("metrics."):
        return ()
    package = spelled(entry.new, namespace).partition(".")[0]
    known = scope.lookup(package)
    if known not in (None, package) or (not known and _hidden(scope, package)):
        return ()
    added = () if known else import_of(file, package)
    return (TextEdit(*file.offsets(node), spelled(entry.new, namespace)), *added) if added is not None else ()


def _hidden(scope: Scope | None, name: str) -> bool:
    """Whether a function or class around a place binds a name itself."""
    while scope is not None and scope.parent is not None:
        if name in scope.bindings:
            return True
        scope = scope.parent
    return False


def _written_root(file: PythonFile, node: ast.Attribute, scope: Scope, namespace: str) -> str | None:
    """The text of the part of a chain that stands for the namespace itself."""
    part: ast.expr = node
    while isinstance(part, ast.Attribute):
        part = part.value
        if dotted_of(part, scope) == namespace:
            return file.source_of(part)
    return None


def _strings(file: PythonFile, sites: Sites, target: tuple[int, ...]) -> Iterator[Match]:
    for node, value in sites.strings:
        if not (is_lightning(value) and DOTTED.fullmatch(value)):
            continue
        hit = _look_up(value, target)
        if not hit:
            continue
        namespace, entry = hit
        text = file.source_of(node)
        if entry.new and metric_of(spelled(entry.new, namespace)):
            yield _left(file, node, namespace, entry, TASK)
        elif entry.new and not entry.expression and text.count(value) == 1:
            start = file.offsets(node)[0] + text.index(value)
            edit = TextEdit(start, start + len(value), spelled(entry.new, namespace))
            yield _moved(file, node, namespace, entry, "unsafe" if entry.caution else "safe", (edit,), "")
        else:
            yield _left(file, node, namespace, entry, "")


def _message(namespace: str, entry: Gone) -> str:
    return f"`{spelled(entry.old, namespace)}` is not in Lightning any more (last in {entry.last})"


def _moved(
    file: PythonFile,
    place: ast.alias | ast.expr,
    namespace: str,
    entry: Gone,
    level: Fix,
    edits: tuple[TextEdit, ...],
    unit: str,
) -> Match:
    reason = f"It is `{spelled(entry.new, namespace)}` now"
    reason += f"; {entry.caution}." if entry.caution else "."
    return Match(
        file.span(place), _message(namespace, entry), level, reason, entry.row, edits, unit=unit, needs=entry.since
    )


def _left(file: PythonFile, place: ast.alias | ast.expr, namespace: str, entry: Gone, why: str) -> Match:
    if entry.new:
        reason = f"Not rewritten: {why or 'its place does not allow it'}. It is `{spelled(entry.new, namespace)}` now."
    else:
        reason = f"Nothing has its name; {entry.advice}." if entry.advice else "Nothing takes its place."
    return Match(file.span(place), _message(namespace, entry), "manual", reason, entry.row)


BEFORE = """\
import pytorch_lightning as pl
from pytorch_lightning.loggers.base import LightningLoggerBase
from pytorch_lightning.utilities.distributed import rank_zero_only, sync_ddp
from pytorch_lightning.utilities.types import EPOCH_OUTPUT, STEP_OUTPUT


class Quiet(LightningLoggerBase):
    @rank_zero_only
    def log_metrics(self, metrics, step):
        pass


def collect(outputs: EPOCH_OUTPUT) -> STEP_OUTPUT:
    return outputs[0]


@pl.utilities.distributed.rank_zero_only
def show():
    print("here")
"""
AFTER = """\
import pytorch_lightning as pl
from pytorch_lightning.loggers.logger import Logger
from pytorch_lightning.utilities.distributed import sync_ddp
from pytorch_lightning.utilities.rank_zero import rank_zero_only
from pytorch_lightning.utilities.types import STEP_OUTPUT


class Quiet(Logger):
    @rank_zero_only
    def log_metrics(self, metrics, step):
        pass


def collect(outputs: list[STEP_OUTPUT]) -> STEP_OUTPUT:
    return outputs[0]


@pl.utilities.rank_zero.rank_zero_only
def show():
    print("here")
"""
BOTH = """\
try:
    from pytorch_lightning.utilities.rank_zero import rank_zero_only
except ImportError:
    from pytorch_lightning.utilities.distributed import rank_zero_only
"""


def _rows() -> tuple[tuple[str, Fix], ...]:
    levels: list[tuple[str | None, Fix]] = [("B05", "safe"), ("B12", "safe"), ("B13", "manual"), ("G21572", "manual")]
    levels += [(entry.row, "safe" if entry.new else "manual") for entry in gone().values()]
    return best_levels(levels)


RULE = Rule(
    code=CODE,
    name="moved-name",
    summary="Names and modules that moved are taken from where they are now",
    why=(
        "Between 1.0 and 2.6 Lightning moved or removed some 1,800 names that a project can import; each is an "
        "ImportError or AttributeError on the newest release. The table behind this rule was made from the releases' "
        "own wheels, its new places written by hand and each tried on the newest. Where a name is gone for good the "
        "finding says what to use instead."
    ),
    fix="safe",
    versions="every release before the target; each name goes by the last release that had it",
    triggers=(b"pytorch_lightning", b"lightning.pytorch", b"lightning import pytorch"),
    check=_check,
    present=_present,
    examples=(Example(BEFORE, AFTER), Example(BOTH, BOTH)),
    breaks_in="2.0.0",
    needs="2.0.0",
    rows=_rows,
)
