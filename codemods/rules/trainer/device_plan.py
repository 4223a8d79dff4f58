"""What takes the place of `gpus=` in a call of Trainer, given what else the call says of devices."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.options import default_of
from codemods.lightning.strategies import GONE, StrategyName, held, is_strategy, named, set_outside, succeeded
from codemods.rules.trainer.beside_processes import EARLIER, NAME, ON_CPU, means_cpu, with_processes
from codemods.rules.trainer.beside_tpus import BOTH, either, tpus_beside
from codemods.rules.trainer.gpus import CPU, GPU_NAMES, NEW_ACCELERATORS, Devices, devices_asked
from codemods.rules.trainer.mixed_accelerators import Divided, divided, hardware_told, speaks_of_cpu

COUNTS_OTHERS = ("num_processes", "tpu_cores", "num_tpu_cores", "ipus", "hpus")


@dataclass(frozen=True)
class Rewrite:
    """What becomes of a call: keywords that take the place of `gpus=` (their text, None for its value), and
    keywords that get another value where they stand. `doubt` says why it is not safe, `along` is a keyword that goes
    with it, `why` what there is to say of it beside the rest."""

    instead: tuple[tuple[str, str | None], ...]
    values: tuple[tuple[str, str], ...] = ()
    doubt: str = ""
    along: str = ""
    why: str = ""


FEW = 6
"""So many arguments by position never reached the hardware, in any release: `logger` and the like come first."""


def planned_of(file: PythonFile, facts: Facts, call: CallNode, asked: Devices) -> Rewrite | tuple[str, str]:
    """The rewrite of a call with `gpus=` that asks for those devices, or why there is none and what to do."""
    arguments = keywords(call.node)
    return plan_rewrite(file, facts, asked, arguments["gpus"], arguments, call)


def is_whole(call: CallNode) -> bool:
    """Whether a call gives no argument by position that may say something of devices."""
    return len(call.node.args) <= FEW and not any(isinstance(item, ast.Starred) for item in call.node.args)


def taken_along(file: PythonFile, facts: Facts, call: CallNode) -> str:
    """The keyword that goes with the `gpus=` of a call; none where that stays."""
    value = keywords(call.node).get("gpus")
    asked = devices_asked(facts, file, call, value) if value is not None and is_whole(call) else None
    planned = planned_of(file, facts, call, asked) if asked else ()
    return planned.along if isinstance(planned, Rewrite) else ""


def plan_rewrite(
    file: PythonFile,
    facts: Facts,
    asked: Devices,
    value: ast.expr,
    arguments: Mapping[str, ast.expr],
    call: CallNode | None = None,
) -> Rewrite | tuple[str, str]:
    """The rewrite, or why there is none and what to do, given the call's other keywords, and the call if they are its
    own."""
    others = [name for name in COUNTS_OTHERS if name in arguments and not _is_idle(asked, name, arguments[name])]
    given = arguments.get("accelerator")
    none_named = given is None or literal(given) == (True, None)
    if literal(value) == (True, None) and (others or not none_named):
        return Rewrite(())
    if (tpus := tpus_beside(arguments)) and (both := either(file, asked, arguments, tpus)):
        return Rewrite(both, doubt=f"`{tpus}=` is given too: {BOTH}", along=tpus)
    if others == [NAME] and "devices" not in arguments:
        return _beside_processes(file, facts, asked, value, arguments, call)
    if others:
        return f"`{others[0]}=` is given too, and which of the two counts differs by version", "keep one of the two"
    return _plan(file, facts, asked, value, arguments, call)


def _beside_processes(
    file: PythonFile,
    facts: Facts,
    asked: Devices,
    value: ast.expr,
    arguments: Mapping[str, ast.expr],
    call: CallNode | None,
) -> Rewrite | tuple[str, str]:
    """The same where a number of processes is given too."""
    if asked is CPU or means_cpu(arguments):
        return Rewrite((), why=f"it asked for nothing where `{NAME}=` counts the processes on the CPU")
    beside = with_processes(file, facts, asked, arguments)
    if isinstance(beside, str):
        return beside, "keep one of the two"
    counted, doubt = beside
    planned = _plan(file, facts, counted, value, arguments, call)
    if isinstance(planned, tuple) or (literal(arguments[NAME]) == (True, 1) and not doubt):
        return planned
    doubt = "; ".join(filter(None, (planned.doubt, doubt)))
    return replace(planned, doubt=doubt, along=NAME, why=EARLIER if counted is asked else ON_CPU)


def _plan(
    file: PythonFile,
    facts: Facts,
    asked: Devices,
    value: ast.expr,
    arguments: Mapping[str, ast.expr],
    call: CallNode | None,
) -> Rewrite | tuple[str, str]:
    """The same where nothing else counts devices of another kind."""
    given = arguments.get("accelerator")
    known, accelerator = literal(given) if given else (True, None)
    if "devices" in arguments:
        return "`devices=` is given too; 1.x let `gpus=` win where it was set", "keep one of the two"
    named_by = (held(facts, file, call, given) or set_outside(facts, file, call, given)) if call else None
    if given is not None and (named_by or (is_strategy(given) and not speaks_of_cpu(given))):
        strategy = named_by or _succeeded(file, facts, given) or named(file, facts, given)
        return _with_strategy(file, asked, given, arguments, strategy)
    text = file.source_of(value)
    by_value = asked.accelerator == f'"gpu" if {text} else "cpu"'
    if given is not None and _chooses_hardware(given) and by_value:
        return Rewrite((("devices", f'{text} or "auto"'),))
    if given is not None and call and (parts := divided(file, facts, call, given, value, asked)):
        return _of_parts(file, given, parts, arguments)
    told = hardware_told(facts, file, call, given) if given is not None and call and not known else None
    if told is not None and (by_value or asked.accelerator == "gpu"):
        return Rewrite((("devices", f'{text} or "auto"' if by_value else asked.devices),), doubt=told)
    default = default_of(file, call, given)[1] if given is not None and call else None
    if isinstance(default, str) and default in GONE:
        return f'its option is "{default}" by default, which named a strategy', GONE[default][1]
    if not known or not (accelerator is None or isinstance(accelerator, str)):
        return (
            "fixer cannot tell the value of `accelerator=`",
            "write the hardware as accelerator=, and the number as devices=",
        )
    if accelerator is None:
        return _without_accelerator(asked, given is not None)
    if asked.accelerator == "gpu" and accelerator in GPU_NAMES:
        return Rewrite((("devices", asked.devices),))
    if accelerator in GPU_NAMES and by_value:
        # 1.6 to 1.9 took all devices of a named accelerator where `gpus` was None or 0, as "auto" does.
        return Rewrite((("devices", f'{text} or "auto"'),))
    if asked is CPU and accelerator == "cpu":
        return Rewrite(())
    if accelerator in NEW_ACCELERATORS:
        return (
            f'it contradicts accelerator="{accelerator}", or may',
            "keep one kind of hardware, and give its number as devices=",
        )
    return f'no release had accelerator="{accelerator}"', "say what hardware to use"


def _of_parts(
    file: PythonFile, given: ast.expr, parts: Divided, arguments: Mapping[str, ast.expr]
) -> Rewrite | tuple[str, str]:
    """What becomes of an accelerator that names hardware at times and a strategy at others."""
    named_too = next((name for name in ("strategy", "distributed_backend") if name in arguments), None)
    if named_too and parts.strategy:
        return f"accelerator={file.source_of(given)} and {named_too}= both name a strategy", "keep one as strategy="
    planned = _without_accelerator(parts.asked, spelled=True)
    strategy = (("strategy", parts.strategy),) if parts.strategy else ()
    return replace(planned, instead=(*planned.instead, *strategy), doubt=parts.doubt)


def _chooses_hardware(node: ast.expr) -> bool:
    """Whether an expression chooses between names of hardware: `"cpu" if n == 0 else "gpu"`."""
    arms = (node.body, node.orelse) if isinstance(node, ast.IfExp) else ()
    return bool(arms) and all(literal(arm)[1] in NEW_ACCELERATORS or _chooses_hardware(arm) for arm in arms)


def _is_idle(asked: Devices, name: str, node: ast.expr) -> bool:
    """Whether an argument that counts other devices asks for none; one process is what the CPU has anyway."""
    if name == NAME and (literal(node) == (True, 0) or (asked is CPU and literal(node) == (True, 1))):
        return True
    return literal(node) == (True, None)


def _with_strategy(
    file: PythonFile, asked: Devices, given: ast.expr, arguments: Mapping[str, ast.expr], strategy: StrategyName
) -> Rewrite | tuple[str, str]:
    """`accelerator="ddp"` said how the devices work together, which is strategy= since 1.5."""
    old = file.source_of(given)
    other = next((name for name in ("strategy", "distributed_backend") if _names_more(name, given, arguments)), None)
    if other:
        return f"accelerator={old} and {other}= both name a strategy", "keep one of them as strategy="
    if literal(given)[1] == "dp" and asked.accelerator == "gpu" and not asked.several:
        return Rewrite((("devices", asked.devices),), (("accelerator", _accelerator(asked)),))
    if strategy.text is None or "ddp_cpu" in old:
        why = strategy.why or 'it means processes on the CPU: accelerator="cpu", strategy="ddp_spawn"'
        return f"accelerator={old} named a strategy", why
    replaced_by = (("accelerator", _accelerator(asked)),)
    devices = (("devices", asked.devices),) if asked.devices != "" else ()
    return Rewrite((*devices, ("strategy", strategy.text)), replaced_by, strategy.why)


def _names_more(name: str, given: ast.expr, arguments: Mapping[str, ast.expr]) -> bool:
    """Whether another argument may name another strategy than accelerator= does, or has to go for it."""
    if name == "strategy" or name not in arguments:
        return name in arguments
    return literal(arguments[name]) not in ((True, None), literal(given)) or not literal(given)[0]


def _succeeded(file: PythonFile, facts: Facts, given: ast.expr) -> StrategyName | None:
    new = succeeded(file, facts, given)
    return replace(new, why=f"accelerator={file.source_of(given)} named it: {new.why}") if new else None


def _accelerator(asked: Devices) -> str:
    return f'"{asked.accelerator}"' if asked.accelerator in ("cpu", "gpu") else asked.accelerator


def _without_accelerator(asked: Devices, spelled: bool) -> Rewrite:
    accelerator = ("accelerator", _accelerator(asked))
    devices = (("devices", asked.devices),) if asked.devices != "" else ()
    return Rewrite(devices, (accelerator,)) if spelled else Rewrite((accelerator, *devices))
