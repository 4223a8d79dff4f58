"""How a LightningModule is optimized: by Lightning, or by hand."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import self_name
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.flags import FLAG as FLAG
from codemods.lightning.flags import OFF, ON, SAME, THEN, UNKNOWN, Values, opposite
from codemods.lightning.flags import Told as Told
from codemods.lightning.flags import told as told

Optimization = Literal["automatic", "manual", "unknown"]
Chain = Sequence[Told | None]
_DEEP = 8


@dataclass(frozen=True)
class Answer:
    """How a class is optimized, whether anything of it or above it says so, and whether it switches automatic
    optimization off in front of `super().__init__()`, which switches it on again."""

    kind: Optimization
    said: bool = False
    lost: bool = False


def answer(chain: Chain) -> Answer:
    """What a class and its bases, nearest first, say together."""
    said = any(item is not None and item.says for item in chain)
    level = next((item for item in chain if item is not None and item.body is not None), None)
    if level is not None and level.body is not None and level.fixed:
        return Answer(_kind(level.body), True)
    start = level.body if level is not None and level.body is not None else frozenset({ON})
    found = _built(chain, 0, {}, False, start, first=True)
    called = _called(chain)
    later = [values for item in chain if item is not None for name, values in item.setters if name not in called]
    kind = _kind(_after(chain, found.union(*later), found))
    lost = kind == "automatic" and any(item is not None and OFF in item.before for item in chain)
    return Answer(kind, said, lost)


def _kind(values: Values) -> Optimization:
    return "automatic" if values == {ON} else "manual" if values == {OFF} else "unknown"


def _called(chain: Chain) -> set[str]:
    """The methods that the constructors call."""
    built = (value for item in chain if item is not None for value in item.built or ())
    return {name for value in built for name in value.split(THEN)[1:]}


def _built(
    chain: Chain, index: int, given: Mapping[str | int, Values], unseen: bool, start: Values, first: bool = False
) -> Values:
    """What the constructors from one class up leave, where that gets some arguments; what the first of all gets is not
    seen."""
    if index >= len(chain):
        return start
    item = chain[index]
    if item is None or item.built is None:
        return _built(chain, index + 1, given, unseen, start, first)
    values = dict(item.defaults)
    for place, name in enumerate(item.parameters):
        if place in given:
            values[name] = given[place]
    values |= {str(name): value for name, value in given.items() if isinstance(name, str)}
    if unseen or first:
        values = {name: value for name, value in values.items() if name in given}
    above = {name: _filled(found, values) for name, found in item.handed}
    below = _built(chain, index + 1, above, item.open, start)
    return _after(chain, _filled(item.built, values), below)


def _filled(found: Values, given: Mapping[str, Values]) -> Values:
    """Values with those of parameters in their places."""
    made: set[str] = set()
    for value in found:
        first, mark, rest = value.partition(THEN)
        values: Values = frozenset({first})
        if first[:1] in ("=", "!"):
            values = given.get(first[1:], frozenset({UNKNOWN}))
            values = frozenset(map(opposite, values)) if first[0] == "!" else values
        made |= {f"{each}{mark}{rest}" for each in values}
    return frozenset(made)


def _after(chain: Chain, found: Values, before: Values, depth: int = 0) -> Values:
    """Values with what was before, and what methods make of them, in their places."""
    made: set[str] = set()
    for value in found:
        first, *called = value.split(THEN)
        now = before if first == SAME else frozenset({first if first in (ON, OFF) else UNKNOWN})
        for name in called:
            owner = next((item for item in chain if item is not None and name in item.methods), None)
            setter = dict(owner.setters).get(name) if owner else None
            if setter:
                now = _after(chain, setter, now, depth + 1) if depth < _DEEP else frozenset({UNKNOWN})
        made |= now
    return frozenset(made)


def optimization(facts: Facts, file: PythonFile, fact: ClassFact) -> Optimization:
    """How a class is optimized. The classes of `file` are taken as they are there, which may be newer than the
    facts."""
    found = answer([_told_in(facts, file, member) for member in facts.ancestry(fact) or (fact,)])
    return "unknown" if set_from_outside(file) or set_elsewhere(facts, file.path) else found.kind


def set_elsewhere(facts: Facts, path: str = "") -> bool:
    """Whether another file than one sets the flag on what it holds."""
    if "flag.holders" not in facts.memo:
        opened = {path: facts.open(path) for path in sorted(facts.sources) if FLAG.encode() in facts.sources[path].data}
        facts.memo["flag.holders"] = {path for path, held in opened.items() if held and set_from_outside(held)}
    holders: set[str] = facts.memo["flag.holders"]
    return bool(holders - {path})


def _told_in(facts: Facts, file: PythonFile, member: ClassFact) -> Told | None:
    home = file if member.path == file.path else facts.open(member.path)
    item = next((each for each in home.classes if each.qualname == member.name), None) if home else None
    return told(home, item) if home and item else None


def said_by(file: PythonFile, item: ClassNode) -> Optimization | None:
    """What a class says by itself; None where it is silent."""
    found = told(file, item)
    return answer([found]).kind if found and found.says else None


def set_from_outside(file: PythonFile) -> bool:
    """Whether a file sets the flag on something else than the `self` of a method, or a class of its own."""
    if FLAG not in file.text:
        return False
    stored = [node for node in file.attributes(FLAG) if not isinstance(node.ctx, ast.Load)]
    own = {item.qualname for item in file.classes}
    within = {
        id(node)
        for item in file.classes
        for method in (*item.methods.values(),)
        for node in (ast.walk(method) if stored else ())
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == self_name(method)
    }
    return any(id(node) not in within and ast.unparse(node.value) not in own for node in stored)
