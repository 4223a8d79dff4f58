"""Plugins that became strategies, and strategies under old names: their classes, imports and arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import keyword, keywords
from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.scopes import ROOT, absolute, canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import taken_name
from codemods.finding import Fix
from codemods.lightning.calls import FROM_ARGS, builds_trainer
from codemods.lightning.facts import Facts
from codemods.lightning.keyword_flow import handed
from codemods.lightning.lightning_cli import DEFAULTS
from codemods.lightning.spelling import namespace_of
from codemods.lightning.strategies import is_strategy
from codemods.rewrite.carrying import NO_INSTANCE
from codemods.rewrite.dictionaries import names_of
from codemods.rewrite.keywords import with_keyword
from codemods.rule import Match, NodeEdit

if TYPE_CHECKING:
    import libcst as cst

SPAWN = (("start_method", '"spawn"'),)


@dataclass(frozen=True)
class NewStrategy:
    """What a class is now, with the arguments that make it the same, and the release that it is `gone` from."""

    name: str
    arguments: tuple[tuple[str, str], ...] = ()
    row: str = "M092"
    gone: str = "1.8"


CLASSES = {
    "DDPPlugin": NewStrategy("DDPStrategy"),
    "DDPSpawnPlugin": NewStrategy("DDPStrategy", SPAWN),
    "DeepSpeedPlugin": NewStrategy("DeepSpeedStrategy"),
    "DDPSpawnStrategy": NewStrategy("DDPStrategy", SPAWN, "M236", "2.0"),
}
"""The classes that have a successor; `codemods/rules/names/table.py` leaves their imports to LIT111."""
HOMES = ("plugins", "plugins.training_type", "plugins.training_type.ddp", "plugins.training_type.ddp_spawn",
         "plugins.training_type.deepspeed", "strategies", "strategies.ddp_spawn")  # fmt: skip
FULL = {f"{ROOT}.{home}.{name}": name for home in HOMES for name in CLASSES}
RANKS = ("num_nodes", "sync_batchnorm")
NAMING = ("strategy", "distributed_backend", "accelerator")
"""The arguments of Trainer that may name a strategy."""
GIVEN_AS_PLUGINS = re.compile(
    rb"""\bplugins\s*=(?!=)|(?m:^(?!\s*(?:from|import)\b).*\.plugins\b(?!\.\w))|["']plugins["']"""
)
"""How something is given to a Trainer as `plugins=`, which takes no strategy since 2.0."""
UNSEEN = "fixer assumes that it is given to a Trainer as strategy="


@dataclass(frozen=True)
class PluginCall:
    """A call of one of the classes: `where` is the Trainer's keyword that holds it, None where it is none; there it may
    be one arm of a choice, whose other one is None."""

    call: CallNode
    name: str
    trainer: CallNode | None
    where: ast.keyword | None
    called: bool = False
    """Whether it stands under the name `strategy` in a dictionary or call, which a Trainer alone takes it by."""

    @property
    def unseen(self) -> bool:
        return self.where is None and not self.called

    @property
    def chosen(self) -> bool:
        return self.where is not None and isinstance(self.where.value, ast.IfExp)


def check_plugins(file: PythonFile, facts: Facts, code: str) -> Iterator[Match]:
    """The imports and calls of the classes, rewritten together or not at all."""
    if not any(name in file.text for name in CLASSES):
        return
    imports = [node for node in walk(file.tree) if isinstance(node, ast.ImportFrom) and _names(node, file.path)]
    uses = list(_uses(file))
    if not imports and not uses:
        return
    why = _refusal(file, facts, imports, uses)
    unit = f"{file.path}:{code}"
    unseen = any(use.unseen for use in uses)
    for node in imports:
        yield from _import(file, node, why, unit, unseen)
    for use in uses:
        yield _used(file, use, why, unit, unseen)


def _names(node: ast.ImportFrom, path: str) -> list[ast.alias]:
    module = absolute(node, path)
    return [alias for alias in node.names if canonical(f"{module}.{alias.name}") in FULL]


def _uses(file: PythonFile) -> Iterator[PluginCall]:
    trainers = [call for call in file.calls_near([*file.spellings("Trainer"), *CLASSES]) if builds_trainer(call)]
    holders: dict[ast.AST, tuple[CallNode, ast.keyword]] = {}
    nobody: tuple[CallNode | None, ast.keyword | None] = (None, None)
    for trainer in trainers:
        for word in ("plugins", "strategy"):
            item = keyword(trainer.node, word)
            if item is not None:
                holders.update(dict.fromkeys(_held(item.value), (trainer, item)))
    called = set(map(id, _called_strategy(file)))
    for call in file.calls_near(CLASSES):
        name = FULL.get(call.scope.resolve(call.node.func) or "")
        if name:
            held = holders.get(call.node, nobody)
            yield PluginCall(call, name, *held, id(call.node) in called)


def _called_strategy(file: PythonFile) -> Iterator[ast.Call]:
    """The calls that say what becomes of unused parameters, and stand under the name `strategy` in a dictionary or
    call."""
    for node in walk(file.tree):
        named: Iterable[tuple[object, ast.expr]] = ()
        if isinstance(node, ast.Dict):
            named = ((literal(key)[1], value) for key, value in zip(node.keys, node.values, strict=True) if key)
        elif isinstance(node, ast.Call):
            named = ((item.arg, item.value) for item in node.keywords)
        for name, value in named:
            if name == "strategy" and isinstance(value, ast.Call) and keyword(value, "find_unused_parameters"):
                yield value


def _held(value: ast.expr) -> list[ast.expr]:
    """What an argument holds that may be a plugin: itself, the elements of a list, the arm beside None."""
    if isinstance(value, ast.IfExp):
        arms = [value.body, value.orelse]
        given = [arm for arm in arms if literal(arm) != (True, None)]
        return given if len(given) == 1 else []
    return value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def _refusal(file: PythonFile, facts: Facts, imports: list[ast.ImportFrom], uses: list[PluginCall]) -> str | None:
    """Why the classes of a file are left as they are."""
    bound = {alias.asname or alias.name for node in imports for alias in _names(node, file.path)}
    called = {id(use.call.node.func) for use in uses}
    loose = [
        node for node in walk(file.tree) if isinstance(node, ast.Name) and node.id in bound and id(node) not in called
    ]
    if loose:
        return f"the class is used otherwise in line {loose[0].lineno}"
    if any(alias.asname for node in imports for alias in _names(node, file.path)):
        return "it is imported under another name"
    if any(node not in file.tree.body for node in imports):
        return "its import is in a block"
    for use in uses:
        why = _refused_use(file, facts, use)
        if why:
            return why
    wanted = tuple((f"{namespace_of(file)}.strategies", CLASSES[use.name].name) for use in uses)
    taken = taken_name(file.scope.bindings, wanted)
    return f"this file uses the name `{taken}` for something else" if taken else None


def _refused_use(file: PythonFile, facts: Facts, use: PluginCall) -> str | None:
    defaults = [keyword(call.node, DEFAULTS) for call in file.calls_near([DEFAULTS])]
    if any(use.call.node in walk(item.value) for item in defaults if item):
        inside = (f'"{item.arg}": {file.source_of(item.value)}' for item in use.call.node.keywords)
        return f"{NO_INSTANCE}: write {_by_path(CLASSES[use.name].name, inside)}"
    if use.where is None or use.trainer is None:
        return _refused_unseen(facts, use)
    given = keywords(use.trainer.node)
    if use.where.arg == "plugins":
        strategy = given.get("strategy")
        others = [given[word] for word in NAMING if word in given and word != "strategy"]
        if use.chosen and any(is_strategy(other) for other in others):
            return "another argument gives a strategy too; keep one of them as strategy="
        if strategy is not None and not is_named(strategy):
            return "`strategy=` is given too"
        if isinstance(use.where.value, ast.List | ast.Tuple) and sum(
            isinstance(item, ast.Starred) for item in use.where.value.elts
        ):
            return "the plugins are put together from several lists"
        if not {*NAMING, "**"}.isdisjoint(names_of(handed(file, facts, use.trainer))):
            return "`**` may give the strategy too: give both as one strategy="
    if use.call.node.args or any(item.arg is None for item in use.call.node.keywords):
        return "its arguments are not all named"
    if use.chosen and set(RANKS) & keywords(use.call.node).keys():
        return "num_nodes and sync_batchnorm are arguments of Trainer alone, where this is one of two strategies"
    return None


def _refused_unseen(facts: Facts, use: PluginCall) -> str | None:
    """Why one of the classes is left where no Trainer is seen to get it."""
    if any(GIVEN_AS_PLUGINS.search(source.unescaped) for _, source in facts.holding("plugins")):
        return "fixer cannot tell whether it is given to a Trainer as plugins=, which takes no strategy"
    if use.call.node.args or any(item.arg is None for item in use.call.node.keywords):
        return "its arguments are not all named"
    if set(RANKS) & keywords(use.call.node).keys():
        return (
            "num_nodes and sync_batchnorm are arguments of Trainer alone, and fixer cannot tell which Trainer it is for"
        )
    return None


def is_named(node: ast.expr) -> bool:
    """Whether a strategy is named, or chosen among names: a plugin beside it was what counted, one that is named too
    (`handle_given_plugins` of 1.4.9, `_check_config_and_set_final_flags` of 1.6.5)."""
    if isinstance(node, ast.IfExp):
        return is_named(node.body) and is_named(node.orelse)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return literal(node.values[-1]) == (True, "auto")
    known, value = literal(node)
    return known and (value is None or isinstance(value, str))


def _by_path(name: str, arguments: Iterable[str]) -> str:
    """A strategy as a configuration has it."""
    path = f'"class_path": "lightning.pytorch.strategies.{name}"'
    return f'"strategy": {{{path}, "init_args": {{{", ".join(arguments)}}}}}'


def _import(file: PythonFile, node: ast.ImportFrom, why: str | None, unit: str, unseen: bool) -> Iterator[Match]:
    for alias in _names(node, file.path):
        became = CLASSES[alias.name]
        message = f"`{absolute(node, file.path)}.{alias.name}` was removed in Lightning {became.gone}"
        span = file.span(alias)
        if why:
            arguments = ", ".join(f"{name}={text}" for name, text in became.arguments)
            advice = f"use {became.name}({arguments}) of lightning.pytorch.strategies, given as Trainer(strategy=...)"
            told = why if why.startswith(NO_INSTANCE) else f"{why}; {advice}"
            yield Match(span, message, "manual", f"Not rewritten: {told}.", became.row)
            continue
        target = f"{namespace_of(file)}.strategies"
        has = {canonical(bound) for bound in file.scope.bindings.get(became.name, ())}
        known = has == {f"{ROOT}.strategies.{became.name}"}
        whole = len(node.names) == 1 and not known
        edit = NodeEdit(
            node, partial(_in_place, module=target, name=became.name) if whole else partial(_less, name=alias.name)
        )
        imports = () if whole or known else ((target, became.name),)
        reason = f"It is `{target}.{became.name}` now{f'; {UNSEEN}' if unseen else ''}."
        yield Match(span, message, "unsafe" if unseen else "safe", reason, became.row, (edit,), imports, unit)


def _used(file: PythonFile, use: PluginCall, why: str | None, unit: str, unseen: bool) -> Match:
    became = CLASSES[use.name]
    message = f"`{use.name}` was removed in Lightning {became.gone}"
    if why:
        return Match(file.span(use.call.node), message, "manual", f"Not rewritten: {why}.", became.row)
    if use.trainer is None or use.where is None:
        edit = NodeEdit(use.call.node, partial(_renamed, became=became))
        reason = f"{became.name} is the strategy itself{f'; {UNSEEN}' if unseen else ''}."
        level: Fix = "unsafe" if unseen else "safe"
        span = file.span(use.call.node)
        return Match(span, message, level, reason, became.row, (edit,), unit=unit, binds=(became.name,))
    given = keywords(use.trainer.node)
    inside = keywords(use.call.node)
    comes = use.trainer.scope.resolve(use.trainer.node.func) == FROM_ARGS
    moved = tuple((name, file.source_of(inside[name])) for name in RANKS if name in inside and name not in given)
    moved = tuple((name, text) for name, text in moved if not (comes and text.endswith(f".{name}")))
    differs = [name for name in RANKS if name in inside and name in given]
    differs = [name for name in differs if ast.dump(inside[name]) != ast.dump(given[name])]
    if differs:
        reason = f"`{differs[0]}=` differs between the plugin and the Trainer; keep one of the two"
        return Match(file.span(use.call.node), message, "manual", f"Not rewritten: {reason}.", "M019", unit=unit)
    index = 0
    if isinstance(use.where.value, ast.List | ast.Tuple):
        index = use.where.value.elts.index(use.call.node)
    change = partial(_given, word=use.where.arg or "", index=index, became=became, moved=moved)
    reason = f"{became.name} is the strategy itself, given as strategy="
    if set(RANKS) & inside.keys():
        reason += "; num_nodes and sync_batchnorm are arguments of Trainer alone"
    return Match(
        file.span(use.call.node),
        message,
        "safe",
        f"{reason}.",
        became.row,
        (NodeEdit(use.trainer.node, change),),
        unit=unit,
        binds=(became.name,),
    )


def _in_place(node: cst.ImportFrom, *, module: str, name: str) -> cst.ImportFrom:
    import libcst as cst

    names = list(node.names) if not isinstance(node.names, cst.ImportStar) else []
    return node.with_changes(
        module=cst.parse_expression(module), names=[names[0].with_changes(name=cst.Name(name))], relative=[]
    )


def _less(node: cst.ImportFrom, *, name: str) -> Any:
    """The import without a name."""
    import libcst as cst

    if isinstance(node.names, cst.ImportStar):
        return node
    kept = [item for item in node.names if item.name.value != name]
    if not kept:
        return cst.RemoveFromParent()
    if kept[-1] is not node.names[-1]:
        kept[-1] = kept[-1].with_changes(comma=node.names[-1].comma)
    return node.with_changes(names=kept)


def _given(
    call: cst.Call, *, word: str, index: int, became: NewStrategy, moved: tuple[tuple[str, str], ...]
) -> cst.Call:
    """The Trainer call with the strategy as `strategy=`, and the plugins without it."""
    import libcst as cst

    from codemods.rewrite.edits import without_arguments

    item = next(item for item in call.args if item.keyword and item.keyword.value == word)
    value = item.value
    rest: list[cst.BaseElement] = []
    if isinstance(value, cst.List | cst.Tuple):
        rest = [element for number, element in enumerate(value.elements) if number != index]
        value = value.elements[index].value
    named = [other for other in call.args if other.keyword and other.keyword.value == "strategy" and other is not item]
    strategy = _chosen(value, became, named[0].value if named else cst.SimpleString('"auto"'))
    if named:
        call = without_arguments(call, frozenset({"strategy"}))
    call = call.with_changes(
        args=[
            other.with_changes(keyword=cst.Name("strategy"), value=strategy)
            if other.keyword and other.keyword.value == word
            else other
            for other in call.args
        ]
    )
    for name, text in moved:
        call = with_keyword(call, name, text)
    if rest:
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        call = with_keyword(call, "plugins", cst.Module([]).code_for_node(cst.List(rest)))
    return call


def _chosen(value: cst.BaseExpression, became: NewStrategy, other: cst.BaseExpression) -> cst.BaseExpression:
    """The strategy, or the choice between it and None, where it is the other one that is named, or "auto"."""
    import libcst as cst

    if not isinstance(value, cst.IfExp):
        return _renamed(cst.ensure_type(value, cst.Call), became)
    if isinstance(other, cst.IfExp) and other.test.deep_equals(value.test):
        other = other.orelse if isinstance(value.body, cst.Call) else other.body
    if isinstance(value.body, cst.Call):
        return value.with_changes(body=_renamed(value.body, became), orelse=other)
    if isinstance(other, cst.IfExp) and not other.lpar:
        other = other.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return value.with_changes(body=other, orelse=_renamed(cst.ensure_type(value.orelse, cst.Call), became))


def _renamed(call: cst.Call, became: NewStrategy) -> cst.Call:
    import libcst as cst

    from codemods.rewrite.edits import without_arguments

    call = without_arguments(call, frozenset(RANKS))
    function = call.func
    if isinstance(function, cst.Attribute):
        root = function.value
        while isinstance(root, cst.Attribute) and root.attr.value != "plugins" and root.attr.value != "strategies":
            root = root.value
        home = root.with_changes(attr=cst.Name("strategies")) if isinstance(root, cst.Attribute) else root
        function = function.with_changes(value=home, attr=cst.Name(became.name))
    else:
        function = cst.Name(became.name)
    call = call.with_changes(func=function)
    for name, text in became.arguments:
        call = with_keyword(call, name, text)
    return call
