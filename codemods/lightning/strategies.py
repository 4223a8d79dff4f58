"""Names of strategies, which `accelerator=` and `distributed_backend=` took too: what each is called now."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import arms_of
from codemods.lightning.configured_values import configured_values, is_set
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import part_of_choice
from codemods.lightning.options import choices_of, default_elsewhere, default_of
from codemods.lightning.values import Constants, constants_of
from codemods.lightning.versions import LIGHTNING, admits_from, is_open, reaches

STRATEGIES = frozenset(
    {"ddp", "ddp_spawn", "ddp_find_unused_parameters_false", "ddp_spawn_find_unused_parameters_false"}
)
"""Names of strategies that `accelerator=` took before 1.5 and that mean the same."""
PLUGGED = STRATEGIES | {
    "deepspeed", "deepspeed_stage_1", "deepspeed_stage_2", "deepspeed_stage_2_offload", "deepspeed_stage_3",
    "deepspeed_stage_3_offload", "deepspeed_stage_3_offload_nvme",
}  # fmt: skip
"""Names of strategies that `plugins=` took and that mean the same. 1.4.9 and 1.5.10 run with them, 1.7.7 and later
refuse any name there; their `plugins="fsdp"` was FairScale's, not torch's own."""
RENAMED = {
    "fsdp_native": ("fsdp", "G16490"),
    "fsdp_native_full_shard_offload": ("fsdp_cpu_offload", "G16490"),
    "tpu_spawn": ("xla", "G16490"),
    "tpu_spawn_debug": ("xla_debug", "G16490"),
}
_FSDP = "it was FairScale's, and was removed in 2.0: strategy=\"fsdp\" is torch's own, with other checkpoints"
GONE = {
    "dp": ("M178", 'DataParallel was removed in 2.0: write strategy="ddp", where each device takes its own batch'),
    "ddp2": ("M090", 'it was removed in 1.8: write strategy="ddp", where each device takes its own batch'),
    "horovod": ("M230", 'it was removed in 2.0, and its own package is archived: write strategy="ddp"'),
    "bagua": ("G19445", 'it was removed in 2.0: write strategy="ddp"'),
    "colossalai": ("M231", "it is now in the package lightning-colossalai"),
    "hivemind": ("M231", "it is now in the package lightning-hivemind"),
    "ddp_sharded": ("M200", _FSDP),
    "ddp_sharded_find_unused_parameters_false": ("M200", _FSDP),
    "ddp_sharded_spawn": ("M201", _FSDP),
    "ddp_sharded_spawn_find_unused_parameters_false": ("M201", _FSDP),
    "ddp_fully_sharded": ("M199", _FSDP),
    "fsdp_full_shard_offload": ("M199", _FSDP),
    "hpu_parallel": ("G21327", "it is now in the package lightning-habana"),
    "ipu_strategy": ("M107", "Lightning 2.1 removed support for it"),
}


HARDWARE = frozenset({"auto", "cpu", "gpu", "cuda", "tpu", "hpu", "ipu", "mps"})
HARDWARE_SINCE = "1.4"
"""The release that let `accelerator=` name hardware."""
BY_PROCESSES = (
    "DataParallel was removed in 2.0; in DDP, which replaces it, each device is a process "
    "with a batch of its own: a step sees as many batches as there are devices, and no hook gets the outputs of all"
)
EACH_READS_ALL = "; an IterableDataset is read whole by each process, unless it divides its items among them itself"
UNSHARDED = (
    "FairScale's sharding was removed in 2.0; in plain DDP each device holds all of the optimizer's state, and needs "
    'the memory for it: strategy="fsdp" shards, with other checkpoints'
)
SUCCESSORS = {
    "dp": ("ddp", BY_PROCESSES),
    "ddp2": ("ddp", BY_PROCESSES),
    "ddp_sharded": ("ddp", UNSHARDED),
    "ddp_sharded_find_unused_parameters_false": ("ddp_find_unused_parameters_false", UNSHARDED),
    "ddp_sharded_spawn": ("ddp_spawn", UNSHARDED),
    "ddp_sharded_spawn_find_unused_parameters_false": ("ddp_spawn_find_unused_parameters_false", UNSHARDED),
}
"""What strategies that are gone are nearest to, and what is not the same."""
ONE = "DataParallel hands everything to the module where it has one device"
LATE = {"hpu_parallel": "2.1.0", "ipu_strategy": "2.1.0"}
"""The releases in which those went that 2.0 still had."""


@dataclass(frozen=True)
class StrategyName:
    """What an expression that names a strategy is now: its text, or None with the reason in `why`; beside a text, that
    is what the text takes for granted."""

    text: str | None
    row: str | None = None
    why: str = ""


def named(file: PythonFile, facts: Facts, node: ast.expr, succeed: bool = False) -> StrategyName:
    """Reads None, a name, or a choice between them; `why` is empty where it is none of these. `succeed` is to write
    what takes the place of a strategy that is gone."""
    known, value = literal(node)
    if known and value is None:
        return StrategyName('"auto"', "B16")
    if isinstance(value, str):
        if succeed and value in SUCCESSORS:
            new, why = SUCCESSORS[value]
            return StrategyName(file.source_of(node).replace(value, new), GONE[value][0], why)
        if value in RENAMED:
            return StrategyName(f'"{RENAMED[value][0]}"', RENAMED[value][1])
        if value in GONE and reaches(facts, LATE.get(value, "2.0.0")):
            return StrategyName(None, *GONE[value])
        return StrategyName(file.source_of(node))
    if isinstance(node, ast.IfExp):
        body, other = named(file, facts, node.body, succeed), named(file, facts, node.orelse, succeed)
        if body.text is None or other.text is None:
            return body if body.text is None else other
        quote = next(
            (text[0] for text in (file.source_of(node.body), file.source_of(node.orelse)) if text[0] in "'\""), '"'
        )
        arms = [text.replace('"', quote) if text == '"auto"' else text for text in (body.text, other.text)]
        if isinstance(node.body, ast.IfExp):
            arms[0] = f"({arms[0]})"
        told = next((item for item in (body, other) if item.why), body if body.row else other)
        return StrategyName(f"{arms[0]} if {part_of_choice(file, node.test)} else {arms[1]}", told.row, told.why)
    return StrategyName(None)


def succeeded(file: PythonFile, facts: Facts, node: ast.expr) -> StrategyName | None:
    """What takes the place of DataParallel or of FairScale's sharding, where an expression names that by itself or as
    one of a choice, and what is then not the same; no notebook starts processes."""
    gone = any(isinstance(value := literal(arm)[1], str) and value in SUCCESSORS for arm in arms_of(node))
    if not gone or file.path.endswith(".ipynb"):
        return None
    found = named(file, facts, node, succeed=True)
    if found.text is None:
        return None
    return replace(found, why=found.why + EACH_READS_ALL) if BY_PROCESSES in found.why and _iterates(facts) else found


def _iterates(facts: Facts) -> bool:
    """Whether the project has a dataset of which each process reads all, unless it looks which process asks."""
    if "strategies.iterates" not in facts.of_sources:
        facts.of_sources["strategies.iterates"] = any(
            source.kind in ("python", "notebook") for _, source in facts.holding("IterableDataset")
        )
    found: bool = facts.of_sources["strategies.iterates"]
    return found


def held(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr | None) -> StrategyName | None:
    """What a variable names that is bound to strategies alone which are called so still, or at times to None."""
    names = bound_names(facts, file, call, node)
    if node is None or names <= {None} or not names <= STRATEGIES | {None}:
        return None
    text = file.source_of(node)
    return StrategyName(f'{text} or "auto"', "B16") if None in names else StrategyName(text)


def bound_names(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr | None) -> frozenset[str | None]:
    """The texts, and None, that a variable is bound to where a call stands; none where it may be something else."""
    told = constants_of(facts, file, call.within, node) if isinstance(node, ast.Name) else Constants(called=True)
    values = [literal(item.node)[1] for item in told.found]
    plain = all(value is None or isinstance(value, str) for value in values)
    return frozenset(values) if plain and not told.unknown and not told.called else frozenset()


def set_outside(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr | None) -> StrategyName | None:
    """What a part of a configuration, or an option of a command line, names: a strategy that is called so still, in
    each of the project's configurations, by default, or as the rest of the project says of an option that is None."""
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return None
    text, values = file.source_of(node), configured_values(facts, file, call, node)
    if values and all(value is None or value == "" or str(value) in STRATEGIES for value in values):
        assumed = "" if any(values) else _before_hardware(facts)
        if any(values) or assumed:
            why = assumed and f"fixer assumes that {text} names a strategy that still exists, or nothing: {assumed}"
            return StrategyName(text, None, why) if all(values) else StrategyName(f'{text} or "auto"', "B16", why)
    known, value = default_of(file, call, node)
    if not known:
        known, value = default_elsewhere(facts, file, call, node)
    named_so = value is None or (isinstance(value, str) and value in STRATEGIES)
    if value is not None and HARDWARE & (choices_of(file, name := getattr(node, "attr", "")) | _compared(file, name)):
        return None
    if not known or not named_so or is_set(facts, getattr(node, "attr", "")):
        return None
    if value is not None:
        return StrategyName(text, None, f'fixer assumes that {text} names a strategy, as its default "{value}" does')
    why = _told_by(facts, file, getattr(node, "attr", ""))
    assumed = f"fixer assumes that {text} names a strategy that still exists, or is None: {why}"
    return StrategyName(f'{text} or "auto"', "B16", assumed) if why else None


def _told_by(facts: Facts, file: PythonFile, name: str) -> str:
    """What says that an option which is `accelerator=` of Trainer names a strategy; empty where nothing does."""
    choices, compared = choices_of(file, name), _compared(file, name)
    if HARDWARE & (choices | compared):
        return ""
    if before := _before_hardware(facts):
        return before
    for names, told in ((choices, "is one of its choices"), (compared, "is what the file compares it with")):
        if found := sorted(names & (STRATEGIES | GONE.keys())):
            return f'"{found[0]}" {told}'
    return ""


def _before_hardware(facts: Facts) -> str:
    """What says that `accelerator=` of the releases which the project asks for names no hardware; empty if it may."""
    if is_open(facts, LIGHTNING) or admits_from(facts, LIGHTNING, HARDWARE_SINCE):
        return ""
    return f"before {HARDWARE_SINCE}, as the project asks for, accelerator= named nothing else"


def _compared(file: PythonFile, name: str) -> set[str]:
    """The texts that a file compares an attribute of that name with."""
    return {
        item.value
        for node, _ in file.nodes_near({name})
        if isinstance(node, ast.Compare)
        and any(isinstance(side, ast.Attribute) and side.attr == name for side in (node.left, *node.comparators))
        for item in walk(node)
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    }


def is_strategy(node: ast.expr) -> bool:
    """Whether an expression is one of the old `accelerator=` values that named a strategy, or a choice between such
    and None."""
    if isinstance(node, ast.IfExp):
        arms = (node.body, node.orelse)
        return any(map(is_strategy, arms)) and all(is_strategy(arm) or literal(arm) == (True, None) for arm in arms)
    value = literal(node)[1]
    return isinstance(value, str) and (value in STRATEGIES or value in GONE or value == "ddp_cpu")
