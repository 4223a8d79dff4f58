"""Which files use what Lightning brought along."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from codemods.code.nodes import walk
from codemods.code.outline import Within
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import is_name
from codemods.lightning.facts import Facts
from codemods.lightning.pins.brought import TransitiveDistribution, brought
from codemods.lightning.pins.reach import is_manifest

EXPERIMENT = "*.experiment"
"""In the table: what a SummaryWriter has, asked of the `experiment` of a logger."""
ASKED = "? "
"""Before what a file only asks of an object whether it is: that needs nothing installed."""
_OTHER = "another logger"
_OTHERS = ("CSVLogger", "CometLogger", "MLFlowLogger", "NeptuneLogger", "WandbLogger")
_WRITES = frozenset({
    "add_audio", "add_custom_scalars", "add_embedding", "add_figure", "add_graph", "add_histogram", "add_hparams",
    "add_image", "add_image_with_boxes", "add_images", "add_mesh", "add_pr_curve", "add_scalar", "add_scalars",
    "add_tensor", "add_text", "add_video",
})  # fmt: skip


class FeatureUse(NamedTuple):
    """A place that uses something."""

    path: str
    line: int
    what: str


def mentions() -> tuple[bytes, ...]:
    """The byte strings that a file holds one of, where it may use something of the table."""
    words = {name.encode() for name in _OTHERS}
    for name in (name for row in brought() for name in row.uses):
        if name == EXPERIMENT:
            words.add(b".experiment")
        elif name.startswith(ROOT):
            words.add(name.rpartition(".")[2].encode())
        else:
            package = name.rpartition(".")[0]
            words |= {f"import {name}".encode(), f"from {name}".encode()}
            words |= {f"from {package} import".encode()} if package else set()
    return tuple(sorted(words))


def uses(facts: Facts) -> dict[str, tuple[FeatureUse, ...]]:
    """The places of the project that show each use of the table, in the order of paths."""
    key = __name__
    if key not in facts.memo:
        paths = sorted({path for word in mentions() for path in facts.mentions.get(word, ())})
        found: dict[str, list[FeatureUse]] = {}
        for use in (use for path in paths for use in _of_path(path, facts)):
            found.setdefault(use.what, []).append(use)
        facts.memo[key] = {what: tuple(places) for what, places in found.items()}
    known: dict[str, tuple[FeatureUse, ...]] = facts.memo[key]
    return known


def of_row(row: TransitiveDistribution, facts: Facts) -> list[FeatureUse]:
    """The places that show that a distribution is used, or that what it makes is asked for."""
    return sorted(use for name in row.uses for what in (name, ASKED + name) for use in uses(facts).get(what, ()))


def unasked(facts: Facts) -> tuple[str, ...]:
    """What Lightning itself stops without, is used, and no manifest asks for."""
    read = {**facts.collected("PIN004"), **facts.collected_texts("PIN004")}
    if not read and any(map(is_manifest, facts.kinds)):
        return ()
    named = {pin.name for manifest in read.values() for pin in manifest.pins}
    rows = (row for row in brought() if row.any_release and not row.served_by & named and of_row(row, facts))
    return tuple(dict.fromkeys(row.ask for row in rows))


def other_logger(facts: Facts) -> FeatureUse | None:
    """The first call of a logger whose `experiment` is no SummaryWriter."""
    return min(uses(facts).get(_OTHER, ()), default=None)


def _of_path(path: str, facts: Facts) -> Iterator[FeatureUse]:
    kind = facts.kinds.get(path)
    if kind == "yaml":
        yield from _of_configuration(path, facts.sources[path].data.decode("utf-8", "replace"))
    elif kind == "python" and not path.endswith("setup.py") and (file := facts.open(path)):
        yield from _of_code(file, facts)


def _of_configuration(path: str, text: str) -> Iterator[FeatureUse]:
    """The classes of Lightning that a configuration names by their dotted names."""
    for name in (name for row in brought() for name in row.uses if name.startswith(f"{ROOT}.")):
        for match in re.finditer(r"(?m)^[^#\n]*?[\s\"']((?:pytorch_lightning|lightning)\.[\w.]+)", text):
            if canonical(match[1]) == name:
                yield FeatureUse(path, text.count("\n", 0, match.start(1)) + 1, name)


def _of_code(file: PythonFile, facts: Facts) -> Iterator[FeatureUse]:
    names = [name for row in brought() for name in row.uses]
    words = {name.rpartition(".")[2] for name in names} | {name.partition(".")[0] for name in names if name[0] != "*"}
    for node, within in file.nodes_near(sorted(words - {"lightning"})):
        if isinstance(node, ast.Import | ast.ImportFrom) and not _is_optional(within):
            for dotted in _imported(node):
                asked = (
                    ASKED if canonical(dotted).startswith(f"{ROOT}.") and _is_asked_alone(file, node, dotted) else ""
                )
                yield from (
                    FeatureUse(file.path, node.lineno, asked + name)
                    for name in names
                    if _is_of(dotted, name) and not _is_own(dotted, file.path, facts)
                )
    for call in file.calls_near(["TensorBoardLogger", "RichProgressBar", "RichModelSummary", *_OTHERS]):
        target = canonical(call.scope.resolve(call.node.func) or "")
        if target.startswith(f"{ROOT}.loggers.") and target.rpartition(".")[2] in _OTHERS:
            yield FeatureUse(file.path, call.node.lineno, _OTHER)
        yield from (FeatureUse(file.path, call.node.lineno, name) for name in names if target == name)
    if line := _writes(file):
        yield FeatureUse(file.path, line, EXPERIMENT)


def _is_asked_alone(file: PythonFile, node: ast.Import | ast.ImportFrom, dotted: str) -> bool:
    """Whether a file reads what it imports nowhere but in `isinstance(..., it)` and in annotations of parameters."""
    name = next((item.asname or item.name for item in node.names if f".{dotted}".endswith(f".{item.name}")), "")
    read = sum(is_name(each, name) for each, _ in file.nodes_near([name]))
    asked = [call.node.args[1] for call in file.calls_near([name]) if _asks(call.node)]
    asked += [each.annotation for each, _ in file.nodes_near([name]) if isinstance(each, ast.arg) and each.annotation]
    return 0 < read == sum(is_name(each, name) for part in asked for each in walk(part))


def _asks(node: ast.Call) -> bool:
    return is_name(node.func, "isinstance") and len(node.args) == 2


def _is_optional(within: Within) -> bool:
    """Whether an import has something in its place, or is for type checkers alone."""
    return any(
        isinstance(item, ast.Try) or (isinstance(item, ast.If) and any(_is_checking(node) for node in walk(item.test)))
        for item in within
    )


def _is_checking(node: ast.AST) -> bool:
    return "TYPE_CHECKING" in (getattr(node, "id", ""), getattr(node, "attr", ""))


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [] if node.level or not node.module else [f"{node.module}.{alias.name}" for alias in node.names]


def _is_of(dotted: str, name: str) -> bool:
    return name != EXPERIMENT and f"{canonical(dotted)}.".startswith(f"{name}.")


def _is_own(dotted: str, path: str, facts: Facts) -> bool:
    """Whether a module of the project has that name: beside the file, at the top or in `src`."""
    top = dotted.partition(".")[0]
    folders = {"", "src/", path[: path.rfind("/") + 1]}
    return any(f"{folder}{top}{end}" in facts.sources for folder in folders for end in (".py", "/__init__.py"))


def _writes(file: PythonFile) -> int:
    """The line at which a logger's `experiment` is taken, where the file calls what only TensorBoard's have; 0 where
    there is none."""
    if not any(name in file.text for name in _WRITES):
        return 0
    taken = [
        node
        for node, _ in file.nodes_near(["experiment"])
        if isinstance(node, ast.Attribute) and node.attr == "experiment" and _is_logger(node.value)
    ]
    written = [
        node for node, _ in file.nodes_near(sorted(_WRITES)) if isinstance(node, ast.Attribute) and node.attr in _WRITES
    ]
    return min((node.lineno for node in taken), default=0) if written else 0


def _is_logger(node: ast.expr) -> bool:
    """`self.logger`, `trainer.logger`, `self.loggers[0]`, `self.logger[0]`."""
    if isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr in ("logger", "loggers")
