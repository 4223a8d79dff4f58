"""Hooks that 1.x gave the result of a step, and how the step can call them itself."""

from __future__ import annotations

import ast
import re

from codemods.code.calls import last_name
from codemods.code.nodes import walk
from codemods.code.reaching import definitions
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    is_bound,
    is_plain,
    may_return_none,
    mentions,
    parameters,
    results,
    root_name,
    self_name,
    taken_name,
)
from codemods.lightning.class_family import asked_of_another, family, naming_files
from codemods.lightning.facts import ClassFact, Facts
from codemods.rules.hooks.epoch_end import Stage, plain_step, without_gradients
from codemods.rules.tbptt.module import sets_flag


def spellings(name: str) -> tuple[bytes, ...]:
    """How another file can speak of a method without defining it."""
    return (f".{name}".encode(), f'"{name}"'.encode(), f"'{name}'".encode())


def used_elsewhere(facts: Facts, fact: ClassFact, names: tuple[str, ...]) -> str | None:
    """A method of some names that another file, which names the class, speaks of, as the middle of a sentence."""
    naming = naming_files(facts, fact) - {fact.path}
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
    return method is not None and _is_taking(item, method) and not may_return_none(method)


def _is_taking(item: ClassNode, method: Function) -> bool:
    """Whether a `*_step_end` is a plain method of what it is given, of which each end is a value or plainly none."""
    plain = is_plain(method, named=True, decorated=True, starred=True) and len(parameters(method)) == 1
    plain = plain and all(without_gradients(item, node) for node in method.decorator_list)
    return plain and not any(isinstance(value, ast.IfExp) for value in results(method))


def lacking(item: ClassNode, stage: Stage) -> str | None:
    """The parameter of the class's own `*_step_end` that has to be given back where it ends without a value, as 1.x
    did; None where there is no such end, or none that is plain."""
    method = item.methods.get(stage.step_end)
    if method is None or not _is_taking(item, method) or not may_return_none(method):
        return None
    name = parameters(method)[0]
    bound = any(isinstance(node, ast.Name) and node.id == name and is_bound(node) for node in walk(method))
    return None if bound or definitions(method, name) else name


def shown_ends(file: PythonFile, stages: tuple[Stage, ...]) -> frozenset[str]:
    """The `Class.step_end` of a file that give something whatever happens."""
    return frozenset(
        f"{item.qualname}.{stage.step_end}" for item in file.classes for stage in stages if always_gives(item, stage)
    )


PRECISION = (b"precision=", b"precision:", b"--precision")
"""How a project speaks of a Trainer's precision."""
_OPTION = b"--precision"
_SPOKEN = re.compile(rb"\bprecision[\"']?[ \t]*[=:]([^,)#\r\n]*)")
PARALLEL = (b"dp", b"DataParallel")
"""How a project may speak of DataParallel, which Lightning 2 does not have."""
_COPIES = re.compile(
    rb"(?:strategy|accelerator|backend)[^\r\n]{0,60}[\"'=: ]d(?:p|dp2)\b|\b(?:DataParallel|DDP2)(?:Strategy|Plugin)\b"
)
TORCH = (("torch", None),)
_NEUTRAL = frozenset({"log", "log_dict", "item", "detach", "cpu", "get", "items", "keys", "values"})
"""Methods that do the same in autocast and outside of it."""
_THROUGH = frozenset({"sum", "len", "min", "max", "list", "tuple", "zip", "enumerate", "stack", "cat", "concat"})
"""Functions that go through what they are given."""
_FULL = re.compile(rb"[\s\"'=]*(?:(?:32|64)(?:-true)?|None|null|~|)[\s\"'}]*")


def own_refusal(file: PythonFile, item: ClassNode, stage: Stage) -> str | None:
    """Why the class's own step cannot call its own `*_step_end` at each `return`, going by its file alone."""
    step = plain_step(item, stage, starred=True)
    if step is None or self_name(step) != "self":
        return f"the class has no simple {stage.step} of its own that could call {stage.step_end}"
    if not always_gives(item, stage) and lacking(item, stage) is None:
        return f"{stage.step_end} may return None, for which 1.x kept what {stage.step} had returned"
    if stage.train and (sets_flag(item) or "hiddens" in parameters(step)):
        return f"{stage.step} passes hidden states on, which {stage.step_end} got too"
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


def copied(facts: Facts) -> str | None:
    """A file that names DataParallel, which split each batch and gave a `*_step_end` what all copies returned."""
    if "hooks.copied" not in facts.memo:
        spoken = {path for word in PARALLEL for path in facts.mentions.get(word, frozenset())}
        told = (path for path in sorted(spoken) if _COPIES.search(facts.sources[path].unescaped))
        facts.memo["hooks.copied"] = next(told, None)
    found: str | None = facts.memo["hooks.copied"]
    return found


def doubt(file: PythonFile, facts: Facts, item: ClassNode, stage: Stage) -> str:
    """What may differ where a step calls its class's own `*_step_end`, as a further sentence."""
    method = item.methods[stage.step_end]
    settled = is_indifferent(method) or is_outside(method) or leaves_autocast(file, facts, item, stage)
    if settled or not (where := mixed(facts)):
        return ""
    return f" {where} sets a precision: {stage.step_end} runs in the autocast region of its step."


def alone(facts: Facts, stage: Stage) -> str:
    """What a `*_step_end` gets by now where the project names DataParallel, as a further sentence: what it got under
    every other strategy, and 2.x has no Trainer with that one."""
    where = copied(facts)
    told = f" {where} names DataParallel, which is gone: {stage.step_end} gets what one device returns, as otherwise."
    return told if where else ""


def leaves_autocast(file: PythonFile, facts: Facts, item: ClassNode, stage: Stage) -> bool:
    """Whether the class's own `*_step_end` has to leave autocast for what it does, since 1.x called it behind the
    region of its step, and can."""
    method = item.methods.get(stage.step_end)
    if method is None or not self_name(method) or mixed(facts) is None or is_indifferent(method) or is_outside(method):
        return False
    return taken_name(file.scope.bindings, TORCH) is None


def is_outside(method: Function) -> bool:
    """Whether all that a method does stands in a `with torch.autocast(..., enabled=False)`."""
    body = method.body[1:] if ast.get_docstring(method) is not None else method.body
    if len(body) != 1 or not isinstance(body[0], ast.With) or len(body[0].items) != 1:
        return False
    call = body[0].items[0].context_expr
    named = isinstance(call, ast.Call) and ast.unparse(call.func) == "torch.autocast"
    return named and any(
        item.arg == "enabled" and isinstance(item.value, ast.Constant) and item.value.value is False
        for item in call.keywords  # type: ignore[attr-defined]
    )


def is_indifferent(method: Function) -> bool:
    """Whether a `*_step_end` gives the same in autocast and outside of it, and for one device: it hands values on, adds
    and scales them, logs them, and takes their means."""
    return all(map(_is_indifferent, (node for statement in method.body for node in ast.walk(statement))))


def _is_indifferent(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="mean"), args=[], keywords=[]) | ast.Call(func=ast.Name(id="print")):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _NEUTRAL
        case ast.BinOp(op=ast.Div(), left=left):
            return not isinstance(left, ast.Constant)
        case ast.BinOp(op=sign) | ast.AugAssign(op=sign):
            return isinstance(sign, ast.Add | ast.Sub | ast.Mult)
    return not isinstance(node, ast.Call | ast.For | ast.While | ast.comprehension)


def joined(facts: Facts, item: ClassNode, stage: Stage) -> str | None:
    """Why a step must not call a `*_step_end` that joins what the copies of DataParallel returned."""
    method = item.methods.get(stage.step_end)
    names = parameters(method) if method else []
    if not method or not names or not copied(facts):
        return None
    for node in walk(method):
        gone_through = []
        if isinstance(node, ast.For | ast.comprehension):
            gone_through = [node.iter]
        elif isinstance(node, ast.Call) and last_name(node.func) in _THROUGH:
            gone_through = node.args
        for each in gone_through:
            if root_name(each) == names[0]:
                parts = f"`{ast.unparse(each)}` is what one device returns, and has no parts"
                told = (
                    f"{stage.step_end} joins what the copies of DataParallel "
                    f"returned, which Lightning 2.0 removed: {parts}"
                )
                return f"{told}; move the rest of its code into {stage.step}"
    return None


def family_refusal(facts: Facts, fact: ClassFact, stage: Stage, given: frozenset[tuple[str, str]]) -> str | None:
    """Why a class's relatives forbid that its step calls `*_step_end`. `given` are the (path, `Class.step_end`) that
    never give None."""
    above = facts.ancestry(fact)[1:]
    for other in family(facts, fact):
        if stage.step_end in other.methods and (other.path, f"{other.name}.{stage.step_end}") not in given:
            return f"{stage.step_end} of {other.name} ({other.path}), a base class or subclass, may return None"
        if stage.step in other.methods and stage.step_end not in other.methods and other not in above:
            return f"{other.name} ({other.path}), a base class or subclass, has a {stage.step} without {stage.step_end}"
    told = (asked_of_another(facts, fact, name) for name in (stage.step, stage.step_end))
    return used_elsewhere(facts, fact, (stage.step, stage.step_end)) or next(filter(None, told), None)
