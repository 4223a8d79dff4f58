"""Calls of a hook of Lightning's own that is gone, by `super()` in a method of another name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_super_call
from codemods.lightning.facts import ClassFact, Facts
from codemods.rewrite.whole_statements import without_statement
from codemods.rule import Match
from codemods.rules.hooks.certain import PLAIN_BASES, outside_bases
from codemods.rules.hooks.removed_hooks import HOOKS, RemovedHook


def stray_calls(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The calls of a file that fail, since no class of the project has the hook for them."""
    for item in file.classes:
        calls = list(_calls(item))
        fact = facts.files[file.path].find(item.qualname) if calls and file.path in facts.files else None
        for name, statement, call in calls if fact else ():
            assert fact is not None
            if facts.kind(fact) in HOOKS[name].kinds and not _is_inherited(facts, fact, name):
                yield _match(file, facts, fact, HOOKS[name], name, statement, call)


def _calls(item: ClassNode) -> Iterator[tuple[str, ast.Expr | None, ast.Call]]:
    """The calls with the names of the hooks, and with the statements that are nothing else."""
    for own, method in item.methods.items():
        alone = {id(node.value): node for node in walk(method) if isinstance(node, ast.Expr)}
        for node in walk(method):
            for name in HOOKS.keys() - {own} if isinstance(node, ast.Call) else ():
                if isinstance(node, ast.Call) and is_super_call(node, name):
                    yield name, alone.get(id(node)), node


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
    hook: RemovedHook,
    name: str,
    statement: ast.Expr | None,
    call: ast.Call,
) -> Match:
    foreign = _foreign(facts, fact)
    if foreign:
        message = f"`super().{name}` fails since Lightning {hook.since}, unless {foreign} has such a hook"
        reason = (
            f"Not rewritten: fixer cannot read {foreign}. Lightning's own did nothing: "
            f"where no other base has it, remove `{ast.unparse(call)}`."
        )
        return Match(file.span(call), message, "manual", reason, hook.row)
    message = f"`super().{name}` fails since Lightning {hook.since}: it has no such hook"
    working = any(isinstance(node, ast.Call) for each in (*call.args, *call.keywords) for node in walk(each))
    if statement is None or working or any(name in each.methods for each in facts.classes()):
        reason = f"Not rewritten: Lightning's own did nothing and returned None; remove `{ast.unparse(call)}`."
        return Match(file.span(call), message, "manual", reason, hook.row)
    reason = "Lightning's own did nothing: the call is taken out."
    return Match(file.span(call), message, "safe", reason, hook.row, (without_statement(file, statement),))
