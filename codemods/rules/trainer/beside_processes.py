"""`gpus=` and `num_processes=` in one call: which of them counted went by the release.

Up to 1.5 the GPUs did where there were any, and the processes on the CPU where there were none. In 1.6 to 1.9
`num_processes=` did, on the CPU unless accelerator= named other hardware. `accelerator="ddp_cpu"` meant processes on
the CPU in all of them (run on 1.4.9, 1.5.10, 1.6.5, 1.8.6 and 1.9.5, read in 1.0.8, 1.1.8, 1.2.10 and 1.3.8).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.lightning.eras import ran
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import part_of_choice
from codemods.lightning.strategies import is_strategy
from codemods.rules.trainer.gpus import Devices

NAME = "num_processes"
SINCE = "1.6.0"
NO_STRATEGY = "1.7.0"
"""The first release that took no name of a strategy as accelerator= (run on 1.8.6 and 1.9.5)."""
EARLIER = f"beside GPUs `{NAME}=` counted nothing up to Lightning 1.5"
EITHER = f"{EARLIER}, and 1.6 to 1.9 took it alone, for processes on the CPU unless accelerator= named other hardware"
ASSUMED = f"{EITHER}; fixer assumes that the GPUs are meant"
WON = f"since Lightning 1.6 `{NAME}=` counts beside it, on the CPU unless accelerator= names other hardware"
ON_CPU = f"where it asks for no GPUs, `{NAME}=` counted the processes on the CPU"


def is_given(arguments: Mapping[str, ast.expr]) -> bool:
    """Whether a call gives a number of processes that may count."""
    return NAME in arguments and literal(arguments[NAME]) not in ((True, None), (True, 0))


def means_cpu(arguments: Mapping[str, ast.expr]) -> bool:
    """Whether a call with a number of processes takes no GPUs whatever `gpus=` is."""
    names = [literal(arguments[word])[1] for word in ("accelerator", "distributed_backend") if word in arguments]
    return is_given(arguments) and names.count("ddp_cpu") == len(names) > 0


def counting(facts: Facts, arguments: Mapping[str, ast.expr]) -> str:
    """Which of the two counted in every release that the pins admit and that takes such a call; neither where that
    went by the release."""
    given = arguments.get("accelerator")
    before, after = ran(facts, arguments, SINCE, NO_STRATEGY if given is not None and is_strategy(given) else "2.0.0")
    if before == after:
        return ""
    return "gpus" if before else NAME


def with_processes(
    file: PythonFile, facts: Facts, asked: Devices, arguments: Mapping[str, ast.expr]
) -> tuple[Devices, str] | str:
    """What a call with a number of processes asks for that asks for GPUs, or may, and what that takes for granted; or
    why it cannot be told."""
    node = arguments[NAME]
    known, number = literal(node)
    single = known and number == 1
    counts = counting(facts, arguments)
    if counts == NAME and not single:
        return WON
    doubt = "" if counts == "gpus" else ASSUMED
    text, gpus = file.source_of(node), file.source_of(arguments["gpus"])
    if asked.accelerator == "gpu" or single or text in (gpus, f"len({gpus})"):
        return asked, doubt
    first, _, last = (asked.devices or "").rpartition(" or ")
    if asked.accelerator != f'"gpu" if {first} else "cpu"' or last not in ("1", '"auto"') or "\n" in text:
        return ON_CPU
    count = text if known else f"{part_of_choice(file, node)} or 1"
    return replace(asked, devices=f"{first} or {count}"), doubt
