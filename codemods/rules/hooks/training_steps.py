"""The training steps of a class, those that they hand their batch on to, and what is asked of their results."""

from __future__ import annotations

import ast
from collections.abc import Container

from codemods.code.nodes import walk
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, is_plain, is_self_attribute, returns
from codemods.rules.hooks.epoch_end import LOGGED

STEPS = ("training_step", "training_step_end")
AGAIN = ("training_epoch_end", "on_train_epoch_end")


def asked_of_steps(item: ClassNode) -> set[str]:
    """The keys by which a class reads what its training steps returned at the end of an epoch, where 0.7 put those of
    `log` and `progress_bar` beside the others (run on 0.7.6)."""
    return {
        str(node.slice.value)
        for name in AGAIN
        if name in item.methods
        for node in walk(item.methods[name])
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
        if isinstance(node.ctx, ast.Load) and not _is_item_of(node.value, LOGGED)
    }


def _is_item_of(node: ast.expr, keys: Container[str]) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value in keys


def steps_of(item: ClassNode) -> list[Function]:
    """The training steps of a class, and the methods of it whose result alone they return."""
    names = {name for name in STEPS if name in item.methods}
    found: set[str] = set()
    while names - found:
        found |= names
        names = {name for each in found for name in _returned_by(item.methods[each]) if name in item.methods} - found
    own = [name for name in STEPS if name in found]
    while found:
        handed = [id(call) for name in found for call in _returned_calls(item.methods[name])]
        others = [name for name in found if name not in own and not _is_only(item, name, handed)]
        found -= set(others)
        if not others:
            break
    return [item.methods[name] for name in (*own, *sorted(found - set(own)))]


def _returned_calls(method: Function) -> list[ast.expr]:
    """The `self.method` of each call whose result a method returns as it is."""
    values = [node.value.func for node in returns(method) if isinstance(node.value, ast.Call)]
    return [each for each in values if isinstance(each, ast.Attribute) and is_self_attribute(each, each.attr)]


def _returned_by(method: Function) -> set[str]:
    return {each.attr for each in _returned_calls(method) if isinstance(each, ast.Attribute)}


def _is_only(item: ClassNode, name: str, handed: list[int]) -> bool:
    """Whether a class speaks of a method in some places alone."""
    every = [node for node in walk(item.node) if isinstance(node, ast.Attribute) and node.attr == name]
    return is_plain(item.methods[name]) and all(id(node) in handed for node in every)
