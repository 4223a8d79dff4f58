"""LIT001: names and modules of Lightning that moved, or are gone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.metrics.table import TASK, metric_of
from codemods.rules.names.chains import chain_matches
from codemods.rules.names.moved_metrics import REFUSAL, Levels, as_sure_as_used, level_of, use_levels
from codemods.rules.names.report import left_match, look_up, message, moved_match, own
from codemods.rules.names.sites import (
    Sites,
    dotted_of,
    is_lightning,
    read_sites,
    root_of,
    serves_both,
    source_module,
    under_version_check,
)
from codemods.rules.names.statement import ImportTarget, moved, why_not
from codemods.rules.names.table import NAMESPACES, TEST_TUBE, Gone, around, find, gone, last_names, spelled, split
from codemods.rules.names.uses import MENTIONS, is_handed_on, reworded

CODE = "LIT001"
DOTTED = re.compile(r"[\w.]+")
WORDS = re.compile(r"\w+")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not _present(file):
        return
    sites = read_sites(file)
    target = tuple(int(part) for part in facts.target.split(".")[:2]) if facts.target else (2, 6)
    levels = use_levels(file, facts)
    for node, _, arms in sites.imports:
        if serves_both(node, arms):
            continue
        checked = under_version_check(arms)
        if isinstance(node, ast.ImportFrom):
            yield from _from_import(file, facts, sites, node, target, levels, checked)
        else:
            yield from _plain_import(file, sites, node, target, levels, checked)
    yield from chain_matches(file, sites, target, levels)
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


def _from_import(
    file: PythonFile,
    facts: Facts,
    sites: Sites,
    node: ast.ImportFrom,
    target: tuple[int, ...],
    levels: Levels,
    checked: bool,
) -> Iterator[Match]:
    module = source_module(node, file.path)
    if not is_lightning(module) or node.level:
        return
    dotted = {alias: f"{module}.{alias.name}" for alias in node.names}
    hits = {alias: hit for alias in node.names if (hit := own(dotted[alias], target))}
    found = {alias: (name, as_sure_as_used(entry, levels, dotted[alias])) for alias, (name, entry) in hits.items()}
    held = {alias for alias in found if level_of(levels, dotted[alias]) == "manual"}
    refusal = why_not(file, node)
    movable = {
        alias: hit
        for alias, hit in found.items()
        if hit[1].new
        and not (refusal or checked or alias in held)
        and _kept_together(sites, alias, dotted[alias], hit[1])
    }
    spared = {
        alias: told
        for alias, hit in found.items()
        if node in file.tree.body
        and not (hit[1].new or refusal)
        and (told := reworded(file, sites, facts, alias, module))
    }
    uses = {alias: _uses(file, sites, facts, alias, module, *hit) for alias, hit in movable.items()}
    uses |= {alias: (ImportTarget("", alias.name, alias.name), list(told.edits)) for alias, told in spared.items()}
    places = {alias: place for alias, (place, _) in uses.items()}
    present = _own_names(sites) | {("", alias.name) for alias in spared}
    edits = (
        (*moved(file, node, places, present), *(edit for _, changed in uses.values() for edit in changed))
        if places
        else ()
    )
    unsure = any(hit[1].caution for hit in movable.values()) or any(told.level != "safe" for told in spared.values())
    level: Fix = "unsafe" if unsure else "safe"
    for alias, (namespace, entry) in found.items():
        if alias in spared:
            told = spared[alias]
            unit = f"{file.path}:{node.lineno}"
            what = message(namespace, entry)
            yield Match(file.span(alias), what, level, told.reason, entry.row, edits, unit=unit, needs=told.needs)
        elif alias in movable:
            yield moved_match(file, alias, namespace, entry, level, edits, f"{file.path}:{node.lineno}")
        else:
            why = "it is inside a version check" if checked else refusal or (REFUSAL if alias in held else "")
            yield left_match(file, alias, namespace, entry, why if entry.new else "")


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
) -> tuple[ImportTarget, list[TextEdit]]:
    """Where a name is imported from now, and the edits of its uses where it has another name there."""
    new_module, _, name = spelled(entry.new, namespace).rpartition(".")
    old = alias.asname or alias.name
    if alias.asname or name == alias.name:
        return ImportTarget(new_module, name, old), []
    dotted = f"{module}.{alias.name}"
    written = entry.expression or name
    uses = [node for node, scope in sites.names if node.id == old and scope.lookup(old) == dotted]
    spoken = Counter(re.findall(r"\b\w+\b", file.text))[old]
    imports = sum(old in (item.name, item.asname) for node, _, _ in sites.imports for item in node.names)
    taken = name in file.scope.bindings and (new_module, name) not in _own_names(sites)
    whole = spoken == len(uses) + imports and imports == 1 and not is_handed_on(file, facts, old) and not taken
    if not whole and not entry.expression:
        return ImportTarget(new_module, name, old), []
    return ImportTarget(new_module, name, name), [TextEdit(*file.offsets(node), written) for node in uses]


def _plain_import(
    file: PythonFile, sites: Sites, node: ast.Import, target: tuple[int, ...], levels: Levels, checked: bool
) -> Iterator[Match]:
    for alias in node.names:
        hit = look_up(alias.name, target)
        if not hit:
            continue
        namespace, entry = hit
        stays = _kept_together(sites, alias, alias.name, entry) if alias.asname else entry.new.startswith("pl.")
        level = level_of(levels, alias.name)
        if entry.new and not checked and stays and level != "manual":
            edit = TextEdit(*file.offsets(alias), _aliased(spelled(entry.new, namespace), alias))
            told = as_sure_as_used(entry, levels, alias.name)
            yield moved_match(file, alias, namespace, told, level, (edit,), f"{file.path}:{node.lineno}")
        else:
            why = "it is inside a version check" if checked else REFUSAL if level == "manual" else ""
            yield left_match(file, alias, namespace, entry, why)


def _aliased(module: str, alias: ast.alias) -> str:
    return f"{module} as {alias.asname}" if alias.asname else module


def _strings(file: PythonFile, sites: Sites, target: tuple[int, ...]) -> Iterator[Match]:
    for node, value in sites.strings:
        if not (is_lightning(value) and DOTTED.fullmatch(value)):
            continue
        hit = look_up(value, target)
        if not hit or hit[1].old in TEST_TUBE:
            continue
        namespace, entry = hit
        start = file.place_in(node, value)
        if entry.new and "sys.modules" in file.lines[node.lineno - 1]:
            yield left_match(
                file, node, namespace, entry, "it is a key of sys.modules: who asks for the old name needs it"
            )
        elif entry.new and metric_of(spelled(entry.new, namespace)):
            yield left_match(file, node, namespace, entry, TASK)
        elif entry.new and not entry.expression and start is not None:
            edit = TextEdit(start, start + len(value), spelled(entry.new, namespace))
            yield moved_match(file, node, namespace, entry, "unsafe" if entry.caution else "safe", (edit,), "")
        else:
            yield left_match(file, node, namespace, entry, "")


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
    print("here", sync_ddp)
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
    print("here", sync_ddp)
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
    mentions=MENTIONS,
    rows=_rows,
)
