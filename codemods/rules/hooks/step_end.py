"""Hooks that 1.x gave the result of a step, and how the step can call them itself."""

from __future__ import annotations

import ast
import re

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_plain, may_return_none, mentions, parameters, results, self_name
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.family import asked_of_another, family, short_name
from codemods.rules.hooks.epoch_end import Stage, plain_step
from codemods.rules.tbptt.module import sets_flag


def spellings(name: str) -> tuple[bytes, ...]:
    """How another file can speak of a method without defining it."""
    return (f".{name}".encode(), f'"{name}"'.encode(), f"'{name}'".encode())


def used_elsewhere(facts: Facts, fact: ClassFact, names: tuple[str, ...]) -> str | None:
    """A method of some names that another file, which names the class, speaks of, as the middle of a sentence."""
    naming = facts.mentions.get(short_name(fact).encode(), frozenset()) - {fact.path}
    for name in names:
        for text in spellings(name):
            callers = naming & facts.mentions.get(text, frozenset())
            if callers:
                return f"{name} is used by name in {min(callers)}"
    return None


def named_lines(file: PythonFile, name: str) -> list[int]:
    """The lines of a file that speak of a method without defining it."""
    if name not in file.text:
        return []
    return [*(node.lineno for node in file.attributes(name)), *mentions(file.tree, name)]


def always_gives(item: ClassNode, stage: Stage) -> bool:
    """Whether the class's own `*_step_end` is a plain method of what it is given that never returns None; 1.x kept
    the step's own result in place of None."""
    method = item.methods.get(stage.step_end)
    return (
        method is not None
        and is_plain(method)
        and len(parameters(method)) == 1
        and not may_return_none(method)
        and not any(isinstance(value, ast.IfExp) for value in results(method))
    )


def shown_ends(file: PythonFile, stages: tuple[Stage, ...]) -> frozenset[str]:
    """The `Class.step_end` of a file that give something whatever happens."""
    return frozenset(
        f"{item.qualname}.{stage.step_end}" for item in file.classes for stage in stages if always_gives(item, stage)
    )


PRECISION = (b"precision=", b"precision:", b"--precision")
"""How a project speaks of a Trainer's precision."""
_OPTION = b"--precision"
_SPOKEN = re.compile(rb"\bprecision[\"']?[ \t]*[=:]([^,)#\r\n]*)")
_FULL = re.compile(rb"[\s\"'=]*(?:(?:32|64)(?:-true)?|None|null|~|)[\s\"'}]*")


def own_refusal(file: PythonFile, item: ClassNode, stage: Stage) -> str | None:
    """Why the class's own step cannot call its own `*_step_end` at each `return`, going by its file alone."""
    step = plain_step(item, stage)
    if step is None or self_name(step) != "self":
        return f"the class has no plain {stage.step} of its own that could call {stage.step_end}"
    if not always_gives(item, stage):
        return f"{stage.step_end} may return None, for which 1.x kept what {stage.step} had returned"
    if stage.train and (sets_flag(item) or "hiddens" in parameters(step)):
        return f"{stage.step} hands hidden states on, which {stage.step_end} got too"
    if may_return_none(step):
        return f"{stage.step} may return None, with which {stage.step_end} would be called"
    for name in (stage.step, stage.step_end):
        lines = named_lines(file, name)
        if lines:
            return f"{name} is used by name in line {min(lines)}"
    return None


def mixed(facts: Facts) -> str | None:
    """A file that speaks of another precision than the full one, in which a step runs inside autocast; those of
    services, whose names begin with a dot, are about no training."""
    if "hooks.mixed" not in facts.memo:
        spoken = {path for word in PRECISION for path in facts.mentions.get(word, frozenset())}
        facts.memo["hooks.mixed"] = next(
            (path for path in sorted(spoken) if not path.startswith(".") and _is_mixed(facts.sources[path].unescaped)),
            None,
        )
    found: str | None = facts.memo["hooks.mixed"]
    return found


def _is_mixed(data: bytes) -> bool:
    return _OPTION in data or any(not _FULL.fullmatch(value) for value in _SPOKEN.findall(data))


def family_refusal(facts: Facts, fact: ClassFact, stage: Stage, given: frozenset[tuple[str, str]]) -> str | None:
    """Why a class's relatives forbid that its step calls `*_step_end`. `given` are the (path, `Class.step_end`) that
    never give None."""
    above = facts.ancestry(fact)[1:]
    for other in family(facts, fact):
        if stage.step_end in other.methods and (other.path, f"{other.name}.{stage.step_end}") not in given:
            return f"{stage.step_end} of {other.name} ({other.path}), a relative of the class, may return None"
        if stage.step in other.methods and stage.step_end not in other.methods and other not in above:
            return f"{other.name} ({other.path}), a relative of the class, has a {stage.step} without {stage.step_end}"
    told = (asked_of_another(facts, fact, name) for name in (stage.step, stage.step_end))
    return used_elsewhere(facts, fact, (stage.step, stage.step_end)) or next(filter(None, told), None)
