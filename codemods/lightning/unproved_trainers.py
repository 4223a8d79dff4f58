"""Calls that may build a Trainer, or hand on to one, where it is not proved that what they are given reaches it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from codemods.code.source import CallNode
from codemods.code.syntax import is_super_call
from codemods.code.tree_copies import at, changed
from codemods.lightning.arguments import current
from codemods.lightning.built_objects import BuiltObject, FileLook, ReachingArgument, possible
from codemods.lightning.calls import FROM_ARGS
from codemods.lightning.facts import TRAINER
from codemods.lightning.keyword_flow import HandedKeyword, handed
from codemods.lightning.trainer_subclasses import between, is_lightnings, own_arguments, receivers


def unproved(at_: FileLook, seen: Collection[ast.Call]) -> Iterator[BuiltObject]:
    """The calls that may build a Trainer, and what they are given that it may get."""
    file, facts = at_.file, at_.facts
    asked = {name for name in current() if at_.wanted.matters(TRAINER, name, None)}
    spoken = {name for name in asked if name in file.text}
    every = *file.calls_near({*spoken, "from_argparse_args"}), *(call for call, _ in receivers(file, facts))
    calls = {call.node: call for call in every}
    for call in (call for node, call in calls.items() if node not in seen):
        of_options = call.scope.resolve(call.node.func) == FROM_ARGS
        named = [] if of_options else [item for item in call.node.keywords if item.arg in asked]
        keys = [HandedKeyword(str(item.arg), item, item.value, file) for item in named]
        brought = handed(file, facts, _spreading(call) if of_options else call)
        keys += [key for key in brought if key.name in asked - {item.arg for item in call.node.keywords}]
        through = "`from_argparse_args`" if of_options else between(file, facts, call) if keys else None
        above = not is_super_call(call.node, "__init__") or is_lightnings(file, facts, call)
        own = frozenset() if of_options else own_arguments(file, facts, call) if through and above else None
        perhaps = [] if own is None else [*possible(at_, call, TRAINER, [key for key in keys if key.name not in own])]
        if perhaps:
            told = {item.name for item in perhaps}
            beside = (item for item in call.node.keywords if item.arg and item.arg not in told)
            given = tuple(ReachingArgument(str(item.arg), item.value, call.node) for item in beside)
            yield BuiltObject(call, TRAINER, given, how=through, perhaps=tuple(perhaps), unsure=True)


def _spreading(call: CallNode) -> CallNode:
    """`from_argparse_args(x)` as if it were given `**x`."""
    spread = [at(ast.keyword(None, item), item) for item in call.node.args[:1]]
    return call._replace(node=changed(call.node, keywords=spread))
