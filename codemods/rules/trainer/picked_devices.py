"""`auto_select_gpus=True` beside a number of GPUs, which find_usable_cuda_devices picks as it did."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_from, is_open
from codemods.rewrite.keywords import replaced, with_value
from codemods.rule import Match, NodeEdit, touches
from codemods.rules.trainer.callbacks import spelled
from codemods.rules.trainer.gpus import GPU_NAMES

if TYPE_CHECKING:
    import libcst as cst

NAME = "auto_select_gpus"
SINCE = "1.9.0"
"""The first release with the function."""
OTHERWISE = "1.6.0"
"""The first release of those that took a GPU before others which the process had used already (read in 1.4.9, 1.5.10,
1.6.5, 1.8.6 and 1.9.5)."""
REASON = "find_usable_cuda_devices picks the same GPUs: the first that a tensor can be put on."
ASSUMED = (
    "find_usable_cuda_devices picks the first GPUs that a tensor can be put on, as it was up to 1.5; 1.6 to 1.9 took "
    "those before others that the process had used already."
)


def picking(file: PythonFile, facts: Facts, call: CallNode, given: Mapping[str, ast.expr], match: Match) -> Match:
    """The match of `auto_select_gpus=True` with the GPUs picked, where a number of them is asked for by itself."""
    asked = given.get("devices") or given.get("gpus")
    number = literal(asked)[1] if asked else None
    if literal(given[NAME]) != (True, True) or type(number) is not int or number < 1 or not _are_gpus(given):
        return match
    how = spelled(file, call, "accelerators.find_usable_cuda_devices")
    if isinstance(how, str):
        return match
    edit = NodeEdit(
        call.node, partial(_picked, text=f"{how.text}({number})", keyword=min({"devices", "gpus"} & given.keys()))
    )
    same = not is_open(facts, LIGHTNING) and not admits_from(facts, LIGHTNING, OTHERWISE, "2.0.0")
    level: Fix = "safe" if same else "unsafe"
    return replace(
        match, fix=level, reason=REASON if same else ASSUMED, edits=(edit,), imports=how.imports, needs=SINCE
    )


def _are_gpus(given: Mapping[str, ast.expr]) -> bool:
    """Whether the number is one of GPUs, and said once."""
    if "gpus" in given:
        return not {"devices", "accelerator"} & given.keys()
    return "accelerator" in given and literal(given["accelerator"])[1] in GPU_NAMES


@touches("arguments")
def _picked(call: cst.Call, *, text: str, keyword: str) -> cst.Call:
    if keyword == "devices":
        return replaced(with_value(call, "devices", text), NAME, ())
    return replaced(replaced(call, keyword, (("accelerator", '"gpu"'), ("devices", text))), NAME, ())
