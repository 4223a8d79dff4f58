"""Every Trainer that a file builds, with the arguments that reach it and the places where they are written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from codemods.code.names import Names
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, own_nodes, returns
from codemods.code.trees import at, changed
from codemods.lightning.calls import builds_trainer, last_name
from codemods.lightning.facts import TRAINER, Facts, literal
from codemods.lightning.handed import UNSEEN, Handed, handed, is_read_here
from codemods.lightning.own import called, hands_on
from codemods.lightning.values import Constants, constants_of

PARTIAL = "functools.partial"
Matters = Callable[[str, ast.expr | None], bool]
HIDDEN = "_not_read_here_"
"""The name that stands for a value which the place of a Trainer does not see."""


@dataclass(frozen=True)
class Argument:
    """An argument that reaches a Trainer: its value as it is written, the call or the dictionary's key in which that
    is (None where it cannot be changed there), and what it may be where that is no literal."""

    name: str
    value: ast.expr
    home: ast.Call | Handed | None
    constants: Constants | None = None
    always: bool = True


@dataclass(frozen=True)
class Built:
    """A call that builds a Trainer: `how` says what stands between the two (None: nothing), `arguments` are those by
    keyword, `rest` what else it is given by position or by `**`. `own` is the dotted name of a Trainer of the
    project."""

    call: CallNode
    arguments: tuple[Argument, ...]
    rest: tuple[ast.expr | ast.keyword, ...] = ()
    how: str | None = None
    own: str | None = None

    @property
    def plain(self) -> bool:
        """Whether the call itself holds all arguments, and nothing else is known of them than what it says."""
        return self.how is None and all(item.constants is None for item in self.arguments)


@dataclass(frozen=True)
class _At:
    """A file that is looked at, with the facts and what matters of them."""

    file: PythonFile
    facts: Facts
    matters: Matters

    def constants(self, file: PythonFile, call: CallNode, name: str, value: ast.expr) -> Constants | None:
        """What an argument of a call may be, where it is worth following and anything is found."""
        if literal(value)[0] or not self.matters(name, None):
            return None
        found = constants_of(self.facts, file, call.within, value)
        return found if any(self.matters(name, item.node) for item in found.found) else None


def built_trainers(file: PythonFile, facts: Facts, matters: Matters) -> list[Built]:
    """The Trainers that a file builds; `matters` says of an argument whether a constant is worth following."""
    makers = _makers(facts)
    words = {*file.spellings("Trainer"), *makers}
    found = []
    for call in file.calls_near(words & set(_WORD.findall(file.text)) if makers else words):
        if one := _built(_At(file, facts, matters), call, makers):
            found.append(one)
    return found


def _built(at_: _At, call: CallNode, makers: frozenset[str]) -> Built | None:
    file, facts = at_.file, at_.facts
    function = call.node.func
    if call.scope.resolve(function) == TRAINER:
        return _direct(at_, call)
    if partial := _partial_of(file, call):
        return _with(at_, call, partial, "a partial")
    if last_name(function) not in makers:
        return None
    dotted = called(file, call)
    if dotted is None or (isinstance(function, ast.Attribute) and function.attr == "__init__"):
        return None
    fact = facts.find_class(dotted, file.path)
    if fact is not None:
        names = [item.arg for item in call.node.keywords if item.arg]
        if facts.kind(fact) != TRAINER or not hands_on(facts, dotted, file.path, names):
            return None
        one = _direct(at_, call)
        return Built(call, one.arguments, one.rest, f"`{fact.name}`, a Trainer of this project", dotted)
    return _of_factory(at_, call, dotted)


def _direct(at_: _At, call: CallNode) -> Built:
    """What a call gives by its own keywords, and by `**` where all keys of that are seen."""
    rest: list[ast.expr | ast.keyword] = list(call.node.args)
    arguments = [_argument(at_, call, item, call.node) for item in call.node.keywords if item.arg]
    spread = [item for item in call.node.keywords if item.arg is None]
    keys = handed(at_.file, at_.facts, call) if spread else ()
    names = [key.name for key in keys]
    given = {item.name for item in arguments}
    if not spread:
        return Built(call, tuple(arguments), tuple(rest))
    known = UNSEEN not in names and len(names) == len(set(names)) and not given & set(names)
    if not keys or not known or any(key.value is None for key in keys):
        return Built(call, tuple(arguments), (*rest, *spread))
    return Built(call, (*arguments, *(_key(at_, call, key) for key in keys)), tuple(rest), "a dictionary")


def _argument(at_: _At, call: CallNode, item: ast.keyword, home: ast.Call) -> Argument:
    name = item.arg or ""
    return Argument(name, item.value, home, at_.constants(at_.file, call, name, item.value))


def _key(at_: _At, call: CallNode, key: Handed) -> Argument:
    value = key.value
    assert value is not None
    if is_read_here(at_.file, call, key):
        return Argument(key.name, value, key, at_.constants(at_.file, call, key.name, value), key.always)
    return Argument(key.name, at(ast.Name(HIDDEN, ast.Load()), value), key, None, key.always)


def _partial_of(file: PythonFile, call: CallNode) -> CallNode | None:
    """The `partial(Trainer, ...)` that alone a called name stands for, where nothing else is done with the name."""
    function = call.node.func
    if isinstance(function, ast.Call):
        return next(
            (item for item in file.calls_near(["partial"]) if item.node is function and _is_partial(item)), None
        )
    if not isinstance(function, ast.Name):
        return None
    for item in file.assignments_to(function.id):
        target = item.node.targets[0] if isinstance(item.node, ast.Assign) and len(item.node.targets) == 1 else None
        if not isinstance(target, ast.Name) or not isinstance(item.node.value, ast.Call):
            continue
        made = next((other for other in file.calls_near(["partial"]) if other.node is item.node.value), None)
        if made and _is_partial(made) and _is_used_once(file, function.id):
            return made
    return None


def _is_partial(call: CallNode) -> bool:
    return (
        call.scope.resolve(call.node.func) == PARTIAL
        and len(call.node.args) == 1
        and call.scope.resolve(call.node.args[0]) == TRAINER
        and all(item.arg for item in call.node.keywords)
    )


def _is_used_once(file: PythonFile, name: str) -> bool:
    """Whether one assignment binds a name in the whole file, and one place reads it."""
    if "names" not in file.memo:
        file.memo["names"] = Names(file.tree)
    names: Names = file.memo["names"]
    return not names.open and names.stores[name] == 1 and len(names.loads.get(name, ())) == 1


def _with(at_: _At, call: CallNode, other: CallNode, how: str) -> Built | None:
    """The Trainer that gets what two calls give, of which the first wins."""
    mine = _direct(at_, call)
    given = {item.name for item in mine.arguments}
    if any(isinstance(item, ast.keyword) for item in mine.rest):
        return None
    more = [_argument(at_, other, item, other.node) for item in other.node.keywords if item.arg]
    return Built(call, (*(item for item in more if item.name not in given), *mine.arguments), mine.rest, how)


def _of_factory(at_: _At, call: CallNode, dotted: str) -> Built | None:
    """The Trainer that a function of the project builds of the keywords that it is given."""
    found = _factory(at_.file, at_.facts, dotted)
    if found is None or call.node.args or any(item.arg is None for item in call.node.keywords):
        return None
    home, function, inside = found
    own = {item.arg for item in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]}
    arguments = [
        _argument(at_, call, item, call.node) for item in call.node.keywords if item.arg and item.arg not in own
    ]
    for item in inside.node.keywords:
        if item.arg:
            constants = at_.constants(home, inside, item.arg, item.value)
            value = item.value if literal(item.value)[0] else ast.Name(HIDDEN, ast.Load())
            arguments.append(Argument(item.arg, at(value, call.node), None, constants))
    return Built(call, tuple(arguments), (), f"`{function.name}`, which hands on what it gets")


def _factory(file: PythonFile, facts: Facts, dotted: str) -> tuple[PythonFile, Function, CallNode] | None:
    """The function of a dotted name, and the one call in it that builds a Trainer of the function's own `**`."""
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
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == rest]
    given = [node.value for node in returns(function)]
    calls = [item for item in home.calls_near(home.spellings("Trainer")) if item.within[-1:] == (function,)]
    made = [item for item in calls if builds_trainer(item)]
    if len(made) != 1 or len(uses) != 1 or made[0].node.args:
        return None
    spread = [item.value for item in made[0].node.keywords if item.arg is None]
    kept = {
        node.targets[0].id
        for node in own_nodes(function)
        if isinstance(node, ast.Assign) and node.value is made[0].node and isinstance(node.targets[0], ast.Name)
    }
    returned = given and all(node is made[0].node or (isinstance(node, ast.Name) and node.id in kept) for node in given)
    return (home, function, made[0]) if spread == uses and returned else None


def _makers(facts: Facts) -> frozenset[str]:
    """The names of the project's own Trainers, of its functions that may build one of what they are given, and of
    partials."""
    if "trainers.makers" not in facts.memo:
        names = {
            item.name.rpartition(".")[2]
            for known in facts.files.values()
            for item in known.classes
            if facts.kind(item) == TRAINER
        }
        for source in facts.sources.values():
            if source.kind in ("python", "notebook") and b"Trainer" in source.data:
                text = source.data.decode(errors="replace")
                names.update(_PARTIALS.findall(text))
                names.update(_FUNCTIONS.findall(text) if "**" in text else ())
        facts.memo["trainers.makers"] = frozenset(names)
    known_names: frozenset[str] = facts.memo["trainers.makers"]
    return known_names


def trainer_name(file: PythonFile, call: CallNode) -> ast.expr | None:
    """How Lightning's Trainer is spelled where a call stands; None where nothing there says it."""
    for name in sorted(file.scope.bindings):
        targets = {canonical(target) for target in file.scope.bindings[name]}
        if call.scope.lookup(name) is None:
            continue
        if targets == {TRAINER}:
            return ast.Name(name, ast.Load())
        if targets == {ROOT}:
            return ast.Attribute(ast.Name(name, ast.Load()), "Trainer", ast.Load())
    return None


_WORD = re.compile(r"\w+")
_PARTIALS = re.compile(r"(\w+)\s*=\s*(?:functools\.)?partial\(")
_FUNCTIONS = re.compile(r"def (\w+)\([^)]*\*\*\w+[^)]*\)")


def keyword_of(file: PythonFile, argument: Argument, value: ast.expr, built: Built) -> ast.keyword:
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
