"""What becomes of the arguments of Trainer that counted devices of one kind."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from codemods.code.literals import literal
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.versions import reaches
from codemods.rules.trainer.beside_processes import EITHER, counting
from codemods.rules.trainer.gpus import GPU_NAMES


@dataclass(frozen=True)
class ArgumentReplacement:
    """What takes the place of an argument, how surely and why; `new` is None where it is left to a person."""

    new: tuple[tuple[str, str | None], ...] | None
    level: Fix
    reason: str
    row: str | None = None


@dataclass(frozen=True)
class CountedValue:
    """What is seen of a value besides what it spells: whether it is a number where it is anything, whether it may be
    None, its text as a part of `... or 1`, and whether that may be written twice."""

    number: bool
    none: bool
    text: str
    plain: bool


PICKED = "give devices=find_usable_cuda_devices(n), from lightning.pytorch.accelerators"


def counted(facts: Facts, item: ast.keyword, given: Mapping[str, ast.expr], seen: CountedValue) -> ArgumentReplacement:
    """Arguments that counted devices of one kind."""
    name = item.arg or ""
    known, value = literal(item.value)
    if known and (value is None or value is False or (value == 0 and name == "num_processes")):
        return ArgumentReplacement((), "safe", "it had no effect")
    if name == "auto_select_gpus":
        asked = [literal(given[word]) for word in ("gpus", "devices") if word in given]
        if known and asked and all(told and (type(number) is not int or number == -1) for told, number in asked):
            return ArgumentReplacement(
                (), "safe", "of all devices, and of those that are named one by one, it picked none"
            )
        if not known or not asked:
            return ArgumentReplacement(None, "manual", f"{PICKED}, to pick free ones")
        return ArgumentReplacement(
            (), "unsafe", f"the first devices are taken, free or not; {PICKED}, where free ones are to be picked"
        )
    if name == "ipus" and reaches(facts, "2.1.0"):
        return ArgumentReplacement(None, "manual", "Lightning 2.1 removed support for IPUs")
    others = {"gpus", "devices", "accelerator", "tpu_cores", "num_tpu_cores", "num_processes"} - {name}
    clash = sorted(others & given.keys())
    if name == "num_processes":
        return _processes(facts, item.value, given, seen)
    kind = "ipu" if name == "ipus" else "tpu"
    if clash and not all(literal(given[word]) == (True, None) for word in clash):
        return ArgumentReplacement(
            None, "manual", f'`{clash[0]}=` is given too; write accelerator="{kind}", devices=...'
        )
    if type(value) is int or (kind == "tpu" and seen.number and not seen.none):
        return ArgumentReplacement((("accelerator", f'"{kind}"'), ("devices", None)), "safe", "the same cores")
    if kind == "tpu" and seen.number and seen.plain:
        new = (("accelerator", f'"tpu" if {seen.text} else "cpu"'), ("devices", f"{seen.text} or 1"))
        return ArgumentReplacement(new, "safe", "the same cores, and the CPU where it is None")
    if kind == "tpu" and isinstance(value, list) and len(value) == 1 and type(value[0]) is int:
        if not reaches(facts, "2.1.0"):
            return ArgumentReplacement((("accelerator", '"tpu"'), ("devices", None)), "safe", "the same core")
        count = f"[{value[0] - 1}]"
        return ArgumentReplacement(
            (("accelerator", '"tpu"'), ("devices", count)), "safe", "the same core, counted from 0 since 2.1"
        )
    return ArgumentReplacement(
        None,
        "manual",
        f'write accelerator="{kind}", devices=... where it is set; a TPU core is counted from 0 since 2.1',
    )


def _processes(facts: Facts, node: ast.expr, given: Mapping[str, ast.expr], seen: CountedValue) -> ArgumentReplacement:
    if literal(node) == (True, 1) and type(literal(node)[1]) is int:
        asked = literal(given["gpus"]) if "gpus" in given else (True, None)
        if asked in ((True, None), (True, 0)) or counting(facts, given) == "gpus":
            return ArgumentReplacement((), "safe", "it was the default")
        return ArgumentReplacement(None, "manual", f"{EITHER}; keep one of the two")
    count = f"{seen.text} or 1" if seen.none else None
    backends = [literal(given[word])[1] for word in ("distributed_backend", "accelerator") if word in given]
    if backends and all(each == "ddp_cpu" for each in backends) and "devices" not in given and "gpus" not in given:
        return ArgumentReplacement((("devices", count),), "safe", "it counted the processes on the CPU")
    if {"gpus", "devices", "tpu_cores", "num_tpu_cores"} & given.keys():
        return ArgumentReplacement(None, "manual", "it counted processes on the CPU, and other devices are given too")
    reason = "it counted the processes on the CPU"
    if not {"strategy", "distributed_backend"} & given.keys():
        reason += '; several start by "ddp" since 2.0 (1.x: strategy="ddp_spawn")'
    named_by = literal(given["accelerator"])[1] if "accelerator" in given else None
    if named_by == "cpu":
        return ArgumentReplacement((("devices", count),), "safe", reason)
    if named_by in GPU_NAMES:
        count = f'{seen.text} or "auto"' if seen.none else None
        return ArgumentReplacement((("devices", count),), "safe", "1.6 and later took as many of these devices")
    if "accelerator" in given:
        return ArgumentReplacement(
            None, "manual", 'it counted processes on the CPU: write accelerator="cpu", devices=...'
        )
    return ArgumentReplacement((("accelerator", '"cpu"'), ("devices", count)), "safe", reason)
