"""Every Trainer, callback or logger of Lightning's that a file builds, with the arguments that reach it and the places
where they are written."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from codemods.code.calls import keyword, last_name
from codemods.code.expressions import PARTIAL
from codemods.code.literals import literal
from codemods.code.names import Names
from codemods.code.nodes import walk
from codemods.code.reaching import definitions, reaching
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import AssignNode, CallNode, PythonFile, Source
from codemods.code.syntax import Function, own_nodes, returns, takes
from codemods.code.tree_copies import at, changed
from codemods.lightning.built_objects import (
    HIDDEN,
    SEEN_WHOLE,
    BuiltObject,
    FileLook,
    ReachingArgument,
    constants_of_key,
    possible,
)
from codemods.lightning.facts import TRAINER, ClassFact, Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.lightning.key_values import is_read_here
from codemods.lightning.keyword_flow import UNSEEN, HandedKeyword, handed
from codemods.lightning.lightning_cli import DEFAULTS, is_cli_call
from codemods.lightning.trainer_subclasses import called, hands_on, kind_above, replaced_below
from codemods.lightning.values import Constants
from codemods.lightning.wanted import WantedClasses


def built(file: PythonFile, facts: Facts, wanted: WantedClasses) -> list[BuiltObject]:
    """What a file builds of the classes of Lightning's that are looked for."""
    known = makers(facts, wanted)
    words = {word for name in wanted.names for word in file.spellings(name)} | known
    words |= {"cls"} if "@classmethod" in file.text else set()
    at_ = FileLook(file, facts, wanted)
    calls = file.calls_near(words & file.words) if words else []
    defaults = file.calls_near([DEFAULTS]) if wanted.is_one(TRAINER) else []
    found = (*(_built(at_, call, words) for call in calls), *(_of_cli(at_, call) for call in defaults))
    return [one for one in found if one]


def _of_cli(at_: FileLook, call: CallNode) -> BuiltObject | None:
    """The Trainer that LightningCLI builds of its `trainer_defaults`."""
    given = keyword(call.node, DEFAULTS)
    if given is None or not is_cli_call(at_.file, at_.facts, call):
        return None
    spread = at(ast.keyword(None, given.value), given)
    one = _direct(at_, call._replace(node=changed(call.node, args=[], keywords=[spread])), TRAINER)
    return replace(one, how=f"`{DEFAULTS}` of LightningCLI", inside=given.value)


def _built(at_: FileLook, call: CallNode, words: Collection[str]) -> BuiltObject | None:
    file, facts = at_.file, at_.facts
    function = call.node.func
    if kind := at_.kind_of(file, call, function):
        return _direct(at_, call, kind)
    if partial := _partial_of(at_, call):
        return _with(at_, call, partial, "a partial")
    if kind := _alias_of(at_, call):
        return _by_another_name(_direct(at_, call, kind), f"`{last_name(function)}`, another name of it")
    if last_name(function) not in words:
        return None
    dotted = called(file, call)
    if dotted is None or (isinstance(function, ast.Attribute) and function.attr == "__init__"):
        return None
    fact = facts.find_class(dotted, file.path)
    if fact is not None:
        return _of_own(at_, call, fact, dotted)
    if (taken := facts.taken(dotted, file.path)) and taken.sure and at_.wanted.is_one(taken.name):
        return _by_another_name(_direct(at_, call, taken.name), f"`{dotted}`, which names it")
    if kind := _partial_of_another(at_, dotted):
        how, fixed = f"`{dotted}`, a partial", "the partial may be given other arguments elsewhere"
        return replace(_direct(at_, call, kind), how=how, fixed=fixed)
    return _of_factory(at_, call, dotted)


def _partial_of_another(at_: FileLook, dotted: str) -> str | None:
    """The class of Lightning's that a partial is of which a name of another module stands for."""
    module, _, name = dotted.rpartition(".")
    path = at_.facts.path_of(module, at_.file.path) if module and module != at_.file.module else None
    home = at_.facts.open(path) if path else None
    values = {item.node.value for item in home.assignments_to(name)} if home else set()
    made = (item for item in home.calls_near(["partial"]) if item.node in values) if home else ()
    return next((kind for item in made if (kind := _partial_kind(at_, item))), None)


def _by_another_name(one: BuiltObject, how: str) -> BuiltObject:
    return one if one.how else replace(one, how=how, whole=True)


def _of_own(at_: FileLook, call: CallNode, fact: ClassFact, dotted: str) -> BuiltObject | None:
    """What a class of the project below one of Lightning's hands on to that."""
    file, facts, is_one = at_.file, at_.facts, at_.wanted.is_one
    kind = kind_above(facts, fact, is_one)
    named = [item for item in call.node.keywords if item.arg]
    if kind == TRAINER:
        if not hands_on(facts, dotted, file.path, [str(item.arg) for item in named]):
            return None
    elif kind is None or not all(hands_on(facts, dotted, file.path, [str(item.arg)], is_one) for item in named):
        return None
    one = _direct(at_, call, kind)
    rest = one.rest
    if kind != TRAINER and any("__init__" in member.methods for member in facts.ancestry(fact)):
        rest = (*rest, at(ast.keyword(None, at(ast.Name(HIDDEN, ast.Load()), call.node)), call.node))
    how = f"`{fact.name}`, a {last_part(kind)} of this project"
    below = replaced_below(file, facts, call)
    fixed = f"{below}, a subclass, may be built there instead" if below else None
    return replace(one, rest=rest, how=how, own=dotted, whole=one.how is None, fixed=fixed)


def _alias_of(at_: FileLook, call: CallNode) -> str | None:
    """The class of Lightning's that all assignments that reach a called name give it."""
    function = call.node.func
    if not isinstance(function, ast.Name) or call.scope.resolve(function):
        return None
    spaces = [item for item in call.within if isinstance(item, Function)]
    for space in (*reversed(spaces), at_.file.tree):
        if takes(space, function.id):
            return None
        if definitions(space, function.id):
            inner = space is (spaces[-1] if spaces else at_.file.tree)
            found = reaching(space, function.id, function if inner else None, surely=True)
            kinds = {at_.kind_of(at_.file, call, item.value) if item.value else None for item in found}
            kind = kinds.pop() if len(kinds) == 1 else None
            return None if kind and re.search(_SHARED.format(function.id), at_.file.text, re.MULTILINE) else kind
    return None


def last_part(dotted: str) -> str:
    """The last name of a dotted one."""
    return dotted.rpartition(".")[2]


def _direct(at_: FileLook, call: CallNode, kind: str) -> BuiltObject:
    """What a call gives by its own keywords, and by `**` where all keys of that are seen."""
    rest: list[ast.expr | ast.keyword] = list(call.node.args)
    arguments = [_argument(at_, call, kind, item, call.node) for item in call.node.keywords if item.arg]
    spread = [item for item in call.node.keywords if item.arg is None]
    keys = handed(at_.file, at_.facts, call) if spread else ()
    names = [key.name for key in keys]
    given = {item.name for item in arguments}
    if not spread:
        return BuiltObject(call, kind, tuple(arguments), tuple(rest))
    known = UNSEEN not in names and len(names) == len(set(names)) and not given & set(names)
    if not keys or not known or any(key.value is None for key in keys):
        perhaps = tuple(possible(at_, call, kind, [key for key in keys if key.name not in given]))
        return BuiltObject(call, kind, tuple(arguments), (*rest, *spread), perhaps=perhaps)
    return BuiltObject(call, kind, (*arguments, *(_key(at_, call, kind, key) for key in keys)), tuple(rest), SEEN_WHOLE)


def _argument(at_: FileLook, call: CallNode, kind: str, item: ast.keyword, home: ast.Call) -> ReachingArgument:
    name = item.arg or ""
    return ReachingArgument(name, item.value, home, at_.constants(at_.file, call, kind, name, item.value))


def _key(at_: FileLook, call: CallNode, kind: str, key: HandedKeyword) -> ReachingArgument:
    value = key.value
    assert value is not None
    if is_read_here(at_.file, call, key):
        return ReachingArgument(key.name, value, key, at_.constants(at_.file, call, kind, key.name, value), key.always)
    known = tuple(constants_of_key(at_, call, kind, key, value))
    constants = Constants(known, "it is not read where the Trainer is built") if known else None
    return ReachingArgument(key.name, at(ast.Name(HIDDEN, ast.Load()), value), key, constants, key.always)


def _partial_of(at_: FileLook, call: CallNode) -> CallNode | None:
    """The `partial(Trainer, ...)` that alone a called name stands for, where nothing else is done with the name in the
    project."""
    file, function = at_.file, call.node.func
    if isinstance(function, ast.Call):
        made = (item for item in file.calls_near(["partial"]) if item.node is function and _partial_kind(at_, item))
        return next(made, None)
    if not isinstance(function, ast.Name):
        return None
    for item in file.assignments_to(function.id):
        target = item.node.targets[0] if isinstance(item.node, ast.Assign) and len(item.node.targets) == 1 else None
        if not isinstance(target, ast.Name) or not isinstance(item.node.value, ast.Call):
            continue
        one = next((other for other in file.calls_near(["partial"]) if other.node is item.node.value), None)
        if one and _partial_kind(at_, one) and _is_used_once(at_, item, function.id):
            return one
    return None


def _partial_kind(at_: FileLook, call: CallNode) -> str | None:
    """The class of Lightning's that a partial is of, where it gives nothing by position."""
    if call.scope.resolve(call.node.func) != PARTIAL or len(call.node.args) != 1:
        return None
    return at_.kind_of(at_.file, call, call.node.args[0])


def _is_used_once(at_: FileLook, made: AssignNode, name: str) -> bool:
    """Whether one assignment binds a name in the whole file, one place reads it, and no other file has it."""
    file = at_.file
    if "names" not in file.memo:
        file.memo["names"] = Names(file.tree)
    names: Names = file.memo["names"]
    alone = not names.open and names.stores[name] == 1 and names.reads[name] == 1
    if any(isinstance(item, Function) for item in made.within):
        return alone
    return alone and not made.within and not is_read_elsewhere(at_.facts, file, name)


def _with(at_: FileLook, call: CallNode, other: CallNode, how: str) -> BuiltObject | None:
    """The Trainer that gets what two calls give, of which the first wins."""
    kind = _partial_kind(at_, other)
    if kind is None:
        return None
    mine = _direct(at_, call, kind)
    given, theirs = {item.name for item in mine.arguments}, other.node.keywords
    more = [_argument(at_, other, kind, item, other.node) for item in theirs if item.arg and item.arg not in given]
    # What is overridden stays where it is, and what takes its place elsewhere would stand beside it.
    twice = given & {item.arg for item in theirs}
    own = [replace(item, home=None) if item.name in twice else item for item in mine.arguments]
    spread = [item for item in theirs if item.arg is None]
    return BuiltObject(call, kind, (*more, *own), (*spread, *mine.rest), how)


def _of_factory(at_: FileLook, call: CallNode, dotted: str) -> BuiltObject | None:
    """The Trainer that a function of the project builds of the keywords that it is given."""
    found = _factory(at_, dotted)
    if found is None or call.node.args or any(item.arg is None for item in call.node.keywords):
        return None
    home, function, inside, kind = found
    own = frozenset(item.arg for item in [*function.args.args, *function.args.kwonlyargs])
    arguments = [
        _argument(at_, call, kind, item, call.node) for item in call.node.keywords if item.arg and item.arg not in own
    ]
    for item in inside.node.keywords:
        if item.arg:
            constants = at_.constants(home, inside, kind, item.arg, item.value)
            value = item.value if literal(item.value)[0] else ast.Name(HIDDEN, ast.Load())
            arguments.append(ReachingArgument(item.arg, at(value, call.node), None, constants))
    return BuiltObject(call, kind, tuple(arguments), how=f"`{function.name}`, which passes its arguments on", taken=own)


def _factory(at_: FileLook, dotted: str) -> tuple[PythonFile, Function, CallNode, str] | None:
    """The function of a dotted name, the one call in it that builds a Trainer of the function's own `**`, and what that
    is of."""
    file, facts = at_.file, at_.facts
    module, _, name = dotted.rpartition(".")
    if module == file.module:
        nodes = [node for node in file.tree.body if isinstance(node, Function) and node.name == name]
        found = (file, nodes[0]) if len(nodes) == 1 else None
    else:
        opened = facts.find_definition(dotted, file.path)
        found = (opened[0], opened[1]) if opened and isinstance(opened[1], Function) else None
    if found is None:
        return None
    home, function = found
    rest = function.args.kwarg.arg if function.args.kwarg else None
    if rest is None or function.decorator_list or not isinstance(function, ast.FunctionDef):
        return None
    uses = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == rest]
    given = [node.value for node in returns(function)]
    words = {word for name in at_.wanted.names for word in home.spellings(name)}
    calls = [item for item in home.calls_near(words) if item.within[-1:] == (function,)]
    made = [item for item in calls if at_.kind_of(home, item, item.node.func)]
    if len(made) != 1 or len(uses) != 1 or made[0].node.args:
        return None
    spread = [item.value for item in made[0].node.keywords if item.arg is None]
    kept = {
        node.targets[0].id
        for node in own_nodes(function)
        if isinstance(node, ast.Assign) and node.value is made[0].node and isinstance(node.targets[0], ast.Name)
    }
    returned = given and all(node is made[0].node or (isinstance(node, ast.Name) and node.id in kept) for node in given)
    kind = at_.kind_of(home, made[0], made[0].node.func)
    return (home, function, made[0], kind) if kind and spread == uses and returned else None


def makers(facts: Facts, wanted: WantedClasses) -> frozenset[str]:
    """The names of the project's own classes below those looked for, of its functions that may build one of what they
    are given, and of partials and second names."""
    made = facts.of_classes.makers
    if wanted.key not in made:
        names = {
            last_part(item.name)
            for known in facts.files.values()
            for item in known.classes
            if any(base and wanted.is_one(base) for member in facts.ancestry(item) for base in member.bases)
        }
        for path, spelled in _spelled_makers(facts, wanted).items():
            file = facts.files.get(path)
            names |= spelled.others | (spelled.functions if file is None else spelled.functions & file.bound)
        made[wanted.key] = frozenset(names)
    return made[wanted.key]


class _SpelledMakers(NamedTuple):
    """The names that a text gives to a partial or a second name of a class, and to functions that take what they do not
    name, of which those of a module alone may build something of it."""

    others: frozenset[str]
    functions: frozenset[str]


def _spelled_makers(facts: Facts, wanted: WantedClasses) -> Mapping[str, _SpelledMakers]:
    """What may be called to build one of the classes looked for, by the text that says so."""
    asked = f"makers.{wanted.key}"
    if asked not in facts.of_sources:
        names = "|".join(sorted(wanted.names))
        spoken = re.compile(names.encode())
        given = re.compile(rf"\b(\w+)\s*=\s*(?:\w+\.)*(?:{names})\b(?!\s*[.(\w])")
        found: dict[str, _SpelledMakers] = {}
        for path, source in facts.sources.items():
            if asked not in source.memo:
                source.memo[asked] = _spelled_in(source, spoken, given)
            if source.memo[asked]:
                found[path] = source.memo[asked]
        facts.of_sources[asked] = found
    known: Mapping[str, _SpelledMakers] = facts.of_sources[asked]
    return known


def _spelled_in(source: Source, spoken: re.Pattern[bytes], given: re.Pattern[str]) -> _SpelledMakers | None:
    if source.kind not in ("python", "notebook") or not spoken.search(source.unescaped):
        return None
    text = source.unescaped.decode(errors="replace")
    others = frozenset({*given.findall(text), *(_PARTIALS.findall(text) if "partial(" in text else ())})
    functions = frozenset(_FUNCTIONS.findall(text) if "**" in text else ())
    return _SpelledMakers(others, functions) if others or functions else None


def name_of(file: PythonFile, call: CallNode, kind: str) -> ast.expr | None:
    """How a class of Lightning's is spelled where a call stands; None where nothing there says it."""
    for name in sorted(file.scope.bindings):
        targets = {canonical(target) for target in file.scope.bindings[name]}
        target = targets.pop() if len(targets) == 1 else ""
        if call.scope.lookup(name) is None or not (target == kind or kind.startswith(f"{target}.")):
            continue
        if target != ROOT and not target.startswith(f"{ROOT}."):
            continue
        found: ast.expr = ast.Name(name, ast.Load())
        for part in kind[len(target) + 1 :].split(".") if target != kind else ():
            found = ast.Attribute(found, part, ast.Load())
        return found
    return None


_SHARED = r"^\s*(?:global|nonlocal)\b.*\b{}\b"
_PARTIALS = re.compile(r"\b(\w+)\s*=\s*(?:functools\.)?partial\(")
_FUNCTIONS = re.compile(r"def (\w+)\([^)]*\*\*\w+[^)]*\)")


def keyword_of(file: PythonFile, argument: ReachingArgument, value: ast.expr, built: BuiltObject) -> ast.keyword:
    """The keyword that stands for an argument in the plain spelling of a call."""
    home, node = argument.home, built.call.node
    if isinstance(home, ast.Call):
        own = next(item for item in home.keywords if item.arg == argument.name)
        return own if own.value is value else changed(own, value=value)
    made = ast.keyword(argument.name, value)
    if home is None or home.file is not file:
        spread = [item.value for item in node.keywords if item.arg is None]
        return at(made, spread[0] if spread else node)
    place = at(made, home.place)
    if home.value is not None and (home.value.lineno, home.value.col_offset) > (place.lineno, place.col_offset):
        place.end_lineno, place.end_col_offset = home.value.end_lineno, home.value.end_col_offset
    return place
