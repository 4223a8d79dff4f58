"""The normal form of a file: the same program with less said.

What is written in a roundabout way and does the same as something plain is written plainly: calls that only look at
something are left out, second names and constants stand where they are read, `with nullcontext()`, `try` without a
handler and `if True` are gone, a helper called once stands where it is called. Assertions are taken to hold, and no
other file to put something else in the place of a helper, or into settings: `codemods.rewrite.origin` asks whether one
speaks of them. What classes, objects and dictionaries hold is left where it is, since anything may change it, but for
settings of which nothing but their parts is read (`codemods.code.held_values`). Nodes keep the places that they have in
the text, and whatever is the same as there is the same node.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from codemods.code.classes import plain_classes
from codemods.code.collapsing import put_together
from codemods.code.expressions import plain_expressions
from codemods.code.filled_containers import plain_fillings
from codemods.code.flow import plain_blocks
from codemods.code.held_values import plain_holders
from codemods.code.imports import ModuleNames
from codemods.code.inlining import plain_helpers
from codemods.code.kept_contexts import plain_contexts
from codemods.code.local_classes import plain_local_classes
from codemods.code.makers import plain_makers
from codemods.code.members import plain_members
from codemods.code.module_imports import plain_imports
from codemods.code.own_instances import plain_instances
from codemods.code.own_names import plain_own_names
from codemods.code.properties import plain_properties
from codemods.code.single_expressions import plain_answers
from codemods.code.values import plain_names

ROUNDS = 3
"""How often one step may make room for another."""
STEPS: tuple[Callable[[ast.Module, ModuleNames], ast.Module], ...] = (
    plain_imports,
    plain_own_names,
    plain_local_classes,
    plain_instances,
    plain_classes,
    plain_members,
    plain_properties,
    put_together,
    plain_helpers,
    plain_answers,
    plain_makers,
    plain_blocks,
    plain_fillings,
    plain_holders,
    plain_contexts,
    plain_names,
    plain_expressions,
)


def normal(tree: ast.Module) -> ast.Module:
    """The normal form of a module; the tree itself where it is in normal form, or nests too deeply to be looked at."""
    known = ModuleNames(tree)
    idle: dict[int, ast.Module] = {}
    try:
        for _ in range(ROUNDS):
            before = tree
            for number, step in enumerate(STEPS):
                if idle.get(number) is tree:
                    continue
                known = known.of(tree)
                made = step(tree, known)
                if made is tree:
                    idle[number] = tree
                tree = made
            if tree is before:
                break
    except RecursionError:
        return before
    return tree
