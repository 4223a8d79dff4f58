"""What is given by position and means something else now: the path of a ModelCheckpoint and of a profiler, the mode of
a summary, and the module of `get_standard_metrics`."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.trainers import last_part
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rule import Match, NodeEdit, touches
from codemods.rules.keywords.filepath import parted
from codemods.rules.keywords.other_values import DEPTHS, SAME_DEPTH, mode_of

if TYPE_CHECKING:
    import libcst as cst

SINCE = "1.2.0"
MESSAGE = "the first argument of ModelCheckpoint is its folder alone since Lightning 1.2"
REASON = (
    "Not rewritten: before, it was a path whose last part named the files, and monitor came second, where filename is "
    "now: write dirpath=, filename= and monitor= by name."
)


PROFILERS = ("SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler")
"""Profilers of which the first argument was the path of a file (`profiler/` of 1.1.8 and 1.2.10, not of 1.3.8)."""
FOLDER = "1.3.0"
OF_PROFILER = "the first argument of {} is a folder since Lightning 1.3"
SUMMARY = "ModelSummary"
IN_DEPTH = "the second argument of ModelSummary is its depth since Lightning 1.6"
ITS_FILE = "Not rewritten: before, it was the path of a file: write its folder as dirpath= and its stem as filename=."
STANDARD = "get_standard_metrics"
OF_TRAINER = f"{STANDARD} takes the Trainer alone since Lightning 2.0"
VERSION = "It gave the loss too, which 2.x no longer counts: log that in the module with prog_bar=True."


def by_position(file: PythonFile, facts: Facts, call: CallNode, owner: str) -> Match | None:
    """The first of them, where it plainly was such a path, or the project asks for a Lightning that took it so."""
    given, name = call.node.args, last_part(owner)
    if name in PROFILERS and given and not admits_from(facts, LIGHTNING, FOLDER):
        return Match(file.span(given[0]), OF_PROFILER.format(name), "manual", ITS_FILE, "M004")
    if name == SUMMARY and len(given) > 1 and (mode := mode_of(given[1])):
        return _in_depth(file, call, mode)
    if name == STANDARD and len(given) == 2 and not call.node.keywords and not isinstance(given[1], ast.Starred):
        edit = NodeEdit(call.node, _first_alone)
        return Match(file.span(given[1]), OF_TRAINER, "unsafe", VERSION, "M299", (edit,))
    if name != "ModelCheckpoint" or not given or isinstance(given[0], ast.Starred):
        return None
    parts = parted(facts, file, call, given[0])
    names = [name for name, _ in parts.new] if parts and parts.level == "safe" else None
    alike = len(given) == 1 and names in ([], ["dirpath"])
    old = not admits_from(facts, LIGHTNING, SINCE)
    if (names and "filename" in names) or (old and not alike):
        return Match(file.span(given[0]), MESSAGE, "manual", REASON)
    return None


def _in_depth(file: PythonFile, call: CallNode, mode: str) -> Match:
    """The mode of a summary, as its depth where that is all that is said of it."""
    place = call.node.args[1]
    alone = len(call.node.args) == 2 and all(item.arg not in (None, "max_depth") for item in call.node.keywords)
    if mode not in DEPTHS or not alone:
        return Match(file.span(place), IN_DEPTH, "manual", f"Not rewritten: write max_depth={DEPTHS.get(mode, '1')}.")
    edit = NodeEdit(call.node, partial(_with_depth, depth=DEPTHS[mode]))
    return Match(file.span(place), IN_DEPTH, "safe", SAME_DEPTH[mode], None, (edit,))


@touches("arguments")
def _first_alone(node: cst.Call) -> cst.Call:
    import libcst as cst

    first = node.args[0].with_changes(
        comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=node.args[1].whitespace_after_arg
    )
    return node.with_changes(args=[first])


def _with_depth(node: cst.Call, *, depth: str) -> cst.Call:
    import libcst as cst

    bare = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    value = cst.parse_expression(depth)
    second = node.args[1].with_changes(keyword=cst.Name("max_depth"), equal=bare, value=value)
    return node.with_changes(args=[node.args[0], second, *node.args[2:]])
