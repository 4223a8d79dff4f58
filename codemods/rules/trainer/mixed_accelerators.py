"""`accelerator=` that names hardware at times and a strategy at others, beside `gpus=`: Lightning 1.4 to 1.6 took both.

`"gpu"` and `"auto"` went by `gpus=`, as a strategy and None did; without GPUs the first was an error. `"cpu"` and
`"ddp_cpu"` were the CPU whatever `gpus=` was, which 1.6 then took for a number of processes (run on 1.4.9, 1.5.10 and
1.6.5).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import arms_of
from codemods.lightning.configured_values import configured_values
from codemods.lightning.facts import Facts
from codemods.lightning.given_anywhere import texts_given
from codemods.lightning.kinds import is_repeatable, part_of_choice
from codemods.lightning.strategies import STRATEGIES, bound_names, named
from codemods.lightning.versions import LIGHTNING, admits_from, is_open
from codemods.rules.trainer.beside_processes import NO_STRATEGY, SINCE
from codemods.rules.trainer.gpus import Devices, follows, negated

BY_GPUS = frozenset({"gpu", "cuda", "auto"})
ON_CPU = frozenset({"cpu", "ddp_cpu"})
ASSUMED = "on the CPU 1.6 took `gpus=` for a number of processes; fixer assumes that one is meant, as before"

ALL = 'beside accelerator="gpu" 1.6 took all GPUs where `gpus=` asked for none; fixer assumes that the CPU is meant'


@dataclass(frozen=True)
class Divided:
    """What an accelerator of several kinds is divided into: the text of strategy=, empty where it names none, the
    devices that are asked for then, and what that takes for granted."""

    strategy: str
    asked: Devices
    doubt: str = ""


def speaks_of_cpu(node: ast.expr) -> bool:
    """Whether an expression chooses between processes on the CPU and something else."""
    return isinstance(node, ast.IfExp) and any(literal(arm)[1] == "ddp_cpu" for arm in arms_of(node))


def divided(
    file: PythonFile, facts: Facts, call: CallNode, node: ast.expr, gpus: ast.expr, asked: Devices
) -> Divided | None:
    """An accelerator of several kinds, beside GPUs that are asked for; None where it is of one kind, or of others."""
    if isinstance(node, ast.IfExp):
        kinds = frozenset(literal(arm)[1] if literal(arm)[0] else ... for arm in arms_of(node))
        return _all_without(facts, asked, kinds, _choice(file, facts, node, kinds, gpus, asked))
    text, (values, doubt) = file.source_of(node), _told(facts, file, call, node)
    kinds = values & (STRATEGIES if doubt else BY_GPUS | {"cpu"})
    if not kinds or not values <= BY_GPUS | {"cpu", None} | STRATEGIES or (len(values) == 1 and not doubt):
        return None
    parts = _forced(file, facts, gpus, asked, _named(text, values), f'{text} == "cpu"' if "cpu" in values else "")
    parts = _all_without(facts, asked, values, parts)
    return replace(parts, doubt="; ".join(filter(None, (parts.doubt, doubt)))) if parts else None


def hardware_told(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> str | None:
    """What it takes for granted that a part of a configuration, or an option, names the CPU, GPUs or any hardware; None
    where it may name something else."""
    values, doubt = _told(facts, file, call, node)
    if isinstance(node, ast.Name) or not values or not values <= BY_GPUS | {"cpu"}:
        return None
    named = ", ".join(sorted(f'"{value}"' for value in values))
    return doubt if doubt or values <= {"gpu", "cuda"} else f"`gpus=` may have counted otherwise beside one of {named}"


def _told(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> tuple[frozenset[object], str]:
    """All that an expression may be, and what that takes for granted."""
    values = _values(facts, file, call, node)
    if values or not isinstance(node, ast.Attribute | ast.Subscript) or not is_repeatable(node):
        return values, ""
    values = frozenset(texts_given(facts, _key(node)))
    told = ", ".join(sorted("None" if value is None else f'"{value}"' for value in values))
    return values, f"fixer assumes that {file.source_of(node)} is what the project gives that name: {told}"


def _key(node: ast.Attribute | ast.Subscript) -> str:
    return node.attr if isinstance(node, ast.Attribute) else str(literal(node.slice)[1])


def _named(text: str, values: frozenset[object]) -> str:
    """The strategy that an expression names, with what it is where it names none."""
    if not values & STRATEGIES:
        return ""
    hardware = [value for value in ("cpu", *sorted(BY_GPUS)) if value in values]
    if not hardware:
        return f'{text} or "auto"' if None in values else text
    names = ", ".join(["None"] * (None in values) + [f'"{value}"' for value in hardware])
    test = f"{text} in ({names})" if "," in names else f"{text} == {names}"
    return f'"auto" if {test} else {text}'


def _all_without(facts: Facts, asked: Devices, kinds: frozenset[object], parts: Divided | None) -> Divided | None:
    """The parts, with what they take for granted where "gpu" may stand beside no GPUs."""
    if not parts or parts.doubt or asked.accelerator in ("cpu", "gpu") or not kinds & {"gpu", "cuda"}:
        return parts
    return replace(parts, doubt=ALL) if _may_be_later(facts, parts.strategy) else parts


def _values(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> frozenset[object]:
    """All that a variable, or a part of a configuration, may be; none where that is not known."""
    if isinstance(node, ast.Name):
        return frozenset(bound_names(facts, file, call, node))
    if not isinstance(node, ast.Attribute | ast.Subscript) or not is_repeatable(node):
        return frozenset()
    values = configured_values(facts, file, call, node)
    return frozenset(values) if all(value is None or isinstance(value, str) for value in values) else frozenset()


def _choice(
    file: PythonFile, facts: Facts, node: ast.IfExp, kinds: frozenset[object], gpus: ast.expr, asked: Devices
) -> Divided | None:
    if not kinds & (BY_GPUS | ON_CPU) or not kinds <= BY_GPUS | ON_CPU | STRATEGIES | {None}:
        return None
    strategy = ""
    if kinds & (STRATEGIES | {"ddp_cpu"}):
        strategy = (named(file, facts, _without_hardware(node)).text or "").replace("ddp_cpu", "ddp_spawn")
    sides = [{literal(arm)[1] for arm in arms_of(side)} for side in (node.body, node.orelse)]
    if not kinds & ON_CPU:
        return Divided(strategy, asked)
    if (
        "\n" in file.source_of(node)
        or not any(side <= ON_CPU for side in sides)
        or all(side & ON_CPU for side in sides)
    ):
        return None
    return _sometimes_on_cpu(file, facts, node, sides[0] <= ON_CPU, gpus, asked, strategy)


def _sometimes_on_cpu(
    file: PythonFile, facts: Facts, node: ast.IfExp, first: bool, gpus: ast.expr, asked: Devices, strategy: str
) -> Divided | None:
    """A choice of which one side is the CPU: as `gpus=` says by itself, or on a condition."""
    text, test = file.source_of(gpus), part_of_choice(file, node.test)
    other = negated(node.test) if first else node.test
    told = follows(text, other) if asked.accelerator == f'"gpu" if {text} else "cpu"' else None
    if told == "test":
        return Divided(strategy, asked)
    if told == "value" and asked.devices and asked.devices.endswith(" or 1"):
        if first:
            made = replace(asked, accelerator=f'"cpu" if {test} else "gpu"', devices=f"1 if {test} else {text}")
        else:
            made = replace(asked, accelerator=f'"gpu" if {test} else "cpu"', devices=f"{text} if {test} else 1")
        return Divided(strategy, made)
    return _forced(file, facts, gpus, asked, strategy, test if first else f"not {_bracketed(file, node.test)}")


def _bracketed(file: PythonFile, test: ast.expr) -> str:
    text = file.source_of(test)
    return text if isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"


def _forced(
    file: PythonFile, facts: Facts, gpus: ast.expr, asked: Devices, strategy: str, on_cpu: str
) -> Divided | None:
    """What is asked for where a condition, if there is one, takes the CPU whatever `gpus=` is."""
    if not on_cpu or asked.accelerator == "cpu":
        return Divided(strategy, asked)
    devices = asked.devices if asked.devices is not None else file.source_of(gpus)
    kind = f'"{asked.accelerator}"' if asked.accelerator in ("cpu", "gpu") else asked.accelerator
    if "\n" in devices:
        return None
    made = replace(asked, accelerator=f'"cpu" if {on_cpu} else {kind}', devices=f"1 if {on_cpu} else {devices}")
    return Divided(strategy, made, ASSUMED if _may_be_later(facts, strategy) else "")


def _may_be_later(facts: Facts, strategy: str) -> bool:
    """Whether the pins admit a release from 1.6 on that takes such an accelerator."""
    return is_open(facts, LIGHTNING) or admits_from(facts, LIGHTNING, SINCE, NO_STRATEGY if strategy else "2.0.0")


def _without_hardware(node: ast.expr) -> ast.expr:
    """A choice with None in the place of what is no strategy."""
    if isinstance(node, ast.IfExp):
        made = ast.IfExp(node.test, _without_hardware(node.body), _without_hardware(node.orelse))
        return ast.copy_location(made, node)
    value = literal(node)[1]
    gone = value in BY_GPUS or value == "cpu"
    return ast.copy_location(ast.Constant(None), node) if gone else node
