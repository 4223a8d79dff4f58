"""Calls of LightningCLI, and the Trainer that it builds."""

from __future__ import annotations

from codemods.code.calls import class_around
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_super_call
from codemods.lightning.facts import Facts

CLI = (f"{ROOT}.cli.LightningCLI", f"{ROOT}.utilities.cli.LightningCLI")
DEFAULTS = "trainer_defaults"
"""The argument of LightningCLI that holds the arguments of its Trainer where no configuration says otherwise."""


def is_cli_call(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a call is of LightningCLI, of a class of the project that takes its arguments, or hands them on to it."""
    dotted = call.scope.resolve(call.node.func)
    if dotted in CLI:
        return True
    if is_super_call(call.node, "__init__"):
        item = class_around(file, call.within)
        fact = facts.of_class(file, item)
        members = facts.ancestry(fact) if fact else ()
        above = members[1:]
    else:
        fact = facts.find_class(dotted, file.path) if dotted else None
        members = above = facts.ancestry(fact) if fact else ()
    if any("__init__" in member.methods for member in above):
        return False
    return any(base in CLI for member in members for base in member.bases)
