"""What a ModelCheckpoint and a profiler are given by position, where the first was a path, and a summary its mode."""

from __future__ import annotations

import ast

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts, literal
from codemods.lightning.trainers import last_part
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rule import Match
from codemods.rules.keywords.filepath import parted
from codemods.rules.keywords.other_values import DEPTHS

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


def by_position(file: PythonFile, facts: Facts, call: CallNode, owner: str) -> Match | None:
    """The first of them, where it plainly was such a path, or the project asks for a Lightning that took it so."""
    given, name = call.node.args, last_part(owner)
    if name in PROFILERS and given and not admits_from(facts, LIGHTNING, FOLDER):
        return Match(file.span(given[0]), OF_PROFILER.format(name), "manual", ITS_FILE, "M004")
    if name == SUMMARY and len(given) > 1 and isinstance(mode := literal(given[1])[1], str):
        reason = f"Not rewritten: write max_depth={DEPTHS.get(mode, '1')}."
        return Match(file.span(given[1]), IN_DEPTH, "manual", reason)
    if name != "ModelCheckpoint" or not given or isinstance(given[0], ast.Starred):
        return None
    parts = parted(facts, file, call, given[0])
    names = [name for name, _ in parts.new] if parts and parts.level == "safe" else None
    alike = len(given) == 1 and names in ([], ["dirpath"])
    old = not admits_from(facts, LIGHTNING, SINCE)
    if (names and "filename" in names) or (old and not alike):
        return Match(file.span(given[0]), MESSAGE, "manual", REASON)
    return None
