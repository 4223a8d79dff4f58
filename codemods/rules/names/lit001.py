"""LIT001: names and modules of Lightning that moved, or are gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from codemods.code.scopes import canonical
from codemods.code.source import ClassNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, best_levels
from codemods.rules.metrics.table import TASK, metric_of
from codemods.rules.names.moved_metrics import Levels, as_sure_as_used, use_levels
from codemods.rules.names.moving import moved_names
from codemods.rules.names.report import MovedName
from codemods.rules.names.sites import is_lightning, read_sites, source_module
from codemods.rules.names.table import (
    NAMESPACES,
    OTHERS,
    TEST_TUBE,
    Gone,
    around,
    find,
    gone,
    last_names,
    message,
    spelled,
    split,
)
from codemods.rules.names.uses import MENTIONS

CODE = "LIT001"
IDLE_DECORATORS = ("pl.data_loader", "pl.core.decorators.data_loader", "pl.core.decorators.parameter_validation")


OTHERWISE_MADE = (".accelerators.CUDAAccelerator",)
"""New places of classes whose members are others since 1.6, as the strategies have what accelerators had."""
DERIVED = "a class is made of it, and what it overrides and reads is the strategy's since 1.6"
FORWARD_ALONE = (
    "`{}` is made of it and has `forward` alone, as metrics had before 1.0; one has `update` and `compute` now, and "
    "takes no name, so that such a class is a torch.nn.Module"
)


@dataclass(frozen=True)
class LightningNames:
    """The table of Lightning's names, for a release to move to, the uses of metrics in a file, the bases of its classes
    and those of its classes that have `forward` alone, with the name of one."""

    target: tuple[int, ...]
    levels: Levels
    bases: frozenset[str] = frozenset()
    forwarding: Mapping[str, str] = field(default_factory=dict)

    def covers(self, dotted: str) -> bool:
        return is_lightning(dotted)

    def find(self, dotted: str) -> MovedName | None:
        parts = split(dotted)
        entry = find(parts[1]) if parts else None
        return _told(parts[0], entry) if parts and entry else None

    def broken(self, dotted: str) -> MovedName | None:
        parts = split(dotted)
        entry = find(parts[1]) if parts else None
        return _told(parts[0], entry) if parts and entry and entry.release < self.target else None

    def own(self, dotted: str) -> MovedName | None:
        parts = split(dotted)
        return None if parts and parts[1] in OTHERS else self.broken(dotted)

    def in_string(self, dotted: str) -> MovedName | None:
        found, parts = self.broken(dotted), split(dotted)
        return None if parts and found and found.old in {spelled(name, parts[0]) for name in TEST_TUBE} else found

    def sure(self, found: MovedName, dotted: str) -> MovedName:
        if canonical(dotted) in self.bases and found.new.endswith(OTHERWISE_MADE):
            return replace(found, refusal=DERIVED)
        if found.new == "torchmetrics.Metric" and (name := self.forwarding.get(canonical(dotted))):
            return replace(found, refusal=FORWARD_ALONE.format(name))
        return as_sure_as_used(found, self.levels, dotted)

    def reached(self, found: MovedName, dotted: str) -> MovedName:
        return found


def _told(namespace: str, entry: Gone) -> MovedName:
    new = spelled(entry.new, namespace) if entry.new else ""
    return MovedName(
        old=spelled(entry.old, namespace),
        new=new,
        message=message(namespace, entry),
        row=entry.row,
        caution=entry.caution,
        advice=entry.advice,
        since=entry.since,
        expression=entry.expression,
        is_name=entry.is_name,
        root=namespace if entry.new.startswith("pl.") else None,
        added=new.partition(".")[0] if entry.new.startswith("metrics.") else None,
        parts=not entry.is_name,
        in_text=TASK if new and metric_of(new) else "",
        is_idle=entry.old in IDLE_DECORATORS,
    )


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if _present(file):
        target = tuple(int(part) for part in facts.target.split(".")[:2]) if facts.target else (2, 6)
        made = [(dotted, item) for item in file.classes for base in item.node.bases if (dotted := _base(item, base))]
        forwarding = {dotted: item.node.name for dotted, item in made if _forwards_alone(item)}
        names = LightningNames(target, use_levels(file, facts), frozenset(dict(made)), forwarding)
        yield from moved_names(file, facts, read_sites(file), names)


def _base(item: ClassNode, base: ast.expr) -> str:
    return canonical(item.scope.resolve(base) or "")


def _forwards_alone(item: ClassNode) -> bool:
    """Whether a class that would be a metric says what it computes as one did before 1.0."""
    return "forward" in item.methods and "update" not in item.methods


def _present(file: PythonFile) -> bool:
    """Whether a file may speak of a name that is gone: by an import, by an attribute of what it imports, or by a
    string."""
    if is_lightning(file.module) or any(f"{quote}{name}." in file.text for quote in "'\"" for name in NAMESPACES):
        return True
    shorts = {parts[1] for dotted in _imported(file) if (parts := split(dotted))}
    if any(name.endswith(".*") or find(name) for name in shorts):
        return True
    return any(name in around() for name in shorts) and not last_names().isdisjoint(file.words)


def _imported(file: PythonFile) -> Iterator[str]:
    """The dotted names that the imports of a file bring in, and the modules that they are taken from."""
    for node in file.imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            module = source_module(node, file.path)
            yield from (f"{module}.{alias.name}" for alias in node.names)


BEFORE = """\
import pytorch_lightning as pl
from pytorch_lightning.loggers.base import LightningLoggerBase
from pytorch_lightning.utilities.distributed import rank_zero_only, tpu_distributed
from pytorch_lightning.utilities.types import EPOCH_OUTPUT, STEP_OUTPUT


class Quiet(LightningLoggerBase):
    @rank_zero_only
    def log_metrics(self, metrics, step):
        pass


def collect(outputs: EPOCH_OUTPUT) -> STEP_OUTPUT:
    return outputs[0]


@pl.utilities.distributed.rank_zero_only
def show():
    print("here", tpu_distributed)
"""
AFTER = """\
import pytorch_lightning as pl
from pytorch_lightning.loggers.logger import Logger
from pytorch_lightning.utilities.distributed import tpu_distributed
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
    print("here", tpu_distributed)
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
