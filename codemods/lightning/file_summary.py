"""What one file adds to the facts: its classes and Trainers."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from codemods.code.literals import literal
from codemods.code.nodes import walk, walked
from codemods.code.scopes import ROOT, Scope, canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, parameters, returns
from codemods.lightning.calls import fitted_class
from codemods.lightning.facts import KINDS, TRAINER, ClassFact, FileFacts, KeywordFact, TrainerFact, is_trainer_call
from codemods.lightning.lightning_cli import CLI

HOOKS = frozenset({"on_train_batch_end", "on_before_backward", "on_after_backward", "on_before_optimizer_step"})
LONGEST = 100
"""No name of a function that a class hands itself to is longer."""
EVALUATES = ("test", "validate", "predict")
_HANDING = re.compile(r"\(\s*(?:self|this|cls)\b")
"""How a class hands itself to what is called in front of that."""
_TAKING = re.compile(r"\n[ \t]+(?:\w+ = (\w+)$|@(\w+)[ \t]*(?:\(|#|$))", re.MULTILINE)
"""How a class takes a function for a method, or marks one with it; like the other it begins with plain text, which is
found many times as fast."""
_LAST_WORD = re.compile(r"\w+\Z")


def collect_file(file: PythonFile, collected: Mapping[str, Any]) -> FileFacts:
    """The facts of one file."""
    candidates = _named(file, "Trainer", "from_argparse_args", "LightningCLI")
    exports = {name: min(targets) for name, targets in file.scope.bindings.items() if "?" not in targets}
    own = f"{file.module}."
    return FileFacts(
        path=file.path,
        module=file.module,
        exports={name: target for name, target in exports.items() if target != own + name},
        bound=frozenset(file.scope.bindings),
        unsure=frozenset(_unsure(file)),
        stars=file.scope.stars,
        public=_public(file),
        classes=tuple(
            ClassFact(
                item.qualname,
                file.path,
                tuple(_base(base, item.scope) for base in item.node.bases),
                frozenset(item.methods),
                frozenset(name for name in HOOKS & item.methods.keys() if _is_quiet(item.methods[name])),
            )
            for item in file.classes
        ),
        trainers=_trainers(file, candidates),
        indirect_trainers=any(map(_is_indirect, candidates)),
        collected=collected,
        fits_of_made=tuple(_fits_of_made(file)),
        takes=_takes(file, exports),
    )


def _takes(file: PythonFile, exports: Mapping[str, str]) -> frozenset[str]:
    """The dotted names of what a file imports and calls with `self`, or has by another name in a class."""
    if not file.classes:
        return frozenset()
    said = {name for found in _TAKING.findall(file.text) for name in found if name}
    for handed in _HANDING.finditer(file.text):
        said.update(_LAST_WORD.findall(file.text, max(0, handed.start() - LONGEST), handed.start()))
    return frozenset(exports[name] for name in said & exports.keys())


def _unsure(file: PythonFile) -> Iterator[str]:
    """The names of a module that may stand for several things, classes that are not alike among them."""
    for name, targets in file.scope.bindings.items():
        if len({canonical(target) for target in targets}) > 1:
            yield name
    told = Counter(item.qualname for item in file.classes)
    for name in (name for name, number in told.items() if number > 1):
        if len({ast.dump(item.node) for item in file.classes if item.qualname == name}) > 1:
            yield name


def _public(file: PythonFile) -> frozenset[str] | None:
    """What `__all__` names where it is written out at once; a star brings nothing else."""
    if "__all__" not in file.text:
        return None
    spoken = [node for node, _ in file.nodes_near(["__all__"]) if isinstance(node, ast.Name) and node.id == "__all__"]
    values = [node.value for node in file.tree.body if isinstance(node, ast.Assign) and node.targets == spoken]
    listed = values[0].elts if values and isinstance(values[0], ast.List | ast.Tuple) else []
    names = [node.value for node in listed if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return frozenset(names) if names and len(names) == len(listed) else None


def _named(file: PythonFile, *names: str) -> list[CallNode]:
    """The calls of, or with an argument of, one of the names, whatever the file imports them as."""
    spellings = frozenset[str]().union(*map(file.spellings, names))
    if not spellings:
        return []
    return [
        call
        for call in file.calls_near(spellings)
        if _word(call.node.func) in spellings
        or (call.node.args and not spellings.isdisjoint(map(_word, call.node.args)))
    ]


def _word(node: ast.expr) -> str | None:
    """The last identifier of a name or attribute chain."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _is_indirect(call: CallNode) -> bool:
    """A Trainer whose arguments are not all in the call: argparse, LightningCLI, a partial."""
    return call.scope.resolve(call.node.func) in (f"{TRAINER}.from_argparse_args", *CLI) or any(
        call.scope.resolve(argument) == TRAINER
        for argument in call.node.args
        if isinstance(argument, ast.Name | ast.Attribute)
    )


def _is_quiet(hook: Function) -> bool:
    """Whether a hook leaves the outputs of `on_train_batch_end`, the first argument in a module and the third in a
    callback, unread, and, if it is another one, logs nothing and hands the module to nobody who could."""
    names = parameters(hook)
    spread = [each.arg for each in (hook.args.vararg, hook.args.kwarg) if each]
    batch_end = hook.name == "on_train_batch_end"
    if (spread and not batch_end) or (len(names) < 2 and not spread):
        return False
    of_callback = len(names) > 4 or (spread and names[:1] == ["trainer"])
    outputs = [*spread, *names[2 if of_callback else 0 :][:1]]
    for node in walk(hook):
        if isinstance(node, ast.Attribute) and node.attr in ("log", "log_dict") and not batch_end:
            return False
        if isinstance(node, ast.Name) and batch_end and node.id in outputs:
            return False
        given = [*node.args, *(item.value for item in node.keywords)] if isinstance(node, ast.Call) else []
        if not batch_end and any(isinstance(item, ast.Name) and item.id in names[:2] for item in given):
            return False
    return True


def _base(node: ast.expr, scope: Scope) -> str | None:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.IfExp):
        either = {_base(node.body, scope), _base(node.orelse, scope)}
        return next(iter(either & KINDS), None) if either & {"object", "torch.nn.Module"} else None
    if isinstance(node, ast.Name):
        known = scope.lookup(node.id)
        if known:
            return canonical(known)
        return node.id if hasattr(builtins, node.id) else scope.starred(node.id) or scope.by_star(node)
    return scope.resolve(node) or scope.by_star(node) if isinstance(node, ast.Attribute) else None


def trainers_in(file: PythonFile) -> tuple[TrainerFact, ...]:
    """The Trainers that a file builds."""
    return _trainers(file, _named(file, "Trainer", "from_argparse_args", "LightningCLI"))


def _trainers(file: PythonFile, candidates: list[CallNode]) -> tuple[TrainerFact, ...]:
    calls = [call for call in candidates if is_trainer_call(call)]
    if not calls:
        return ()
    nodes = {call.node for call in calls}
    kept = {item.node.value: _kept_as(item.node) for item in file.assignments if item.node.value in nodes}
    fits: dict[str, list[str | None]] = {}
    at_once: dict[ast.expr, list[str | None]] = {}
    for owner, call in _fits(file):
        fits.setdefault(_written(owner), []).append(fitted_class(call, file))
        at_once.setdefault(owner, []).append(fitted_class(call, file))
    by_name = {name: tuple(fitted) for name, fitted in fits.items()}
    found = [
        replace(
            _trainer(call, file, kept.get(call.node), by_name),
            fits_at_once=tuple(at_once.get(call.node, ())),
            maker=_maker(call, kept.get(call.node)),
        )
        for call in calls
    ]
    return tuple(
        trainer if trainer.fits else replace(trainer, evaluates=_evaluates(call.node, trainer.name, file))
        for call, trainer in zip(calls, found, strict=True)
    )


def _fits(file: PythonFile) -> Iterator[tuple[ast.expr, CallNode]]:
    """The calls of `fit`, each with what it is called of."""
    for call in _named(file, "fit"):
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "fit":
            yield call.node.func.value, call


def _maker(call: CallNode, kept: str | None) -> str | None:
    """The function of a module that gives back what a call in it builds."""
    function = call.within[0] if len(call.within) == 1 else None
    if not isinstance(function, Function):
        return None
    given = [node.value for node in returns(function) if node.value is not None]
    plain = (item is call.node or (isinstance(item, ast.Name) and item.id == kept) for item in given)
    return function.name if any(plain) else None


def _fits_of_made(file: PythonFile) -> Iterator[tuple[str, str | None]]:
    """What is fitted by what functions give back, kept under a name or at once."""
    fits = list(_fits(file)) if ".fit(" in file.text else []
    by_name: dict[str, list[str | None]] = {}
    for owner, call in fits:
        if isinstance(owner, ast.Call):
            yield from ((dotted, fitted_class(call, file)) for dotted in _function(owner, call.scope))
        else:
            by_name.setdefault(_written(owner), []).append(fitted_class(call, file))
    for item in file.assignments if by_name else ():
        name = _kept_as(item.node) if isinstance(item.node.value, ast.Call) else None
        for dotted in _function(item.node.value, file.scope_within(item.within)) if name in by_name else ():
            yield from ((dotted, fitted) for fitted in by_name[str(name)])


def _function(node: ast.expr | None, scope: Scope) -> list[str]:
    """The dotted name of the function of the project, or of another library, that is called."""
    dotted = scope.resolve(node.func) if isinstance(node, ast.Call) else None
    return [dotted] if dotted and not dotted.startswith(f"{ROOT}.") else []


def _evaluates(call: ast.Call, name: str | None, file: PythonFile) -> bool:
    """Whether a Trainer is used at once, or under its plain name alone, and only to evaluate."""
    if not _used(call, name, file.calls_near(EVALUATES)):
        return False
    used = _used(call, name, file.calls_near([*EVALUATES, *([name] if name else [])]))
    if any(function.attr not in EVALUATES for function in used):
        return False
    known = {id(function.value) for function in used}
    known |= {id(node.value) for node in walked(file.tree) if isinstance(node, ast.Attribute) and _is_read(node)}
    return not any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and id(node) not in known
        for node in walked(file.tree)
    )


def _is_read(node: ast.Attribute) -> bool:
    """Whether an attribute is read that trains nothing."""
    return isinstance(node.ctx, ast.Load) and not node.attr.startswith(("fit", "tune"))


def _used(call: ast.Call, name: str | None, among: list[CallNode]) -> list[ast.Attribute]:
    """What is called, among some calls, of what a call returns or of the name that this is kept in."""
    functions = [item.node.func for item in among if isinstance(item.node.func, ast.Attribute)]
    return [
        function
        for function in functions
        if function.value is call or (isinstance(function.value, ast.Name) and function.value.id == name)
    ]


def _trainer(
    call: CallNode, file: PythonFile, name: str | None, fits: Mapping[str, tuple[str | None, ...]]
) -> TrainerFact:
    arguments = []
    for keyword in call.node.keywords:
        if keyword.arg:
            known, value = literal(keyword.value)
            arguments.append(KeywordFact(keyword.arg, file.source_of(keyword.value), known, value))
    open_ended = any(keyword.arg is None for keyword in call.node.keywords) or bool(call.node.args)
    return TrainerFact(
        file.path, call.node.lineno, tuple(arguments), open_ended, name, fits.get(name, ()) if name else ()
    )


def _kept_as(node: ast.Assign | ast.AnnAssign) -> str | None:
    """The one target of an assignment."""
    if isinstance(node, ast.AnnAssign):
        return _written(node.target)
    return _written(node.targets[0]) if len(node.targets) == 1 else None


def _written(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)
