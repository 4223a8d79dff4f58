"""LIT210: hooks that get other arguments than they used to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.scopes import ROOT
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_plain, own_nodes, parameters, reads, uses
from codemods.finding import Fix
from codemods.lightning.class_family import family
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts
from codemods.lightning.instance_types import times_spoken
from codemods.lightning.linking import together
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.hooks.base_calls import base_calls, owners_of, shortened
from codemods.rules.hooks.epoch_end import HALF, read_hook
from codemods.rules.hooks.loader_index import STEPS, misnamed
from codemods.rules.hooks.nested_outputs import nested
from codemods.rules.hooks.removed_hooks import DATA
from codemods.rules.hooks.shifted import shifted
from codemods.rules.hooks.staged import STAGED, staged
from codemods.rules.hooks.stopping_checks import stopping_checks
from codemods.rules.hooks.transfer import LONGER, longer
from codemods.rules.hooks.unfit import NAMES as UNFIT
from codemods.rules.hooks.unfit import unfit

if TYPE_CHECKING:
    import libcst as cst

PREFIX = {MODULE: 0, CALLBACK: 2}


@dataclass(frozen=True)
class ShorterHook:
    """A hook that gets fewer arguments now: `count` of them, behind `trainer` and `pl_module` in a callback, of which
    the last goes where it is -1. `owner` is the class of Lightning whose own method it is, of which a project may have
    one that is for itself."""

    count: int
    row: str | None
    since: str
    kinds: tuple[str, ...] = (MODULE, CALLBACK)
    owner: str = ""


@dataclass(frozen=True)
class Optional:
    """A hook that gets `dataloader_idx` only with several loaders: it stands at that index and wants a default."""

    index: int
    row: str = "G16753"
    since: str = "2.0"


# `EMPTY_NOW` are those whose argument held something, so that a default for it changes what they do; the others'
# was always 0, or is the method's own.
# Read off LightningModule and Callback of 1.4, 1.5, 1.6, 1.8, 1.9 and 2.6; the tests compare with the newest.
SHORTER = {
    "on_train_epoch_end": ShorterHook(0, "M000", "1.5"),
    "on_predict_epoch_end": ShorterHook(0, "M238", "2.0"),
    "on_train_batch_start": ShorterHook(2, None, "1.7"),
    "on_train_batch_end": ShorterHook(3, None, "1.7"),
    "finetune_function": ShorterHook(1, "M212", "2.0", (CALLBACK,)),
    "_run_early_stopping_check": ShorterHook(-1, None, "1.3", (CALLBACK,), "EarlyStopping"),
}
EMPTY_NOW = ("on_train_epoch_end", "on_predict_epoch_end")
ALWAYS_FIRST = ("on_train_batch_start", "on_train_batch_end")
"""Those whose argument was the index of a loader that is the only one."""
OPTIONAL = {
    f"on_{stage}_batch_{end}": Optional(index)
    for stage in ("validation", "test", "predict")
    for end, index in (("start", 2), ("end", 3))
}


GIVEN_BATCHES = ("on_train_batch_start", "on_train_batch_end", *OPTIONAL)
REST = "args"
BARE = ("prepare_data", *(f"{stage}_dataloader" for stage in ("train", "val", "test", "predict")))
"""Hooks of modules and of their data that no release gave anything."""
EPOCHS = ("validation", "test", "predict")
UNGIVEN = (
    "configure_callbacks", "configure_optimizers", "on_after_backward", "on_fit_start", "on_fit_end",
    "on_train_start", "on_train_end", "on_train_epoch_start", "on_validation_epoch_end", "on_test_epoch_end",
    *(f"on_{stage}_{point}" for stage in EPOCHS for point in ("start", "end", "epoch_start")),
)  # fmt: skip
"""Those of modules alone."""
HOOKS = (*SHORTER, *OPTIONAL, *STAGED, *LONGER, *STEPS, *BARE, *UNGIVEN)
FITTING = tuple(name for name in UNFIT if name not in HOOKS)
"""Those that no row speaks of."""


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    yield from stopping_checks(file, facts)
    for item in file.classes:
        hooks = [name for name in (*HOOKS, *FITTING) if name in item.methods]
        fact = facts.of_class(file, item) if hooks else None
        kind = facts.kind(fact) if fact else None
        if fact is None or kind not in (*PREFIX, DATA):
            continue
        yield from staged(file, facts, item, kind)
        if kind == MODULE:
            yield from misnamed(file, facts, fact, item)
        for name in hooks:
            half = any(stage.old == name and read_hook(item, stage) for stage in HALF)
            bare = (name in BARE and kind != CALLBACK) or (name in UNGIVEN and kind == MODULE and not half)
            if bare and (match := _bare(file, item.methods[name])):
                yield match
        for name in hooks:
            if name in LONGER and kind != CALLBACK and (match := longer(file, facts, fact, item, name)):
                yield match
        told = set()
        for name in hooks:
            if kind == DATA or name in (*STAGED, *LONGER, *STEPS, *BARE, *UNGIVEN, *FITTING):
                continue
            yield from nested(file, item.methods[name], PREFIX[kind])
            match = shifted(file, item.methods[name], PREFIX[kind])
            match = match or _shorter(file, facts, fact, item, kind, name) or _optional(file, item, kind, name)
            match = match or (_fewer(file, item, name) if kind == CALLBACK else None)
            if match:
                told.add(name)
                yield match
        for name in hooks:
            if name not in told and (match := unfit(file, item, kind, name)):
                yield match


def _among(facts: Facts) -> frozenset[str]:
    """The files that have a class of Lightning's, or may have one put together or written otherwise."""
    owned = {item.path for item in facts.classes() if facts.kind(item) != "other"}
    return together(facts).union(owned, facts.mentions.get(b"ightning", ()))


def _with_defaults(args: ast.arguments) -> str:
    """The parameters of a method, with a default to fill in for each that has none, and without the types."""
    every = [*args.posonlyargs, *args.args]
    own = [ast.Constant(...) for _ in every[1:]]
    defaults = [*own[: len(own) - len(args.defaults)], *args.defaults][-len(own) or None :] if own else []
    return ast.unparse(
        ast.arguments(
            posonlyargs=[ast.arg(one.arg) for one in args.posonlyargs],
            args=[ast.arg(one.arg) for one in args.args],
            vararg=args.vararg and ast.arg(args.vararg.arg),
            kwonlyargs=[ast.arg(one.arg) for one in args.kwonlyargs],
            kw_defaults=[default or ast.Constant(...) for default in args.kw_defaults],
            kwarg=args.kwarg and ast.arg(args.kwarg.arg),
            defaults=defaults,
        )
    )


def _bare(file: PythonFile, method: Function) -> Match | None:
    """A hook that wants what Lightning never gives."""
    decorators = {ast.unparse(node) for node in method.decorator_list}
    if decorators & {"staticmethod", "classmethod"}:
        return None
    names, given = parameters(method), len(method.args.defaults)
    missing = names[: len(names) - given] if given else names
    keywords = zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
    missing = [*missing, *(argument.arg for argument, default in keywords if default is None)]
    if not missing:
        return None
    shown = ", ".join(f"`{name}`" for name in missing)
    start = "async def" if isinstance(method, ast.AsyncFunctionDef) else "def"
    reason = (
        f"Not rewritten: fixer cannot tell what {shown} should be. "
        f"Write `{start} {method.name}({_with_defaults(method.args)})` with defaults, "
        "or read the value from self; leave it if only your own code calls the method."
    )
    return Match(
        file.head(method), f"{method.name} requires {shown}, but Lightning passes it nothing", "manual", reason
    )


def _shorter(file: PythonFile, facts: Facts, fact: ClassFact, item: ClassNode, kind: str, name: str) -> Match | None:
    rule = SHORTER.get(name)
    method = item.methods[name]
    if rule is None or kind not in rule.kinds or _is_unlike(method) or not _is_owned(facts, fact, rule):
        return None
    count = rule.count + PREFIX[kind]
    extra = parameters(method)[count:]
    meant = name in EMPTY_NOW and any("out" in parameter for parameter in extra)
    if not extra or (len(method.args.defaults) >= len(extra) and not meant):
        return None
    shown = ", ".join(f"`{parameter}`" for parameter in extra)
    message = f"{name} is no longer given {shown} since Lightning {rule.since}"
    handed = base_calls(item, method, name)
    if any(_is_spread(file, call) for call in handed):
        reason = f"Not rewritten: fixer cannot tell what its base class is given. Pass it all but {shown}."
        return Match(file.head(method), message, "manual", reason, rule.row)
    used = [parameter for parameter in extra if _used_otherwise(method, parameter, handed)]
    if used and times_spoken(facts, name) == 1 + len(handed):
        used = [parameter for parameter in used if not _is_only_returned(method, parameter, handed)]
    if used and name in ALWAYS_FIRST and len(extra) == 1:
        edit = NodeEdit(
            method,
            partial(_defaulted, name=extra[0], hook=name, count=count, owners=owners_of(handed)),
        )
        reason = "There is one train loader for the hook: the index was always 0, which is its default now."
        return Match(file.head(method), message, "safe", reason, rule.row, (edit,))
    if used:
        silent = "; it has a default, and on 2.x it always has that value" if method.args.defaults else ""
        advice = _ADVICE.get(name, "Read what you need from self, the trainer or the module")
        reason = f"Not rewritten: the hook uses `{used[0]}`{silent}. {advice}."
        return Match(file.head(method), message, "manual", reason, rule.row)
    if len(method.args.defaults) >= len(extra):
        return None
    supers = {
        id(call.func)
        for item in file.classes
        for each in item.methods.values()
        for call in base_calls(item, each, name)
    }
    called = [node.lineno for node in file.attributes(name) if id(node) not in supers] if rule.owner else []
    if called:
        reason = f"Not rewritten: line {called[0]} calls it too. Remove `{extra[0]}` from both, and from what calls it."
        return Match(file.head(method), message, "manual", reason, rule.row)
    relatives = [other.name for other in family(facts, fact) if name in other.methods]
    calling = relatives and _is_called(facts, name)
    reason = "The hook does not read it."
    if calling:
        reason = f"{relatives[0]}, a base class or subclass, has the hook too: check how they call each other."
    level = "unsafe" if calling else "safe"
    edit = NodeEdit(
        method,
        partial(_dropped, extra=tuple(extra), count=count, name=name, owners=owners_of(handed)),
    )
    needs = "2.0.0" if rule.since == "2.0" else None
    return Match(file.head(method), message, level, reason, rule.row, (edit,), needs=needs)  # type: ignore[arg-type]


def _is_called(facts: Facts, name: str) -> bool:
    """Whether code of the project speaks of a hook otherwise than to define it."""
    spoken = re.compile(rf"(?<!def )\b{name}\b".encode())
    sources = (source for _, source in facts.holding(name) if source.kind in ("python", "notebook"))
    return any(spoken.search(source.unescaped) for source in sources)


def _is_spread(file: PythonFile, call: ast.Call) -> bool:
    """Whether a call is given arguments by `*` or `**`, as it is written."""
    return re.search(r"[(,]\s*\*", file.text[slice(*file.offsets(call))]) is not None


_ADVICE = {
    "on_train_epoch_end": "Write `self.training_step_outputs.append(...)` with what training_step returns, "
    "read the list here, and empty it by "
    "`self.training_step_outputs.clear()`",
    "on_predict_epoch_end": "`trainer.predict_loop.predictions` holds what the steps returned: read that",
}


def _is_owned(facts: Facts, fact: ClassFact, rule: ShorterHook) -> bool:
    bases = [base for base in facts.lineage(fact) if isinstance(base, str)]
    return not rule.owner or any(base.startswith(ROOT) and base.endswith(f".{rule.owner}") for base in bases)


def _is_bound_otherwise(method: Function) -> bool:
    return bool(method.args.vararg) or _is_unlike(method)


def _is_unlike(method: Function) -> bool:
    """Whether a method is none of an instance, or takes arguments by position alone."""
    decorators = {ast.unparse(node) for node in method.decorator_list}
    return bool(method.args.posonlyargs or decorators & {"staticmethod", "classmethod"})


def _used_otherwise(method: Function, parameter: str, handed: list[ast.Call]) -> bool:
    """Whether a parameter is read elsewhere than as an argument that goes on to the base class."""
    plain = {id(argument) for call in handed for argument in call.args}
    return any(id(node) not in plain for node in reads(method, parameter))


def _is_only_returned(method: Function, parameter: str, handed: list[ast.Call]) -> bool:
    """Whether a hook does nothing with a parameter but give it back, which Lightning reads nowhere."""
    plain = {id(argument) for call in handed for argument in call.args}
    plain |= {id(node.value) for node in own_nodes(method) if isinstance(node, ast.Return)}
    return all(id(node) in plain for node in uses(method, parameter))


@touches("head")
def _dropped(
    node: cst.FunctionDef, *, extra: tuple[str, ...], count: int, name: str, owners: frozenset[str]
) -> cst.FunctionDef:
    import libcst as cst
    import libcst.matchers as m

    from codemods.rewrite.edits import without_parameter

    for parameter in extra:
        node = without_parameter(node, parameter)
    given = m.Return(value=m.OneOf(*(m.Name(parameter) for parameter in extra)))
    return cst.ensure_type(m.replace(shortened(node, name, count, owners, extra), given, cst.Return()), cst.FunctionDef)


@touches("head")
def _defaulted(node: cst.FunctionDef, *, name: str, hook: str, count: int, owners: frozenset[str]) -> cst.FunctionDef:
    return _with_default(shortened(node, hook, count, owners, (name,)), name=name)


def _fewer(file: PythonFile, item: ClassNode, name: str) -> Match | None:
    """A hook of a callback that takes no batch, which releases up to 0.8 did not give it."""
    method = item.methods[name]
    if name not in GIVEN_BATCHES or _is_bound_otherwise(method) or len(parameters(method)) != PREFIX[CALLBACK]:
        return None
    message = f"{name} is given the batch and its index since Lightning 0.9, but has no parameters for them"
    decorators = [item.scope.resolve(node) or "" for node in method.decorator_list]
    handing = all(each.startswith(ROOT) and each.endswith(".rank_zero_only") for each in decorators)
    plain = is_plain(method, decorated=True) and handing
    if not plain or base_calls(item, method, name) or uses(method, REST):
        reason = f"Not rewritten: it is decorated, calls its base class, or has `{REST}` of its own. Take them."
        return Match(file.head(method), message, "manual", reason)
    reason = f"It takes them as *{REST} and ignores them; calls without them work as before."
    return Match(file.head(method), message, "safe", reason, edits=(NodeEdit(method, _with_rest),))


@touches("head")
def _with_rest(node: cst.FunctionDef) -> cst.FunctionDef:
    import libcst as cst

    return node.with_changes(params=node.params.with_changes(star_arg=cst.Param(cst.Name(REST), star="*")))


def _optional(file: PythonFile, item: ClassNode, kind: str, name: str) -> Match | None:
    rule = OPTIONAL.get(name)
    method = item.methods[name]
    if rule is None or _is_bound_otherwise(method):
        return None
    names = parameters(method)
    index = rule.index + PREFIX[kind]
    if len(names) != index + 1 or method.args.defaults:
        return None
    return Match(
        file.head(method),
        f"{name} is given `{names[index]}` only with several loaders since Lightning {rule.since}",
        "safe",
        "With one loader Lightning does not give it; the index is then 0.",
        rule.row,
        (NodeEdit(method, partial(_with_default, name=names[index])),),
    )


@touches("head")
def _with_default(node: cst.FunctionDef, *, name: str) -> cst.FunctionDef:
    import libcst as cst

    def changed(param: cst.Param) -> cst.Param:
        if param.name.value != name:
            return param
        space = cst.SimpleWhitespace(" " if param.annotation else "")
        equal = cst.AssignEqual(whitespace_before=space, whitespace_after=space)
        return param.with_changes(default=cst.Integer("0"), equal=equal)

    params = [changed(param) for param in node.params.params]
    return node.with_changes(params=node.params.with_changes(params=params))


BEFORE = """\
from pytorch_lightning import Callback, LightningModule


class Printer(Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx, dataloader_idx)
        print(batch_idx)

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx: int):
        print(dataloader_idx)


class Model(LightningModule):
    def on_train_epoch_end(self, outputs):
        print("done")
"""
AFTER = """\
from pytorch_lightning import Callback, LightningModule


class Printer(Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx)
        print(batch_idx)

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx: int = 0):
        print(dataloader_idx)


class Model(LightningModule):
    def on_train_epoch_end(self):
        print("done")
"""
READ = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def on_train_epoch_end(self, outputs):
        print(len(outputs))
"""


def _rows() -> tuple[tuple[str, Fix], ...]:
    return best_levels(
        [*((hook.row, "safe") for hook in SHORTER.values()), *((hook.row, "safe") for hook in OPTIONAL.values())]
    )


RULE = Rule(
    code="LIT210",
    name="hook-arguments",
    summary="Hooks take the arguments that Lightning gives them now",
    why=(
        "A hook that wants an argument which is no longer given is a TypeError in the middle of training, and one "
        "with a default for it silently gets the default: `outputs` of on_train_epoch_end (guide row M000), the "
        "optimizer's index (M213), the loader's index of the training hooks, and with one loader that of the "
        "validation, test and prediction hooks (pull request 16753). A step that gets the index of one of several "
        "loaders has to call it dataloader_idx. setup and teardown that do not take `stage`, or take it by another "
        "name, are a TypeError at once, and so are loaders that want an argument."
    ),
    fix="safe",
    versions="written for Lightning < 2.0",
    triggers=(
        *(f"def {name}".encode() for name in (*SHORTER, *OPTIONAL, *LONGER)),
        *(f"def {name}(".encode() for name in (*STAGED, *STEPS, *BARE, *UNGIVEN, *FITTING)),
        b"._run_early_stopping_check",
    ),
    check=_check,
    among=_among,
    mentions=(b"ightning",),
    examples=(Example(BEFORE, AFTER), Example(READ, READ)),
    breaks_in="2.0.0",
    needs="1.7.0",
    rows=_rows,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16753",),
)
