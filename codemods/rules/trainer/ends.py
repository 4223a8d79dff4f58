"""What becomes of an argument of Trainer that says which devices, and how they work together."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from codemods.code.calls import innermost
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.calls import FROM_ARGS
from codemods.lightning.eras import era
from codemods.lightning.exclusive_use import HARDWARE
from codemods.lightning.facts import Facts
from codemods.lightning.keyword_flow import UNSEEN, handed
from codemods.lightning.kinds import bound_to, is_repeatable, is_stored, part_of_choice
from codemods.lightning.options import default_of
from codemods.lightning.strategies import GONE as GONE_STRATEGIES
from codemods.lightning.strategies import (
    ONE,
    PLUGGED,
    RENAMED,
    STRATEGIES,
    SUCCESSORS,
    bound_names,
    is_strategy,
    named,
    succeeded,
)
from codemods.rewrite.dictionaries import may_get
from codemods.rules.trainer.counted import ArgumentReplacement, CountedValue, counted
from codemods.rules.trainer.domains import is_plain, kinds_of, may_be_none
from codemods.rules.trainer.gpus import NEW_ACCELERATORS, read_gpus
from codemods.rules.trainer.plugins import is_named

UNSET = {
    "strategy": ('{0} or "auto"', "it meant that Lightning chooses"),
    "devices": ('"auto" if {0} is None else {0}', "it let Lightning choose the number"),
    "accelerator": ('{0} or "cpu"', "it meant the CPU, where no other argument counted devices"),
}
"""What is written for a parameter that may be None, and what None meant."""
COUNTING = {"tpu_cores", "num_tpu_cores", "ipus", "num_processes", "gpus"}
OPEN = "it may be None, an error in 2.x, and the other arguments may ask for other devices than the CPU"
UNRUN = (
    "it names a strategy, which no Lightning that the project asks for takes: where 1.x ran it, it meant the CPU, and "
    "2.x takes the accelerators that it finds"
)
UNUSED = "the same strategy; it no longer looks for unused parameters by itself (find_unused_parameters=True does)"


NO_DEVICES: tuple[object, ...] = (0, "0", [])
"""Values of devices= that are refused (`_check_device_config_and_set_final_flags`, read in 1.6.5 to 2.6.6)."""


def unset(
    file: PythonFile, call: CallNode, item: ast.keyword, given: Mapping[str, ast.expr]
) -> ArgumentReplacement | None:
    """What becomes of a parameter, or an option, with the default None that is handed on, and of a strategy that a
    mapping may lack; None for other values."""
    if item.arg not in UNSET:
        return None
    asked = item.arg == "strategy" and _is_asked(item.value)
    if not asked and not _may_be_none(call, item.value) and default_of(file, call, item.value) != (True, None):
        return None
    if item.arg == "accelerator" and COUNTING & given.keys():
        return None
    text, reason = UNSET[item.arg]
    return ArgumentReplacement(
        ((item.arg, text.format(file.source_of(item.value))),),
        "safe",
        f"None{', where the key is missing,' if asked else ', its default,'} is an error in 2.x; {reason}",
        "B16",
    )


def _none_at_times(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, given: Mapping[str, ast.expr]
) -> ArgumentReplacement | None:
    """What becomes of a name that is given None in one place and something else in others: for the accelerator, names
    of hardware, beside which 1.x took devices= alone."""
    if not isinstance(item.value, ast.Name) or item.arg not in UNSET:
        return None
    values = [literal(value) for value in bound_to(facts, file, call, item.value.id)]
    if (True, None) not in values or len(values) == values.count((True, None)):
        return None
    named_so = {str(value) for known, value in values if known and value is not None}
    if item.arg == "accelerator" and (COUNTING & given.keys() or not named_so <= {*NEW_ACCELERATORS}):
        return None
    text, reason = UNSET[item.arg]
    why = f"it may be None, which is an error in 2.x; {reason}"
    new = ((item.arg, text.format(item.value.id)),)
    if item.arg == "accelerator" and not all(known for known, _ in values):
        return ArgumentReplacement(new, "unsafe", f"{why}; fixer assumes that it names hardware elsewhere", "B16")
    return ArgumentReplacement(new, "safe", why, "B16")


def end_of(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, given: Mapping[str, ast.expr]
) -> ArgumentReplacement | None:
    """What becomes of one argument, None where it may stay."""
    if item.arg == "distributed_backend":
        return _backend(file, facts, call, item.value, given)
    if item.arg == "accelerator":
        return _accelerator(file, facts, call, item.value, given)
    if item.arg == "strategy":
        return _strategy(file, facts, call, item.value, given)
    if item.arg == "devices":
        at_times = _none_at_times(file, facts, call, item, given)
        return at_times or unset(file, call, item, given) or _devices(file, item.value, given)
    if item.arg == "plugins":
        return _plugins(file, facts, item.value)
    seen = _seen(file, facts, call, item.value)
    if item.arg == "num_processes" and _is_strategy_on_cpu(file, facts, call, given):
        given = {name: value for name, value in given.items() if name != "accelerator"} | {"strategy": item.value}
        end = counted(facts, item, given, seen)
        return replace(end, new=tuple(pair for pair in end.new if pair[0] == "devices")) if end.new else end
    return counted(facts, item, given, seen)


def _is_strategy_on_cpu(file: PythonFile, facts: Facts, call: CallNode, given: Mapping[str, ast.expr]) -> bool:
    """Whether the accelerator that a call names becomes a strategy on the CPU."""
    node = given.get("accelerator")
    end = _accelerator(file, facts, call, node, given) if node is not None and is_strategy(node) else None
    return end is not None and {"accelerator", "strategy"} == {name for name, _ in end.new or ()}


def _plugins(file: PythonFile, facts: Facts, node: ast.expr) -> ArgumentReplacement | None:
    """What becomes of a strategy that plugins= names, alone or in a list."""
    several = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    arms = [arm for item in several for arm in ([item.body, item.orelse] if isinstance(item, ast.IfExp) else [item])]
    names = [value for arm in arms if isinstance(value := literal(arm)[1], str)]
    if not names:
        return None
    if len(several) > 1 or not PLUGGED | GONE_STRATEGIES.keys() >= {*names}:
        return ArgumentReplacement(
            None, "manual", "plugins can no longer be given by name; give that strategy as strategy="
        )
    strategy = named(file, facts, several[0])
    if new := succeeded(file, facts, several[0]):
        return ArgumentReplacement((("strategy", new.text),), "unsafe", new.why, new.row)
    if strategy.text is None:
        return ArgumentReplacement(
            None, "manual", strategy.why or "it names a strategy; give that as strategy=", strategy.row
        )
    why = UNUSED if {"ddp", "ddp_spawn"} & {*names} else "a strategy is named by strategy= since 1.5"
    return ArgumentReplacement((("strategy", strategy.text),), "safe", why, strategy.row)


def _plugged_level(node: ast.expr | None) -> Fix | None:
    """How surely plugins= becomes strategy=, where it names one strategy and nothing else."""
    value = literal(node)[1] if node else None
    [name] = value if isinstance(value, list) and len(value) == 1 else [value]
    if not isinstance(name, str):
        return None
    return "safe" if name in PLUGGED else "unsafe" if name in SUCCESSORS else None


def _seen(file: PythonFile, facts: Facts, call: CallNode, node: ast.expr) -> CountedValue:
    number = "int" in kinds_of(facts, file, call, node)
    return CountedValue(number, may_be_none(facts, file, call, node), part_of_choice(file, node), is_plain(node))


def _backend(
    file: PythonFile, facts: Facts, call: CallNode, node: ast.expr, given: Mapping[str, ast.expr]
) -> ArgumentReplacement:
    known, value = literal(node)
    if known and value is None:
        return ArgumentReplacement((), "safe", "it had no effect")
    if value == "ddp_cpu":
        return _on_cpu(given)
    if known and "gpus" in given and "accelerator" in given and literal(given["accelerator"]) == (True, value):
        return ArgumentReplacement((), "safe", "accelerator= says the same")
    if is_named(node) and (level := _plugged_level(given.get("plugins"))):
        return ArgumentReplacement((), level, "the strategy that plugins= names was what counted")
    if _is_single(node, given):
        return ArgumentReplacement((), "safe", ONE)
    strategy = named(file, facts, node)
    if new := succeeded(file, facts, node):
        return ArgumentReplacement((("strategy", new.text),), "unsafe", new.why, new.row)
    if strategy.text is not None and "ddp_cpu" not in strategy.text:
        return ArgumentReplacement((("strategy", strategy.text),), "safe", UNUSED, strategy.row)
    if strategy.why:
        return ArgumentReplacement(None, "manual", strategy.why, strategy.row)
    if by_default := _option_gone(file, call, node):
        return by_default
    if is_repeatable(node):
        names = bound_names(facts, file, call, node)
        text = file.source_of(node) + (' or "auto"' if None in names or not names else "")
        if gone := sorted(name for name in names if name and name in {*RENAMED, *GONE_STRATEGIES, "ddp_cpu"}):
            return ArgumentReplacement(None, "manual", f'it may be "{gone[0]}", which strategy= does not take')
        if names:
            return ArgumentReplacement((("strategy", text),), "safe", UNUSED)
        return ArgumentReplacement(
            (("strategy", text),), "unsafe", "fixer assumes that it names a strategy that still exists, or is None"
        )
    return ArgumentReplacement(
        None, "manual", "its value is only known when the program runs; give its value as strategy="
    )


def _option_gone(file: PythonFile, call: CallNode, node: ast.expr) -> ArgumentReplacement | None:
    """What is said of an option that names a strategy by default that is not there any more."""
    default = default_of(file, call, node)[1]
    if not isinstance(default, str) or default not in {*RENAMED, *GONE_STRATEGIES, "ddp_cpu"}:
        return None
    row, why = GONE_STRATEGIES.get(default, (None, "give the option another default"))
    return ArgumentReplacement(
        None, "manual", f'its option is "{default}" by default, which strategy= does not take: {why}', row
    )


def _is_single(node: ast.expr, given: Mapping[str, ast.expr]) -> bool:
    """Whether a strategy is DataParallel, and the call asks for one GPU."""
    counted = [given[name] for name in ("gpus", "devices") if name in given]
    asked = read_gpus(counted[0]) if len(counted) == 1 else None
    return literal(node)[1] == "dp" and asked is not None and asked.accelerator == "gpu" and not asked.several


def _on_cpu(given: Mapping[str, ast.expr]) -> ArgumentReplacement:
    if {"gpus", "accelerator", "devices", "strategy", "tpu_cores", "num_tpu_cores", "ipus"} & given.keys():
        return ArgumentReplacement(None, "manual", 'write accelerator="cpu", devices=..., strategy="ddp_spawn"')
    if "num_processes" in given:
        return ArgumentReplacement(
            (("accelerator", '"cpu"'), ("strategy", '"ddp_spawn"')), "safe", "it meant processes on the CPU"
        )
    new = (("accelerator", '"cpu"'), ("devices", "1"), ("strategy", '"ddp_spawn"'))
    return ArgumentReplacement(new, "safe", "it meant processes on the CPU, of which there was one")


def _accelerator(
    file: PythonFile, facts: Facts, call: CallNode, node: ast.expr, given: Mapping[str, ast.expr]
) -> ArgumentReplacement | None:
    """Names of strategies, which it took before 1.5, and None. Beside `gpus=` they are LIT101's."""
    if "gpus" in given:
        return None
    known, value = literal(node)
    elsewhere = call.scope.resolve(call.node.func) == FROM_ARGS or may_get(file, facts, call, HARDWARE)
    if known and value is None:
        if elsewhere or COUNTING & given.keys():
            return ArgumentReplacement((), "unsafe", "it let the other arguments decide")
        return ArgumentReplacement(
            (("accelerator", '"cpu"'),), "safe", "None was the CPU; 2.x takes every accelerator that it finds", "B16"
        )
    if not elsewhere and not COUNTING & given.keys() and (chosen := _chosen_hardware(file, node)):
        reason = "None, in one case, was the CPU; it is an error in 2.x"
        return ArgumentReplacement((("accelerator", chosen),), "safe", reason, "B16")
    if at_times := _none_at_times(file, facts, call, ast.keyword("accelerator", node), given):
        return ArgumentReplacement(None, "manual", OPEN) if elsewhere else at_times
    if open_end := unset(file, call, ast.keyword("accelerator", node), given):
        unseen = any(entry.name == UNSEEN for entry in handed(file, facts, call))
        return (
            ArgumentReplacement(None, "manual", OPEN)
            if unseen or call.scope.resolve(call.node.func) == FROM_ARGS
            else open_end
        )
    default = default_of(file, call, node)[1]
    if isinstance(default, str) and default in {*STRATEGIES, *GONE_STRATEGIES, "ddp_cpu"}:
        return ArgumentReplacement(
            None, "manual", f'its option is "{default}" by default, which names a strategy; give it as strategy='
        )
    bound = bound_to(facts, file, call, node.id) if isinstance(node, ast.Name) else []
    if named_by := next(filter(is_strategy, bound), None):
        why = f"it may be {file.source_of(named_by)}, which names a strategy; give that as strategy="
        return ArgumentReplacement(None, "manual", why)
    if not is_strategy(node):
        return None
    if value == "ddp_cpu":
        return _on_cpu({name: item for name, item in given.items() if name != "accelerator"})
    strategy = named(file, facts, node)
    if strategy.text is None or "ddp_cpu" in strategy.text:
        return ArgumentReplacement(
            None, "manual", strategy.why or 'write accelerator="cpu" and strategy=', strategy.row
        )
    if {"strategy", "distributed_backend"} & given.keys():
        return ArgumentReplacement(
            None, "manual", "another argument gives a strategy too; keep one of them as strategy="
        )
    counts = COUNTING & given.keys()
    if counts - {"num_processes"} or (counts and (elsewhere or "devices" in given)):
        return ArgumentReplacement(
            None, "manual", "it names the strategy and another argument counts devices; write strategy= for it"
        )
    if elsewhere or "devices" in given:
        return ArgumentReplacement(
            (("strategy", strategy.text),), "unsafe", f"{UNUSED}; 2.x takes the accelerators that it finds"
        )
    if era(facts, "2.0.0") == "after":
        return ArgumentReplacement((("strategy", strategy.text),), "unsafe", UNRUN)
    new = (("accelerator", '"cpu"'), ("strategy", strategy.text))
    return ArgumentReplacement(new, "safe", "it named the strategy; without gpus= 1.x trained on the CPU")


def _chosen_hardware(file: PythonFile, node: ast.expr) -> str | None:
    """A choice between None and a name of hardware, with the CPU in the place of None."""
    if not isinstance(node, ast.IfExp):
        return None
    values = [literal(arm)[1] for arm in (node.body, node.orelse)]
    unset_arms = [literal(arm) == (True, None) for arm in (node.body, node.orelse)]
    if sorted(unset_arms) != [False, True] or not {*map(str, values)} & {*NEW_ACCELERATORS}:
        return None
    first, last = (
        '"cpu"' if gone else file.source_of(arm) for gone, arm in zip(unset_arms, (node.body, node.orelse), strict=True)
    )
    return f"{first} if {part_of_choice(file, node.test)} else {last}"


def _strategy(
    file: PythonFile, facts: Facts, call: CallNode, node: ast.expr, given: Mapping[str, ast.expr]
) -> ArgumentReplacement | None:
    if _is_single(node, given):
        return ArgumentReplacement((), "safe", ONE)
    if open_end := unset(file, call, ast.keyword("strategy", node), given):
        return open_end
    if isinstance(node, ast.Name):
        values = [named(file, facts, value) for value in bound_to(facts, file, call, node.id)]
        gone = next((value for value in values if value.why), None)
        if gone is not None:
            return ArgumentReplacement(None, "manual", gone.why, gone.row)
        if any(value.row == "B16" for value in values):
            reason = "it may be None, which is a ValueError in 2.x; it meant that Lightning chooses"
            return ArgumentReplacement((("strategy", f'{node.id} or "auto"'),), "safe", reason)
    strategy = named(file, facts, node)
    if new := succeeded(file, facts, node):
        return ArgumentReplacement((("strategy", new.text),), "unsafe", new.why, new.row)
    if strategy.text is None:
        return (
            ArgumentReplacement(None, "manual", strategy.why, strategy.row)
            if strategy.why
            else _option_gone(file, call, node)
        )
    if strategy.row is None:
        return None
    reason = (
        "None is a ValueError in 2.x; it meant that Lightning chooses" if "auto" in strategy.text else "its name now"
    )
    return ArgumentReplacement((("strategy", strategy.text),), "safe", reason, strategy.row)


def _may_be_none(call: CallNode, node: ast.expr) -> bool:
    """Whether a name is a parameter with the default None that nothing else is assigned to."""
    function = innermost(call.within, ast.FunctionDef)
    if function is None or not isinstance(node, ast.Name) or is_stored(function, node.id):
        return False
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(
        zip((item.arg for item in every[len(every) - len(arguments.defaults) :]), arguments.defaults, strict=True)
    )
    defaults.update(
        {item.arg: value for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    )
    return node.id in defaults and literal(defaults[node.id]) == (True, None)


def _is_asked(node: ast.expr) -> bool:
    """Whether an expression is `mapping.get(key)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    return node.func.attr == "get" and len(node.args) == 1 and not node.keywords


def _devices(file: PythonFile, node: ast.expr, given: Mapping[str, ast.expr]) -> ArgumentReplacement | None:
    known, value = literal(node)
    if isinstance(node, ast.IfExp) and (True, None) in (literal(node.body), literal(node.orelse)):
        shown = [part_of_choice(file, arm) for arm in (node.body, node.test, node.orelse)]
        first, last = ('"auto"' if literal(arm) == (True, None) else "" for arm in (node.body, node.orelse))
        text = f"{first or shown[0]} if {shown[1]} else {last or shown[2]}"
        return ArgumentReplacement(
            (("devices", text),), "safe", "None is an error in 2.x; it let Lightning choose the number", "B16"
        )
    if known and value is None:
        return ArgumentReplacement((), "safe", "None is an error in 2.x; it let Lightning choose the number", "B16")
    arms = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    nothing = [arm for arm in arms if literal(arm)[0] and literal(arm)[1] in NO_DEVICES]
    if nothing:
        return _no_devices(file, node, nothing[0], given.get("accelerator"))
    accelerator = given.get("accelerator")
    if accelerator is None or literal(accelerator)[1] != "cpu" or not isinstance(value, list) or not value:
        return None
    return ArgumentReplacement(
        (("devices", str(len(value))),), "safe", "since 2.5 the CPU takes a number of processes alone"
    )


def _no_devices(file: PythonFile, node: ast.expr, none: ast.expr, accelerator: ast.expr | None) -> ArgumentReplacement:
    """The CPU for 0 devices, where nothing else says on what it trains; one device for 0 at times, where it trains on
    whatever is there."""
    error = f"{file.source_of(none)} is an error since 1.6, for the CPU too"
    known = literal(accelerator)[1] if accelerator is not None else None
    if node is none and (accelerator is None or known == "cpu"):
        named = () if accelerator is not None else (("accelerator", '"cpu"'),)
        why = f"{error}; fixer assumes that the CPU is meant"
        return ArgumentReplacement((*named, ("devices", "1")), "unsafe", why)
    if isinstance(node, ast.IfExp) and known == "auto" and (text := _one_for_none(file, node, none)):
        why = f"{error}; fixer assumes that there is no GPU where it is given"
        return ArgumentReplacement((("devices", text),), "unsafe", why)
    return ArgumentReplacement(None, "manual", f'{error}; write `accelerator="cpu", devices=1` for that', row="")


def _one_for_none(file: PythonFile, node: ast.IfExp, none: ast.expr) -> str | None:
    """A choice with 1 in the place of no devices; None where the other arm has none either."""
    known, other = literal(node.orelse if node.body is none else node.body)
    if known and other in NO_DEVICES:
        return None
    if known and other == 1:
        return "1"
    body, test, orelse = (
        part_of_choice(file, item) if item is not none else "1" for item in (node.body, node.test, node.orelse)
    )
    return f"{body} if {test} else {orelse}"
