"""Progress bars among the callbacks of a Trainer, which takes one at most."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Literal, TypeGuard

from codemods.code.nodes import every_node
from codemods.code.reaching import reaching
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_shared, returns, takes
from codemods.lightning.calls import space_of
from codemods.lightning.facts import Facts, literal
from codemods.rules.trainer.callbacks import assigned_and_added, built

BAR = "ProgressBar"
"""What the names of all of Lightning's bars have in them."""
_KNOWN = ("object", "abc.ABC")
_INSTANTIATE = ("hydra.utils.instantiate", "hydra.utils.call")
_NAMING = ("python", "notebook", "yaml", "json", "toml")
_PACKAGES = ("setup.py", "setup.cfg", "pyproject.toml")
_INSTALLED = re.compile(rb"\bsetup\(|^\[(?:metadata|project|tool\.poetry)\]", re.MULTILINE)
"""What makes a package of a project, whose functions others call."""


Held = Literal["yes", "perhaps", "no"]


def bar_among(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> Held:
    """Whether the callbacks of a Trainer hold a progress bar: "perhaps" where not all of them are seen, or the class of
    one is not."""
    return _worst(_is_bar(facts, file, call, item) for item in _every(file, call, node))


def _given_back(facts: Facts, file: PythonFile, call: CallNode, dotted: str | None) -> Held:
    """Whether a function of the project gives back a bar, or Hydra makes one of what the project configures."""
    if dotted in _INSTANTIATE:
        return "perhaps" if _are_named(facts) else "no"
    found = facts.find_definition(dotted, file.path) if dotted else None
    home, function = found[:2] if found else (file, None)
    if not isinstance(function, ast.FunctionDef) or function in call.within or function.decorator_list:
        return "perhaps"
    inside = CallNode(call.node, home.scope_within((function,)), (function,))
    given = [each.value for each in returns(function) if each.value is not None]
    return _worst(bar_among(facts, home, inside, value) for value in given) if given else "perhaps"


def _are_named(facts: Facts) -> bool:
    """Whether code or a configuration of the project names a progress bar."""
    return any(source.kind in _NAMING for _, source in facts.holding(BAR))


def _worst(found: Iterable[Held]) -> Held:
    every = set(found)
    return "yes" if "yes" in every else "perhaps" if "perhaps" in every else "no"


def _every(file: PythonFile, call: CallNode, node: ast.expr | None) -> list[ast.expr | None]:
    """All callbacks that a value may hold; what may hold others stands for them, None for what is out of sight."""
    if node is not None and literal(node) == (True, None):
        return []
    if isinstance(node, ast.List | ast.Tuple):
        return [*node.elts]
    if isinstance(node, ast.Name):
        return _every_of(file, call, node)
    if not isinstance(node, ast.IfExp | ast.BinOp):
        return [node]
    parts = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node.left, node.right)
    return [item for part in parts for item in _every(file, call, part)]


def _every_of(file: PythonFile, call: CallNode, name: ast.Name) -> list[ast.expr | None]:
    """The same of a name: what all lists that reach the call are written with, and what is put into them."""
    space = space_of(file, call)
    found: list[ast.expr | None] = []
    values = [item.value for item in reaching(space, name.id, name, surely=True)]
    for value in values:
        if value is None and (bound := assigned_and_added(space, name.id)):
            found += [item for each in bound[1] for item in _every(file, call, each)]
        else:
            found += value.elts if isinstance(value, ast.List) else [value]
    known = {id(name)}
    for node in every_node(space):
        if isinstance(node, ast.Call) and len(node.args) == 1 and _is_filled(node.func, name.id):
            known.add(id(node.func.value))
            found += node.args if node.func.attr == "append" else _every(file, call, node.args[0])
    loads = (node for node in every_node(space) if isinstance(node, ast.Name) and type(node.ctx) is ast.Load)
    seen = not any(node.id == name.id and id(node) not in known for node in loads)
    if takes(space, name.id) and not values:
        return [*found, name]
    return found if seen and values and not is_shared(space, name.id) and not takes(space, name.id) else [*found, None]


def _is_filled(function: ast.expr, name: str) -> TypeGuard[ast.Attribute]:
    """Whether what is called puts something into a list of that name."""
    named = isinstance(function, ast.Attribute) and getattr(function.value, "id", None) == name
    return named and getattr(function, "attr", "") in ("append", "extend")


def _is_bar(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr | None) -> Held:
    """Whether a callback is a progress bar, by how it is written and by the classes of all that it may be."""
    if node is None:
        return "perhaps"
    found = reaching(space_of(file, call), node.id, node) if isinstance(node, ast.Name) else ()
    written = [node, *(item.value for item in found if item.value is not None)]
    if any(BAR in file.source_of(item) for item in written):
        return "yes"
    made = built(facts, file, call, node)
    if made:
        return _worst(_kind(facts, file, call, item) for item in made)
    given = isinstance(node, ast.Name) and takes(space_of(file, call), node.id)
    return _of_callers(facts) if given else "perhaps"


def _of_callers(facts: Facts) -> Held:
    """Whether what a function is given may be a bar: not where the project names none, and nobody installs it to call
    it with callbacks of his own."""
    packages = (source for path, source in facts.sources.items() if path.rpartition("/")[2] in _PACKAGES)
    handed = any(_INSTALLED.search(source.data) for source in packages)
    return "perhaps" if handed or _are_named(facts) else "no"


def _kind(facts: Facts, file: PythonFile, call: CallNode, made: ast.Call) -> Held:
    dotted = call.scope.resolve(made.func)
    fact = facts.find_class(dotted, file.path) if dotted else None
    if fact is None and (held := _given_back(facts, file, call, dotted)) != "perhaps":
        return held
    if fact is None and dotted and facts.path_of(dotted.rpartition(".")[0], file.path):
        return _of_callers(facts) if facts.find_definition(dotted, file.path) is None else "perhaps"
    names = [item for item in facts.lineage(fact) if isinstance(item, str)] if fact else [dotted or ""]
    names += [""] if fact and any(None in member.bases for member in facts.ancestry(fact)) else []
    if any(item.startswith(ROOT) and BAR in item.rpartition(".")[2] for item in names):
        return "yes"
    return "no" if all(item.startswith(f"{ROOT}.") or item in _KNOWN for item in names) else "perhaps"
