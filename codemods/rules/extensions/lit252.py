"""LIT252: ProgressBar, which was the bar of tqdm up to 1.6 and is the base of all bars since 2.0."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath

from codemods.code.nodes import walk
from codemods.code.scopes import canonical
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_bound, is_name, is_super_call, uses
from codemods.finding import Fix, Span
from codemods.lightning.eras import era
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.lightning.spelling import namespace_of
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.extensions.lit250 import BAR

OLD, NEW = "ProgressBar", "TQDMProgressBar"
FORMER = "pytorch_lightning"
MODULES = (f"{FORMER}.callbacks", f"{FORMER}.callbacks.progress")
ROW = "M061"
MESSAGE = f"since Lightning 2.0 `{OLD}` is the base of all bars, which shows nothing"
REASON = f"It was the bar of tqdm up to 1.6, which is called {NEW} since 1.5."
LEFT = f"Not rewritten: {{}}; if the bar of tqdm is meant, which it was up to 1.6, use {NEW}."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    places = _places(file)
    when = era(facts, "2.0.0") if places else "after"
    if when == "after":
        return
    meant = [place for place in places if not isinstance(place, ast.alias)]
    if meant and all(place in _asked(file) for place in meant):
        return
    told = [item for item in file.classes if when == "unknown" and _is_of_tqdm(item, meant)]
    if when == "unknown" and not told and not any(call.node.func in meant for call in file.calls_near([OLD])):
        return
    unknown = when == "unknown" and not told
    why = "fixer cannot tell for which Lightning it was written" if unknown else _refusal(file, facts, places)
    if why:
        for place in meant or places:
            yield Match(file.span(place), MESSAGE, "manual", LEFT.format(why), ROW)
        return
    if not meant and not any(place.asname for place in places if isinstance(place, ast.alias)):
        return
    refused = any(map(_is_refused, told))
    fix: Fix = "unsafe" if admits_from(facts, LIGHTNING, "2.0.0") and not refused else "safe"
    reason = f"{REASON[:-1]}; fixer assumes that it is meant." if fix == "unsafe" else REASON
    for span, edit in _edits(file, places):
        yield Match(span, MESSAGE, fix, reason, ROW, (edit,), unit=file.path)


def _is_of_tqdm(item: ClassNode, meant: list[ast.expr]) -> bool:
    """Whether a class derives from what is meant, and overrides what makes a bar of tqdm, which the base of all bars
    does not call, nor the class itself."""
    if not any(base in meant for base in item.node.bases) or not any(map(BAR.fullmatch, item.methods)):
        return False
    calls = (node.func for node in walk(item.node) if isinstance(node, ast.Call))
    own = (func.attr for func in calls if isinstance(func, ast.Attribute) and is_name(func.value, "self"))
    return not any(map(BAR.fullmatch, own))


def _is_refused(item: ClassNode) -> bool:
    """Whether a class gives its base arguments, of which the base of all bars takes none."""
    calls = (node for node in walk(item.node) if isinstance(node, ast.Call) and is_super_call(node, "__init__"))
    return any(node.args or node.keywords for node in calls)


def _asked(file: PythonFile) -> set[ast.AST]:
    """What is only asked for by `isinstance`, which any bar may be meant by: since 2.6 the one by default is Rich's
    where that is installed."""
    calls = (call.node for call in file.calls_near([OLD]) if is_name(call.node.func, "isinstance"))
    return {part for node in calls for item in node.args[1:] for part in walk(item)}


def _edits(file: PythonFile, places: list[ast.alias | ast.expr]) -> Iterator[tuple[Span, TextEdit]]:
    """What is rewritten, at the whole call or class that it is for; what uses another name goes with its import."""
    whole: dict[ast.AST, ast.expr | ast.stmt] = {call.node.func: call.node for call in file.calls}
    whole |= {base: node for node in walk(file.tree) if isinstance(node, ast.ClassDef) for base in node.bases}
    for place in places:
        start, end = file.offsets(place)
        at = end - len(OLD) if isinstance(place, ast.Attribute) else start
        edit = TextEdit(at, at + len(OLD), NEW)
        yield file.span(whole.get(place, place)), edit
        if isinstance(place, ast.alias) and place.asname:
            for use in uses(file.tree, place.asname):
                yield file.span(whole.get(use, use)), edit


def _places(file: PythonFile) -> list[ast.alias | ast.expr]:
    """Where a file imports the class or reads it."""
    aliases = [
        alias
        for node in file.imports
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in MODULES
        for alias in node.names
        if alias.name == OLD
    ]
    dotted = {canonical(f"{module}.{OLD}") for module in MODULES} if namespace_of(file) == FORMER else ()
    found: list[ast.alias | ast.expr] = [*aliases]
    found += [node for node in file.attributes(OLD) if file.scope.resolve(node) in dotted]
    if any(alias.asname is None for alias in aliases):
        found += [node for node in walk(file.tree) if isinstance(node, ast.Name) and node.id == OLD]
    return found


def _refusal(file: PythonFile, facts: Facts, places: list[ast.alias | ast.expr]) -> str | None:
    """Why the name cannot be another one in the whole file."""
    if any(map(_binds, walk(file.tree))) or any(isinstance(place, ast.Name) and is_bound(place) for place in places):
        return f"the file has something else of the name {OLD} or {NEW}"
    if any(isinstance(node, ast.Constant) and node.value == OLD for node in walk(file.tree)):
        return "the file spells its name as a text"
    if PurePosixPath(file.path).stem == "__init__" or is_read_elsewhere(facts, file, OLD):
        return "another file may take it from this one"
    return None


def _binds(node: ast.AST) -> bool:
    """Whether a node binds one of the names, as a definition, a parameter or an import of another class."""
    if isinstance(node, ast.alias):
        return (node.asname or node.name) == NEW or (node.asname == OLD and node.name != OLD)
    names = getattr(node, "name", None), getattr(node, "arg", None)
    return not isinstance(node, ast.keyword) and any(name in (OLD, NEW) for name in names)


_BEFORE = """\
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import ModelCheckpoint, ProgressBar

trainer = Trainer(max_epochs=1, callbacks=[ProgressBar(refresh_rate=10), ModelCheckpoint()])
"""
_CHILD = """\
from pytorch_lightning.callbacks import ProgressBar


class Bar(ProgressBar):
    def init_validation_tqdm(self):
        bar = super().init_validation_tqdm()
        bar.set_description("validating")
        return bar
"""
_OLD, _TODAY = ("pytorch-lightning==1.4.9",), ("pytorch-lightning>=2.0",)

RULE = Rule(
    code="LIT252",
    name="tqdm-progress-bar",
    summary="`ProgressBar` becomes `TQDMProgressBar`",
    why=(
        "Up to 1.6 ProgressBar was the progress bar of tqdm. 1.7 took the name out, and 2.0 gave it to the base of all "
        "bars, ProgressBarBase so far: a Trainer takes one and shows nothing; arguments and methods of the bar of tqdm "
        "are errors (read in 1.4.9, 1.6.5, 1.7.7 and 2.0.0)."
    ),
    fix="safe",
    versions="Lightning 0.x - 1.6 -> 2.0 and later",
    triggers=(OLD.encode(),),
    words=(OLD.encode(),),
    check=_check,
    examples=(
        Example(_BEFORE, _BEFORE.replace("ProgressBar", "TQDMProgressBar"), pins=_OLD),
        Example(_CHILD, _CHILD.replace("ProgressBar", "TQDMProgressBar"), pins=_OLD),
        Example(_BEFORE, _BEFORE, pins=_TODAY),
        Example(_CHILD, _CHILD),
    ),
    needs="1.5.0",
    rows=partial(best_levels, ((ROW, "safe"),)),
    stops=False,
)
