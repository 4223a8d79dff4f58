"""LIT238: a `CombinedLoader` that the project's own code goes through or counts, which a Trainer does otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from codemods.code.calls import last_name
from codemods.code.nodes import walk
from codemods.code.outline import Within
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import is_name
from codemods.finding import Fix
from codemods.lightning.eras import Era, era
from codemods.lightning.facts import Facts
from codemods.lightning.instances import Instances
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule, TextEdit

NAME = "CombinedLoader"
SINCE = "2.1"
PACKAGES = ("lightning", "lightning_fabric", "pytorch_lightning")
YIELDS = f"{NAME} gives each batch with its index and that of its loader since Lightning {SINCE}"
COUNTS = f"`len` of a {NAME} that nobody goes through is a RuntimeError since Lightning {SINCE}"
FIRST = "The batch is the first of the three."
ASSUMED = "The batch is the first of the three; fixer assumes that the code was written for an older Lightning."
BY_HAND = "Not rewritten: fixer cannot tell what becomes of it. Take `[0]` of what it gives: that is the batch."
FRESH = "Not rewritten: write `len(iter({}))`, which begins to load, or compute it from the loaders."
INDEX = ("idx", "index", "_")
"""What the name of a number ends in, where all three are taken already."""
PASSING = ("tqdm", "iter", "track")
"""Last names of calls that hand on, one by one, what their first argument gives."""
READERS = ("zip", "list", "tuple", "next", "map", "filter", "islice", "cycle", "chain", "sorted", "sum", "max", "min")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    when = era(facts, f"{SINCE}.0")
    if when == "after":
        return
    asked = Instances(file, facts, _is_owner, PACKAGES)
    for node, within in file.nodes_near(["for", "len", "iter", *READERS]):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _looped(file, asked, node, within, when)
        elif isinstance(node, ast.Call) and last_name(node.func) in ("len", "iter", *READERS):
            given = next((each for each in node.args if asked.holds(each, within)), None)
            yield from _called(file, node, given, within) if given else ()


def _is_owner(dotted: str) -> bool:
    return canonical(dotted).startswith(f"{ROOT}.") and dotted.rpartition(".")[2] == NAME


def _looped(
    file: PythonFile, asked: Instances, node: ast.For | ast.AsyncFor | ast.comprehension, within: Within, when: Era
) -> Iterator[Match]:
    """A loop over such a loader, whose target is to take the first of three."""
    target: ast.expr | None = node.target
    given = node.iter
    while isinstance(given, ast.Call) and given.args and (last := last_name(given.func)) in (*PASSING, "enumerate"):
        if last == "enumerate":
            pair = target.elts if isinstance(target, ast.Tuple) and len(target.elts) == 2 else [None, None]
            target = pair[1]
        given = given.args[0]
    if not asked.holds(given, within) or (target is not None and _takes_three(target)):
        return
    place = file.span(node.iter)
    if target is None or _reads_blank(file):
        yield Match(place, YIELDS, "manual", BY_HAND)
        return
    start, end = file.offsets(target)
    text = file.text[start:end]
    if isinstance(target, ast.Tuple) and not text.startswith("("):
        text = f"({text})"
    written = f"{text}, *_" if target is node.target else f"({text}, *_)"
    fix: Fix = "safe" if when == "before" else "unsafe"
    reason = FIRST if fix == "safe" else ASSUMED
    yield Match(place, YIELDS, fix, reason, edits=(TextEdit(start, end, written),))


def _takes_three(target: ast.expr) -> bool:
    """Whether a target takes a batch, its index and that of its loader, by the names."""
    if not isinstance(target, ast.Tuple) or len(target.elts) < 2:
        return False
    second = target.elts[1]
    if isinstance(second, ast.Starred):
        return is_name(second.value, "_")
    return len(target.elts) == 3 and isinstance(second, ast.Name) and second.id.endswith(INDEX)


def _called(file: PythonFile, call: ast.Call, given: ast.expr, within: Within) -> Iterator[Match]:
    """What counts such a loader, or takes batches from it otherwise than by a loop."""
    asker = last_name(call.func)
    outer = within[-1] if within else None
    if asker == "len":
        if not _is_gone_through(call, given, within):
            yield Match(file.span(call), COUNTS, "manual", FRESH.format(brief(file, given)))
    elif asker != "iter" or isinstance(outer, ast.Assign | ast.Return) or _calls(outer, "next"):
        yield Match(file.span(call), YIELDS, "manual", BY_HAND)


def _is_gone_through(call: ast.Call, given: ast.expr, within: Within) -> bool:
    """Whether a call stands in a loop over what it counts."""
    text = ast.unparse(given)
    loops = [(outer, inner) for outer, inner in pairwise((*within, call)) if isinstance(outer, ast.For | ast.AsyncFor)]
    asked = [outer.iter for outer, inner in loops if inner is not outer.iter]
    return any(isinstance(each, ast.expr) and ast.unparse(each) == text for loop in asked for each in walk(loop))


def _calls(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Call) and is_name(node.func, name)


def _reads_blank(file: PythonFile) -> bool:
    """Whether the file reads `_`, as what translates its texts."""
    names = (node for node in walk(file.tree) if isinstance(node, ast.Name))
    return any(node.id == "_" and isinstance(node.ctx, ast.Load) for node in names)


BEFORE = """\
from pytorch_lightning.utilities import CombinedLoader


def look(images, texts):
    loader = CombinedLoader({"images": images, "texts": texts}, "min_size")
    for batch in loader:
        print(batch["images"], batch["texts"])
    for number, (image, text) in enumerate(CombinedLoader([images, texts])):
        print(number, image, text)
"""
AFTER = BEFORE.replace("batch in", "batch, *_ in").replace("(image, text)", "((image, text), *_)")
TAKEN = AFTER.replace("batch, *_ in", "batch, batch_idx, dataloader_idx in")
PINS = ("pytorch-lightning==1.9.5",)

RULE = Rule(
    code="LIT238",
    name="combined-batches",
    summary="Loops over a `CombinedLoader` take the batch out of what it gives",
    why=(
        "A `CombinedLoader` gave a batch at a time up to Lightning 2.0; since 2.1 it gives `(batch, batch_idx, "
        "dataloader_idx)`, and has no `len` before `iter` (read in 1.9.5, 2.0.9, 2.1.0 and 2.2.0, run on 1.9.5 and "
        "2.6.6). A Trainer knows that; the project's own loops do not."
    ),
    fix="safe",
    versions="written for Lightning < 2.1",
    triggers=(NAME.encode(),),
    check=_check,
    examples=(Example(BEFORE, AFTER, pins=PINS), Example(TAKEN, TAKEN, pins=PINS)),
    breaks_in="2.1.0",
    needs="2.1.0",
)
