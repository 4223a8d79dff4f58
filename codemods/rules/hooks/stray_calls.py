"""Calls of a hook of Lightning's own that is gone, by `super()` in a method of another name."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_super_call
from codemods.lightning.class_family import PLAIN_BASES
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts
from codemods.rewrite.whole_statements import removal
from codemods.rule import Match
from codemods.rules.hooks.certain import outside_bases
from codemods.rules.hooks.removed_hooks import HOOKS

NOTHING = "Lightning's own did nothing and returned None"
KEPT = "configure_sharded_model"
"""A hook that is not called any more, and is there to this day."""
_OWN = frozenset({MODULE, CALLBACK, *PLAIN_BASES})
_PLAIN = (ast.Name, ast.Constant, ast.Attribute, ast.Starred, ast.keyword)


def stray_calls(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The calls of a file that fail, since no class of the project has the hook for them."""
    for item in file.classes:
        calls = list(_calls(file, item))
        fact = facts.of_class(file, item) if calls else None
        gone = [statement for _, statement, _ in calls if statement]
        for name, statement, call in calls if fact else ():
            assert fact is not None
            if facts.kind(fact) in HOOKS[name].kinds and not _is_inherited(facts, fact, name):
                yield _match(file, facts, fact, name, statement, call, gone)


def _calls(file: PythonFile, item: ClassNode) -> Iterator[tuple[str, ast.Expr | None, ast.Call]]:
    """The calls with the names of the hooks, and with the statements that are nothing else and can go: the call is of
    what is above the class, and is given nothing that has to be worked out, or is explained."""
    for own, method in item.methods.items():
        every = list(walk(method))
        hooks = HOOKS.keys() - {own, KEPT}
        calls = [node for node in every if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in hooks]
        if not calls:
            continue
        inner = {id(node) for each in every if isinstance(each, ast.ClassDef) for node in walk(each)}
        alone = {id(node.value): node for node in every if isinstance(node, ast.Expr)}
        for node in calls:
            name = getattr(node.func, "attr", "")
            if id(node) not in inner and is_super_call(node, name):
                yield name, alone.get(id(node)) if _is_plain(file, node, item) else None, node


def _is_plain(file: PythonFile, call: ast.Call, item: ClassNode) -> bool:
    given = [each for argument in (*call.args, *call.keywords) for each in walk(argument)]
    above = (
        call.func.value.args[:1]
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
        else []
    )
    own = all(isinstance(each, ast.Name) and each.id == item.node.name for each in above)
    return own and "#" not in file.source_of(call) and all(isinstance(each, _PLAIN) for each in given)


def _is_inherited(facts: Facts, fact: ClassFact, name: str) -> bool:
    return any(name in each.methods for each in facts.ancestry(fact)[1:])


def _foreign(facts: Facts, fact: ClassFact) -> str:
    """What is above a class or its relatives and may have a hook that Lightning has lost; empty where nothing is."""
    above = outside_bases(facts, fact)
    if above is None:
        return "a base class"
    others = sorted(base for base in above - PLAIN_BASES if not base.startswith(f"{ROOT}."))
    return f"`{others[0]}`" if others else ""


def _match(
    file: PythonFile,
    facts: Facts,
    fact: ClassFact,
    name: str,
    statement: ast.Expr | None,
    call: ast.Call,
    gone: Collection[ast.Expr],
) -> Match:
    hook = HOOKS[name]
    foreign = _foreign(facts, fact)
    if foreign:
        message = f"`super().{name}` fails since Lightning {hook.since}, unless {foreign} has such a hook"
        reason = (
            f"Not rewritten: fixer cannot read {foreign}. {_did(facts, fact, name)}: "
            f"where no other base has it, remove `{ast.unparse(call)}`."
        )
        return Match(file.span(call), message, "manual", reason, hook.row)
    message = f"`super().{name}` fails since Lightning {hook.since}: it has no such hook"
    did = _did(facts, fact, name)
    if statement is None or did != NOTHING or _is_spoken(facts, name):
        reason = f"Not rewritten: {did}; remove `{ast.unparse(call)}`."
        return Match(file.span(call), message, "manual", reason, hook.row, stops=True)
    edit = removal(file, statement, gone)
    return Match(file.span(call), message, "safe", f"{did}: the call is taken out.", hook.row, (edit,))


def _is_spoken(facts: Facts, name: str) -> bool:
    """Whether the project says the name of a hook otherwise than to call it of what is above: it may give a class one
    then."""
    asked = f"hooks.spoken.{name}"
    if asked not in facts.of_sources:
        word = re.compile(rb"(?<!\)\.)\b%b\b|\b%b\b(?!\()" % (name.encode(), name.encode()))
        code = (source for source in facts.sources.values() if source.kind in ("python", "notebook"))
        facts.of_sources[asked] = any(word.search(source.unescaped) for source in code)
    spoken: bool = facts.of_sources[asked]
    return spoken


def _did(facts: Facts, fact: ClassFact, name: str) -> str:
    """What a hook of Lightning's own did: nothing where it was there to be overridden, of a class that is itself."""
    idle = name.startswith("on_") or name.endswith("_step_end")
    above = outside_bases(facts, fact) or set()
    own = all(base in _OWN for base in above if base.startswith(f"{ROOT}."))
    return NOTHING if idle and own else "Lightning's own may have done something, which is to be written in its place"
