"""LIT222: load_from_checkpoint on an instance, self.log of a dict, and hooks called without what they require."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from codemods.code.calls import class_around, innermost, value_of
from codemods.code.nodes import walk
from codemods.code.reaching import PARAMETER, Definition, reaching
from codemods.code.scopes import Scope
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, is_shared, root_name, self_name, targets_of
from codemods.finding import Fix
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.versions import reaches
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.modules.hook_calls import REQUIRED, short_calls, told
from codemods.rules.modules.made_modules import is_module, made_by_table, modules_made

LOAD = "load_from_checkpoint"
TERMS = (ast.Name, ast.Attribute)
_UNMADE = "; the one that was made for the call is not made any more, with the random numbers that its constructor drew"


def _collect(file: PythonFile) -> tuple[str, ...] | None:
    """The names of what makes the values that a checkpoint is loaded by, and of what they are said to be."""
    asked = [
        call.node.func.value
        for call in file.calls_near((LOAD,))
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == LOAD
    ]
    asked += [function.value for _, function in short_calls(file)]
    loaded = {name for value in asked for name in _last_names(value)}
    found = {name for value in asked if isinstance(value, ast.Call) for name in _last_names(value)}
    for node in walk(file.tree) if loaded else ():
        if isinstance(node, ast.arg) and node.arg in loaded and node.annotation:
            found |= _last_names(node.annotation)
        elif loaded & {getattr(target, "attr", getattr(target, "id", None)) for target in targets_of(node)}:
            found |= _last_names(getattr(node, "value", node))
    return tuple(sorted(found)) or None


def _last_names(value: ast.AST) -> set[str]:
    """The last part of what is called or named, by either way of a conditional expression."""
    if isinstance(value, ast.IfExp):
        return _last_names(value.body) | _last_names(value.orelse)
    named = value.func if isinstance(value, ast.Call) else value
    return {named.attr if isinstance(named, ast.Attribute) else named.id} if isinstance(named, TERMS) else set()


def _context(collected: Mapping[str, tuple[str, ...]]) -> tuple[bytes, ...]:
    every = sorted({name for names in collected.values() for name in names})
    return tuple(f"{word} {name}".encode() for name in every for word in ("class", "def"))


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    yield from told(file, facts)
    for call in file.calls_near((LOAD, "log")):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr == LOAD and reaches(facts, "2.1.0"):
            yield from _loaded(file, facts, call, function)
        elif isinstance(function, ast.Attribute) and function.attr == "log":
            yield from _logged(file, facts, call)


_INSTANTIATE = ("hydra.utils.instantiate", "hydra.utils.call")
VALUELESS = (
    'Not rewritten: the call is a TypeError in every release. Log a number under its name, self.log("loss", loss), or '
    "a dict of numbers with self.log_dict."
)


@dataclass(frozen=True)
class ClassText:
    """What stands for the class of an instance; `why` says what speaks against a rewrite, or what it takes for sure."""

    text: str
    fix: Fix = "safe"
    why: str = ""


def class_asked(file: PythonFile, facts: Facts, call: CallNode, function: ast.Attribute) -> ClassText | None:
    """What a checkpoint is to be loaded by in the place of an instance; None where it is asked of no instance."""
    value = function.value
    method = innermost(call.within, ast.FunctionDef)
    own = (
        self_name(method)
        if method and _plain_method(method) and facts.kind_around(file, call.within) == MODULE
        else None
    )
    if own and isinstance(value, ast.Name) and value.id == own:
        return ClassText(f"type({own})")
    if isinstance(value, ast.Name):
        return _of_name(file, facts, call, value.id)
    if isinstance(value, ast.Call):
        return _of_made(file, facts, call, value)
    return _of_attribute(file, facts, call, value)


def _loaded(file: PythonFile, facts: Facts, call: CallNode, function: ast.Attribute) -> Iterator[Match]:
    value, asked = function.value, class_asked(file, facts, call, function)
    if asked is None:
        return
    unused = any(item.value is call.node for item in file.statements if isinstance(item, ast.Expr))
    lost = ", and nothing uses the result here: what it loads is lost, as before" if unused else ""
    reason = f"It never changed the instance: the class makes a new one{lost}{asked.why}."
    if asked.fix == "manual":
        reason = f"Not rewritten: {asked.why}; if it is an instance, write {asked.text}.{LOAD}(...)."
    edit = TextEdit(*file.offsets(value), asked.text)
    yield Match(
        file.span(call.node),
        f"`{LOAD}` on an instance fails since Lightning 2.1",
        asked.fix,
        reason,
        "G18432",
        () if asked.fix == "manual" else (edit,),
        needs="1.0.0",
    )


def _is_configured(file: PythonFile, call: CallNode, name: str, stores: Container[int]) -> bool:
    """Whether Hydra makes what a name stands for."""
    values = (
        item.node.value
        for item in file.assignments_to(name)
        if any(id(target) in stores for target in targets_of(item.node))
    )
    return any(isinstance(value, ast.Call) and call.scope.resolve(value.func) in _INSTANTIATE for value in values)


def _plain_method(method: ast.FunctionDef) -> bool:
    return not any(ast.unparse(node) in ("classmethod", "staticmethod") for node in method.decorator_list)


def _of_name(file: PythonFile, facts: Facts, call: CallNode, name: str) -> ClassText | None:
    """The class that the only assignment to a name in the call's own scope calls, but for one of what the call itself
    gives; the type of the name where several make modules; of a parameter, unless it is bound anew before, that is for
    a person."""
    space = next((item for item in reversed(call.within) if not isinstance(item, ast.ClassDef)), file.tree)
    loaded = [item.node for item in file.assignments_to(name) if item.node.value is call.node]
    again = {id(node) for item in loaded for node in walk(item)}
    stores = {
        id(node)
        for node in walk(space)
        if isinstance(node, ast.Name) and node.id == name and type(node.ctx) is ast.Store and id(node) not in again
    }
    made = [
        made
        for item in file.assignments_to(name)
        if any(id(target) in stores for target in targets_of(item.node))
        and (made := modules_made(file, facts, call.scope, item.node.value))
    ]
    given = _parameter(space, name)
    there = [modules_made(file, facts, call.scope, value) for value in _values_there(space, call)] if given else []
    if there and all(there):
        return _class_of(file, facts, call, name, there)
    noted = given is not None and _names_module(facts, file, call.scope, given.annotation)
    if noted and not made and _stays(file, name, stores):
        return ClassText(f"type({name})", "unsafe", f"; fixer believes the annotation that `{name}` is an instance")
    if given and (made or noted):
        return ClassText(f"type({name})", "manual", f"`{name}` is given, and may be a class")
    tables = [made_by_table(facts, file, call.scope, item.node.value) for item in file.assignments_to(name)]
    if not given and not made and (maker := next(filter(None, tables), None)):
        return ClassText(f"type({name})", "manual", f"`{name}` is what `{maker}` makes of a class that is not known")
    if not given and not made and len(stores) == 1 and _is_configured(file, call, name, stores):
        if any(LOAD in item.methods for item in facts.classes() if facts.kind(item) != MODULE):
            why = f"Hydra makes `{name}`, perhaps of a class of the project that is no module and has the method"
            return ClassText(f"type({name})", "manual", why)
        return ClassText(
            f"type({name})", "unsafe", f"; fixer assumes that `{name}` is a module, of which Hydra made one"
        )
    if given or not made or len(made) != len(stores):
        return None
    return _class_of(file, facts, call, name, made)


def _class_of(file: PythonFile, facts: Facts, call: CallNode, name: str, made: list[list[ast.Call]]) -> ClassText:
    """The class of a name that one of some calls made, by its own name where it can be but one."""
    only = len(made) == 1 and len(made[0]) == 1 and is_module(facts, file, call.scope, made[0][0].func)
    return ClassText(file.source_of(made[0][0].func) if only else f"type({name})")


def _values_there(space: ast.AST, call: CallNode) -> list[ast.expr | None]:
    """What the name may be bound to of which a method is called, where what its function is given stands for itself."""
    if not isinstance(space, ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(call.node.func, ast.Attribute):
        return []
    owner = call.node.func.value
    if not isinstance(owner, ast.Name) or is_shared(space, owner.id):
        return []
    given = frozenset({Definition(PARAMETER)})
    return [item.value for item in reaching(space, owner.id, owner, given, surely=True)]


def _stays(file: PythonFile, name: str, stores: set[int]) -> bool:
    """Whether a name is bound to what its own methods give alone, as by `model = model.eval()`."""
    bound = [
        item.node for item in file.assignments_to(name) if any(id(each) in stores for each in targets_of(item.node))
    ]
    arms = [arm for node in bound for arm in _arms(node.value)]
    calls = [arm.func if isinstance(arm, ast.Call) else arm for arm in arms]
    return len(bound) == len(stores) and all(each is not None and root_name(each) == name for each in calls)


def _arms(value: ast.expr | None) -> list[ast.expr | None]:
    return [*_arms(value.body), *_arms(value.orelse)] if isinstance(value, ast.IfExp) else [value]


def _of_made(file: PythonFile, facts: Facts, call: CallNode, made: ast.Call) -> ClassText | None:
    """The class that is called for an instance which nothing else has."""
    text = file.source_of(made.func)
    if not _makes_module(file, facts, call, made.func):
        dotted = call.scope.resolve(made.func) or ""
        imported = "." in dotted and facts.path_of(dotted.rpartition(".")[0], file.path) is None
        seems = imported and dotted.rpartition(".")[2][:1].isupper()
        return (
            ClassText(text, "manual", f"fixer cannot tell what `{text}` makes, but it is called like a class")
            if seems
            else None
        )
    binds = any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for node in walk(made))
    if binds or file.has_comment(made.lineno, (made.end_lineno or made.lineno) - 1):
        return ClassText(
            text, "manual", "the expression that makes the instance does more than that, or there is a comment in it"
        )
    return ClassText(text, "unsafe", _UNMADE)


def _makes_module(file: PythonFile, facts: Facts, call: CallNode, function: ast.expr) -> bool:
    """Whether what is called is a module of the project, or a name that is bound to such classes alone."""
    if is_module(facts, file, call.scope, function):
        return True
    if not isinstance(function, ast.Name):
        return False
    space = next((item for item in reversed(call.within) if not isinstance(item, ast.ClassDef)), file.tree)
    stores = [
        node
        for node in walk(space)
        if isinstance(node, ast.Name) and node.id == function.id and type(node.ctx) is not ast.Load
    ]
    named = [
        target
        for item in file.assignments_to(function.id)
        if isinstance(item.node.value, ast.Name | ast.Attribute) and is_module(facts, file, call.scope, item.node.value)
        for target in targets_of(item.node)
    ]
    return bool(stores) and not _parameter(space, function.id) and all(node in named for node in stores)


def _of_attribute(file: PythonFile, facts: Facts, call: CallNode, value: ast.expr) -> ClassText | None:
    """The type of an attribute that its file sets to modules alone."""
    owner = innermost(call.within, ast.ClassDef)
    if owner is None or not isinstance(value, ast.Attribute) or not is_self_attribute(value, value.attr):
        return None
    stores = [
        node
        for node in walk(file.tree)
        if isinstance(node, ast.Attribute) and node.attr == value.attr and type(node.ctx) is not ast.Load
    ]
    made = [
        node
        for node in walk(owner)
        if any(is_self_attribute(target, value.attr) for target in targets_of(node))
        and modules_made(file, facts, call.scope, getattr(node, "value", None))
    ]
    if not made or len(made) != len(stores):
        return None
    return ClassText(
        f"type({file.source_of(value)})", "unsafe", "; fixer assumes that no other file sets the attribute to a class"
    )


def _parameter(space: ast.AST, name: str) -> ast.arg | None:
    """The parameter of that name of a function."""
    if not isinstance(space, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    every = [*space.args.posonlyargs, *space.args.args, *space.args.kwonlyargs]
    return next((item for item in every if item.arg == name), None)


def _names_module(facts: Facts, file: PythonFile, scope: Scope, annotation: ast.expr | None) -> bool:
    if annotation is None:
        return False
    return scope.resolve(annotation) == MODULE or is_module(facts, file, scope, annotation)


def _logged(file: PythonFile, facts: Facts, call: CallNode) -> Iterator[Match]:
    node = call.node
    item = class_around(file, call.within)
    fact = facts.of_class(file, item) if item else None
    if fact is None or facts.kind(fact) != MODULE or ast.unparse(node.func) != "self.log":
        return
    value = value_of(node, "value", 1)
    if isinstance(value, ast.Dict):
        reason = (
            "Not rewritten: it logged several values under one name. Log each under its own name with self.log_dict."
        )
        yield Match(file.span(node), "self.log takes no dict since Lightning 2.0", "manual", reason, "M239")
    elif value is None and not _may_give(node) and not (item and _logs_itself(facts, fact, item)):
        yield Match(file.span(node), "self.log is given no value", "manual", VALUELESS)


def _logs_itself(facts: Facts, fact: ClassFact, item: ClassNode) -> bool:
    """Whether a class has a `log` of its own, or sets one."""
    if any("log" in each.methods for each in facts.ancestry(fact)):
        return True
    found = (node for node in walk(item.node) if isinstance(node, ast.Attribute) and is_self_attribute(node, "log"))
    return any(isinstance(node.ctx, ast.Store) for node in found)


def _may_give(node: ast.Call) -> bool:
    """Whether a call may give more than it says."""
    spread = any(item.arg is None for item in node.keywords)
    return spread or any(isinstance(each, ast.Starred) for each in node.args)


MADE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self, width=1):
        super().__init__()


def main(path):
    return Model(width=2).load_from_checkpoint(path)
"""
BEFORE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def reset(self, path):
        return self.load_from_checkpoint(path)


def main(path):
    model = Model()
    return model.load_from_checkpoint(path)
"""
AFTER = BEFORE.replace("self.load_from", "type(self).load_from").replace("model.load_from", "Model.load_from")
RIGHT = BEFORE.split("\n\n\ndef main")[0].replace("self.load_from", "Model.load_from") + "\n"


def _rows() -> tuple[tuple[str, Fix], ...]:
    return (("G18432", "safe"), ("M239", "manual"))


RULE = Rule(
    code="LIT222",
    name="instance-load",
    summary="load_from_checkpoint is called on the class; self.log takes no dict; hooks get what they require",
    why=(
        "load_from_checkpoint on an instance, which never loaded anything into it, raises a TypeError since 2.1 (pull "
        "request 18432); self.log refuses a dict since 2.0 (guide row M239). The setup and teardown of modules and "
        "datamodules want their stage since 1.8 (pull request 14064), and transfer_batch_to_device the index of a "
        "dataloader since 1.4, where a class leaves them as they are."
    ),
    fix="safe",
    versions="written for Lightning < 2.1",
    triggers=(LOAD.encode(), b"self.log(", *(f".{name}(".encode() for name in REQUIRED)),
    check=_check,
    collect=_collect,
    context=_context,
    examples=(Example(BEFORE, AFTER), Example(RIGHT, RIGHT), Example(MADE, MADE)),
    breaks_in="2.1.0",
    needs="1.0.0",
    rows=_rows,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/18432",),
)
