"""Trainers of the project itself: whether their constructors hand what they are given on to Lightning's."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from codemods.code.calls import class_around, innermost
from codemods.code.expressions import PARTIAL
from codemods.code.scopes import canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_super_call, own_nodes, self_name, taken
from codemods.lightning.calls import builds_trainer
from codemods.lightning.facts import TRAINER, ClassFact, Facts
from codemods.lightning.instance_types import ReadingPlace, definition_of
from codemods.lightning.possible_trainers import is_given, may_build
from codemods.lightning.subclass_members import bound_below

_BINDING = frozenset({"staticmethod", "classmethod"})
"""Decorators that leave a function's parameters as they are."""


def is_lightnings(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether `super().__init__(...)` reaches Trainer's own constructor: no class of the project stands between."""
    return constructor_of(file, facts, call, TRAINER.__eq__) is not None


def constructor_of(file: PythonFile, facts: Facts, call: CallNode, is_one: Callable[[str], bool]) -> str | None:
    """The class of Lightning's, of those asked for, whose constructor `super().__init__(...)` reaches: no class of the
    project stands between."""
    if not is_super_call(call.node, "__init__"):
        return None
    owner = class_around(file, call.within)
    fact = facts.find_class(f"{file.module}.{owner.qualname}", file.path) if owner else None
    return reached(facts, fact, is_one) if fact else None


def between(file: PythonFile, facts: Facts, call: CallNode) -> str | None:
    """What stands between a call that is no `Trainer(...)` and the Trainer that it builds, if it builds one."""
    dotted = called(file, call)
    if name := may_build(file, facts, call):
        return f"`{name}`, which may be Trainer"
    if is_given(file, facts, call):
        return f"`{file.source_of(call.node.func)}`, which is given Trainer"
    if dotted == PARTIAL and call.node.args and call.scope.resolve(call.node.args[0]) == TRAINER:
        return "a partial"
    if dotted == f"{TRAINER}.__init__":
        return "its constructor"
    starred = call.scope.by_star(call.node.func)
    taken = facts.taken(dotted, file.path) if dotted and (starred or dotted.rpartition(".")[0] != file.module) else None
    if taken and taken.name == TRAINER:
        return f"{taken.path}, which imports or names it"
    fact = facts.find_class(dotted, file.path) if dotted else None
    if fact is None and dotted and (name := _one_of_several(facts, dotted, file.path)):
        return f"`{name}`, which may be a Trainer of this project"
    return f"`{fact.name}`, a Trainer of this project" if fact and facts.kind(fact) == TRAINER else None


def _one_of_several(facts: Facts, dotted: str, near: str) -> str | None:
    """A name by which a module knows several things, a Trainer among them."""
    module, _, name = dotted.rpartition(".")
    path = facts.module_path(module, near)
    alike = [item for item in facts.files[path].classes if item.name == name] if path else []
    return name if any(facts.kind(item) == TRAINER for item in alike) else None


def kind_above(facts: Facts, fact: ClassFact, is_one: Callable[[str], bool]) -> str | None:
    """The class of Lightning's, of those asked for, that a class of the project is below."""
    return next((base for member in facts.ancestry(fact) for base in member.bases if base and is_one(base)), None)


def called(file: PythonFile, call: CallNode) -> str | None:
    """The dotted name of what is called; that of the class around for `super().__init__(...)`, and for `cls(...)` in a
    class method."""
    function = innermost(call.within, ast.FunctionDef)
    built = isinstance(call.node.func, ast.Name) and function is not None and call.node.func.id == self_name(function)
    if not is_super_call(call.node, "__init__") and not (built and _is_class_method(function)):
        return _named(call)
    owner = class_around(file, call.within)
    return f"{file.module}.{owner.qualname}" if owner else None


def _named(call: CallNode) -> str | None:
    return call.scope.resolve(call.node.func) or call.scope.by_star(call.node.func)


def replaced_below(file: PythonFile, facts: Facts, call: CallNode) -> str | None:
    """The class of the project that `cls(...)` in a class method may build instead, with a constructor of its own, or
    that has such a method itself."""
    function = innermost(call.within, ast.FunctionDef)
    dotted = called(file, call)
    if function is None or dotted is None or dotted == _named(call):
        return None
    fact = facts.find_class(dotted, file.path) if not is_super_call(call.node, "__init__") else None
    own = {"__init__", "__new__", function.name}
    return bound_below(facts, (fact.path, fact.name.rpartition(".")[2]), own) if fact else None


def _is_class_method(function: ast.FunctionDef | None) -> bool:
    return function is not None and any(ast.unparse(item) == "classmethod" for item in function.decorator_list)


def own_arguments(file: PythonFile, facts: Facts, call: CallNode) -> frozenset[str] | None:
    """The parameters that the constructor of a class of the project has itself, with those above it that get all it
    hands on, or a function of it that is called; None where it hands on nothing."""
    dotted = called(file, call)
    fact = facts.find_class(dotted, file.path) if dotted else None
    if fact is None and (function := _function_called(file, facts, call)):
        return frozenset(item.arg for item in taken(function)) if function.args.kwarg else None
    line = facts.ancestry(fact) if fact else ()
    above = line[1:] if is_super_call(call.node, "__init__") else line
    own: set[str] = set()
    for owner in (item for item in above if "__init__" in item.methods):
        found = facts.find_opened(f"{facts.files[owner.path].module}.{owner.name}", owner.path)
        init = found[1].methods.get("__init__") if found else None
        if init is None or init.args.kwarg is None:
            return None
        own |= {item.arg for item in [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]}
        if not _hands_all_above(init, init.args.kwarg.arg):
            break
    return frozenset(own)


def _hands_all_above(init: Function, rest: str) -> bool:
    """Whether what a constructor gets by `**` goes to that of the class above, and nowhere else."""
    nodes = list(own_nodes(init))
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_super_call(node, "__init__")]
    spread = {id(item.value) for call in calls for item in call.keywords if item.arg is None}
    return len(calls) == 1 and all(
        id(node) in spread for node in nodes if isinstance(node, ast.Name) and node.id == rest
    )


def _function_called(file: PythonFile, facts: Facts, call: CallNode) -> Function | None:
    """The plain function of the project, or method of the class around, that a call is of."""
    node = call.node.func
    method = next((item for item in reversed(call.within) if isinstance(item, Function)), None)
    found: ast.AST | None = None
    if isinstance(node, ast.Attribute) and method and getattr(node.value, "id", None) == self_name(method):
        own = class_around(file, call.within)
        found = own.methods.get(node.attr) if own else None
    elif definition := definition_of(ReadingPlace.of(file, call), facts, node):
        found = definition[1]
    plain = isinstance(found, Function) and {ast.unparse(each) for each in found.decorator_list} <= _BINDING
    return found if plain and isinstance(found, Function) else None


def receivers(file: PythonFile, facts: Facts) -> Iterator[tuple[CallNode, bool]]:
    """The calls that hand what they get by `**` to a Trainer, and whether they build Lightning's own of it, or one of
    the project that has its constructor."""
    for call in file.calls_near(("**",)) if "**" in file.text else ():
        if any(item.arg is None for item in call.node.keywords):
            if builds_trainer(call):
                yield call, True
            elif between(file, facts, call) and own_arguments(file, facts, call) is not None:
                yield call, _has_its_constructor(file, facts, call)


def _has_its_constructor(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a call names a Trainer of the project that is made as Lightning's own is."""
    dotted = _named(call)
    fact = facts.find_class(dotted, file.path) if dotted else None
    return (
        fact is not None
        and not {"__init__", "__new__"} & {*fact.methods}
        and reached(facts, fact, TRAINER.__eq__) is not None
    )


def hands_on(
    facts: Facts, dotted: str, near: str, names: Iterable[str], is_one: Callable[[str], bool] = TRAINER.__eq__
) -> bool:
    """Whether a Trainer of the project, or what else is asked for, as the file `near` calls it, gives Lightning's
    constructor those keywords as it gets them, and takes no `gpus` itself."""
    fact = facts.find_class(dotted, near)
    if fact is None or not reached(facts, fact, is_one):
        return False
    if "__new__" in fact.methods:
        return False
    if "__init__" not in fact.methods:
        return True
    found = facts.find_opened(dotted, near)
    init = found[1].methods.get("__init__") if found else None
    if init is None or init.decorator_list:
        return False
    nodes = list(own_nodes(init))
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_super_call(node, "__init__")]
    arguments = init.args
    taken = {item.arg for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    if len(calls) != 1 or calls[0].args or "gpus" in taken:
        return False
    given = {item.arg: item.value for item in calls[0].keywords if item.arg}
    for name in names:
        if name in taken:
            value = given.get(name)
            if not (isinstance(value, ast.Name) and value.id == name) or _is_stored(nodes, name):
                return False
        elif name in given or not _expands(init, calls[0], nodes, name):
            return False
    return True


def reached(facts: Facts, fact: ClassFact, is_one: Callable[[str], bool]) -> str | None:
    """The class of Lightning's, of those asked for, that `super().__init__` in a class of the project reaches."""
    found = _reached(facts, fact, is_one)
    return found if found not in ("", "?") else None


def _reached(facts: Facts, fact: ClassFact, is_one: Callable[[str], bool], depth: int = 0) -> str:
    """The dotted name of that class, "" where nothing has a constructor, or "?"."""
    for base in fact.bases:
        if base and is_one(canonical(base)):
            return canonical(base)
        if base in ("object", "abc.ABC"):
            continue
        parent = facts.find_class(base, fact.path) if base and depth < 9 else None
        if parent is None or "__init__" in parent.methods:
            return "?"
        if above := _reached(facts, parent, is_one, depth + 1):
            return above
    return ""


def _is_stored(nodes: Iterable[ast.AST], name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in nodes)


def _expands(init: Function, call: ast.Call, nodes: list[ast.AST], name: str) -> bool:
    """Whether the call gets the function's own `**`, in which nothing changes a keyword of that name."""
    rest = init.args.kwarg.arg if init.args.kwarg else None
    if rest is None or _is_stored(nodes, rest):
        return False
    whole = [item for item in call.keywords if item.arg is None]
    if not any(isinstance(item.value, ast.Name) and item.value.id == rest for item in whole) or len(whole) > 1:
        return False
    spoken = (node.value for node in nodes if isinstance(node, ast.Constant))
    called = (node for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("update", "clear", "pop"))
    return name not in spoken and not any(
        isinstance(node.value, ast.Name) and node.value.id == rest and node.attr != "pop" for node in called
    )
