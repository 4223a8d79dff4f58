"""How a LightningModule is optimized: by Lightning, or by hand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import self_name
from codemods.lightning.attribute_stores import is_stored
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.flag_values import FLAG as FLAG
from codemods.lightning.flag_values import (
    MAYBE,
    OFF,
    ON,
    SAME,
    THEN,
    UNSURE,
    Values,
    called_in,
    opposite,
    owners_set,
    says,
    set_by,
)
from codemods.lightning.flags import STEP
from codemods.lightning.flags import FlagSummary as FlagSummary
from codemods.lightning.flags import told as told

Optimization = Literal["automatic", "manual", "unknown"]
Chain = Sequence[FlagSummary | None]
CHAINS = 1000
"""So many chains of classes are remembered: many rules ask of each."""
_DEEP = 8
BEGINNING = ("setup", "configure_sharded_model", "configure_model", "on_fit_start")
"""The hooks that Lightning calls in front of a training, in this order."""


@dataclass(frozen=True)
class Answer:
    """How a class is optimized, whether anything of it or above it speaks of that, and whether it switches automatic
    optimization off in front of `super().__init__()`, which switches it on again. `begun` is how it is optimized once
    a training has begun, where a hook that comes before says that alone."""

    kind: Optimization
    said: bool = False
    lost: bool = False
    begun: Optimization = "unknown"


def answer_of(facts: Facts, fact: ClassFact, told_of: Callable[[ClassFact], FlagSummary | None]) -> Answer:
    """What a class and its bases say together, where `told_of` gives what each says."""
    line = facts.lineage(fact)
    chain = [
        (told_of(item) or FlagSummary(methods=item.methods)) if isinstance(item, ClassFact) else None for item in line
    ]
    if MODULE in line:
        # What is behind Lightning's own class is hidden by it, and Lightning calls no constructor of it.
        end = line.index(MODULE)
        if any(item is not None and item.says for item in chain[end:]):
            return Answer("unknown", True)
        chain = [*chain[:end], *(item and replace(item, built=None) for item in chain[end:])]
    several = any(isinstance(item, ClassFact) and len(item.bases) > 1 for item in line)
    if several and any(item is not None and "base" in item.calls for item in chain):
        chain = [item and replace(item, calls=frozenset({"other"})) for item in chain]
    found = answer(chain)
    step = next((item for item in chain if item is None or STEP in item.methods), None)
    later = any(says(values) for item in chain if item is not None for _, values in item.setters)
    if found.kind == "unknown" and step is not None and step.by_hand and not later:
        return replace(found, kind="manual", begun="manual")
    constants = {name for item in chain if item is not None for name in item.constants}
    shared = found.said and any(is_stored(facts, facts.open, name) for name in sorted(constants))
    given = found.kind == "automatic" and _is_given(facts)
    return replace(found, kind="unknown", begun="unknown") if shared or given else found


def _is_given(facts: Facts) -> bool:
    """Whether a Trainer of 1.0 to 1.2 is told to leave optimization to its modules, as any of them may have been
    trained then."""
    given = (item for trainer in facts.trainers for item in trainer.arguments if item.name == FLAG)
    return any(not item.literal or item.value is not True for item in given)


def answer(chain: Chain) -> Answer:
    """What a class and its bases, in the order in which Python looks through them, say together."""
    return _answer(tuple(chain))


@lru_cache(maxsize=CHAINS)
def _answer(chain: tuple[FlagSummary | None, ...]) -> Answer:
    if not any(item is not None and item.says for item in chain):
        return Answer("automatic", any(item is not None and item.asks for item in chain))
    level = next((item for item in chain if item is not None and item.body is not None), None)
    if level is not None and level.body is not None and level.fixed:
        return Answer(_kind(level.body), True)
    hidden = level is not None and any(item is not None and (item.private or item.before) for item in chain)
    if hidden or any(item is not None and "other" in item.calls for item in chain):
        return Answer("unknown", True)
    start = level.body if level is not None and level.body is not None else frozenset({ON})
    found = _built(chain, 0, {}, False, start, first=True)
    kind = _kind(found.union(*(_after(chain, values, found) for values in _later(chain))))
    lost = kind == "automatic" and any(item is not None and OFF in item.before for item in chain)
    return Answer(kind, True, lost, _kind(_begun(chain, found)))


def _begun(chain: Chain, found: Values) -> Values:
    """What the flag is in a training, where the hooks in front of it have run."""
    for hook in BEGINNING:
        owner = next((item for item in chain if item is None or hook in item.methods), None)
        unseen = owner is None and any(item is not None and hook in item.methods for item in chain)
        setter = UNSURE if unseen else dict(owner.setters).get(hook) if owner else None
        found = _after(chain, setter, found) if setter else found
    others = [
        replace(item, setters=tuple(pair for pair in item.setters if pair[0] not in BEGINNING)) if item else None
        for item in chain
    ]
    return found.union(*(_after(chain, values, found) for values in _later(others)))


def _later(chain: Chain) -> Iterator[Values]:
    """What the methods that may run after the constructors make of the flag. Those of which another takes the place do
    not run, but where that one was not read it may call them."""
    hidden, unread = set[str](), set[str]()
    for item in chain:
        for name, values in item.setters if item is not None else ():
            if name not in hidden:
                yield values
            elif name in unread and says(values):
                yield UNSURE
        if item is not None:
            hidden |= item.methods
            unread |= set() if item.read else item.methods


def _kind(values: Values) -> Optimization:
    return "automatic" if values == {ON} else "manual" if values == {OFF} else "unknown"


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
            values = given.get(first[1:], UNSURE)
            values = frozenset(map(opposite, values)) if first[0] == "!" else values
        made |= {f"{each}{mark}{rest}" for each in values}
    return frozenset(made)


def _after(chain: Chain, found: Values, before: Values, depth: int = 0) -> Values:
    """Values with what was before, and what methods make of them, in their places."""
    made: set[str] = set()
    for value in found:
        first, *called = value.split(THEN)
        now = before if first == SAME else frozenset({first}) if first in (ON, OFF) else UNSURE
        for name in called:
            if name.startswith(MAYBE):
                now = UNSURE if _may_set(chain, name[1:], frozenset()) else now
                continue
            index = next((place for place, item in enumerate(chain) if item is not None and name in item.methods), None)
            item = chain[index] if index is not None else None
            setter = dict(item.setters).get(name) if item else None
            if setter:
                now = _after(chain, setter, now, depth + 1) if depth < _DEEP else UNSURE
            elif item is not None and not item.read and _may_set(chain, name, frozenset()):
                now = UNSURE
        made |= now
    return frozenset(made)


def _may_set(chain: Chain, name: str, seen: frozenset[str]) -> bool:
    """Whether a method of that name of any of the classes sets the flag, or calls one that does."""
    every = [values for item in chain if item is not None for known, values in item.setters if known == name]
    if any(map(says, every)):
        return True
    names = {called for values in every for called in called_in(values)} - {name, *seen}
    return any(_may_set(chain, called, seen | {name}) for called in names)


def optimization(facts: Facts, file: PythonFile, fact: ClassFact) -> Optimization:
    """How a class is optimized. The classes of `file` are taken as they are there, which may be newer than the
    facts."""
    found = answer_of(facts, fact, lambda member: _told_in(facts, file, member))
    return "unknown" if set_elsewhere(facts, file) else found.kind


def _told_in(facts: Facts, file: PythonFile, member: ClassFact) -> FlagSummary | None:
    home = file if member.path == file.path else facts.open(member.path)
    item = next((each for each in home.classes if each.qualname == member.name), None) if home else None
    return told(home, item) if home and item else None


def said_by(file: PythonFile, item: ClassNode) -> Optimization | None:
    """What a class says by itself; None where it is silent."""
    found = told(file, item)
    return answer([found]).kind if found and found.says else None


def set_elsewhere(facts: Facts, file: PythonFile | None = None) -> bool:
    """Whether anything in the project sets the flag otherwise than a class by itself; `file` may be newer than the
    facts."""
    known = facts.trees.memo
    if "flag.holders" not in known:
        code = [path for path, each in sorted(facts.sources.items()) if each.kind in ("python", "notebook")]
        opened = {path: facts.open(path) for path in code if FLAG.encode() in facts.sources[path].data}
        known["flag.holders"] = {path for path, held in opened.items() if held is None or set_from_outside(held)}
    holders: set[str] = known["flag.holders"]
    return bool(holders - {file.path if file else ""}) or (file is not None and bool(set_from_outside(file)))


def set_from_outside(file: PythonFile) -> list[ast.AST]:
    """The places where a file sets the flag on something else than the instance of a method, and other than a class in
    the statements of the module, or may."""
    if FLAG not in file.text:
        return []
    if "flag.outside" not in file.memo:
        known = {id(place) for place in _set_by_classes(file)}
        file.memo["flag.outside"] = [place for _, place in owners_set(file.tree) if id(place) not in known]
    found: list[ast.AST] = file.memo["flag.outside"]
    return found


def _set_by_classes(file: PythonFile) -> Iterator[ast.AST]:
    """The places that are read with the classes of a file."""
    names = {item.qualname for item in file.classes}
    for node in file.tree.body:
        if any(isinstance(owner, ast.Name) and owner.id in names for owner, _ in set_by(node)):
            yield from (place for owner, place in owners_set(node) if getattr(owner, "id", "") in names)
    for item in file.classes:
        for method in item.methods.values():
            this = self_name(method)
            for owner, place in owners_set(method):
                if isinstance(owner, ast.Name) and owner.id == this:
                    yield place
