"""Progress bars among the callbacks of a Trainer, which takes one at most."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Literal, TypeGuard

from codemods.code.calls import space_of
from codemods.code.literals import literal
from codemods.code.nodes import every_node
from codemods.code.reaching import reaching
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_shared, returns, takes
from codemods.lightning.callers import Callers, called_name
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.parameters import with_defaults
from codemods.rules.trainer.callbacks import assigned_and_added, built

BAR = "ProgressBar"
"""What the names of all of Lightning's bars have in them."""
_KNOWN = ("object", "abc.ABC")
_INSTANTIATE = ("hydra.utils.instantiate", "hydra.utils.call")
_WITHOUT = frozenset({
    "torch", "torchvision", "torchaudio", "torchmetrics", "transformers", "timm", "albumentations", "numpy",
    "omegaconf", "hydra", "builtins",
})  # fmt: skip
"""Packages without callbacks of Lightning's."""
_TARGET = re.compile(rb"""_target_["']?\s*(?::\s*str\s*=|[:=])\s*["']?([^\s"',]+)""")
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
        return "perhaps" if _are_named(facts) or _may_be_configured(facts) else "no"
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
    return _of_callers(facts, file, call, node.id) if given and isinstance(node, ast.Name) else "perhaps"


def _of_callers(facts: Facts, file: PythonFile, call: CallNode, name: str) -> Held:
    """Whether what a function is given for a parameter may be a bar, by all that calls it in the project."""
    function = call.within[-1] if call.within else None
    if not isinstance(function, ast.FunctionDef) or _is_installed(facts) or _are_named(facts):
        return "perhaps"
    known: dict[object, Held] = memo_of(file, facts).setdefault("bars given", {})
    if (function, name) not in known:
        known[function, name] = "perhaps"  # what it hands itself
        known[function, name] = _worst(_given(facts, file, call, function, name))
    return known[function, name]


def _given(facts: Facts, file: PythonFile, call: CallNode, function: ast.FunctionDef, name: str) -> Iterator[Held]:
    callers = Callers(facts, file, lambda path: file if path == file.path else facts.open(path))
    owner = call.within[-2] if len(call.within) > 1 else None
    if function.decorator_list or callers.configured(called_name(function, owner)):
        yield "perhaps"
    yield from (bar_among(facts, file, call, value) for item, value in with_defaults(function.args) if item.arg == name)
    for other, _, caller, value in callers.given(file, call.within, name):
        if caller is None or value is None:
            yield "perhaps"
        elif not isinstance(value, bool):
            yield bar_among(facts, other, caller, value)


def _is_installed(facts: Facts) -> bool:
    """Whether the project is a package, whose functions others call with callbacks of their own."""
    packages = (source for path, source in facts.sources.items() if path.rpartition("/")[2] in _PACKAGES)
    return any(_INSTALLED.search(source.data) for source in packages)


def _may_be_configured(facts: Facts) -> bool:
    """Whether a configuration or code has Hydra build something that may be a bar of another package's."""
    return any(
        not _is_known(facts, found[1].decode(errors="replace"), path)
        for path, source in facts.holding("_target_")
        if source.kind in _NAMING
        for found in _TARGET.finditer(source.data)
    )


def _is_known(facts: Facts, dotted: str, near: str) -> bool:
    """Whether a class is Lightning's, or of a package without callbacks, or made of such classes by the project."""
    names = _outside(facts, canonical(dotted), near)
    return all(name in _KNOWN or name.startswith(f"{ROOT}.") or name.partition(".")[0] in _WITHOUT for name in names)


def _outside(facts: Facts, dotted: str | None, near: str, below: tuple[str, ...] = ()) -> list[str]:
    """The classes outside the project that a class is made of, `""` for one that is not seen; or its own name."""
    if dotted is None or dotted in below:
        return [""]
    if fact := facts.find_class(dotted, near):
        unseen = any(None in member.bases for member in facts.ancestry(fact))
        return [*(item for item in facts.lineage(fact) if isinstance(item, str)), *([""] if unseen else [])]
    if (opened := facts.find_opened(dotted, near)) is None:
        return [dotted]
    file, found = opened
    bases = map(file.scope.resolve, found.node.bases)
    return [name for base in bases for name in _outside(facts, base, file.path, (*below, dotted))]


def _kind(facts: Facts, file: PythonFile, call: CallNode, made: ast.Call) -> Held:
    dotted = call.scope.resolve(made.func)
    fact = facts.find_class(dotted, file.path) if dotted else None
    if fact is None and (held := _given_back(facts, file, call, dotted)) != "perhaps":
        return held
    names = _outside(facts, dotted, file.path)
    if any(item.startswith(ROOT) and BAR in item.rpartition(".")[2] for item in names):
        return "yes"
    return "no" if all(item.startswith(f"{ROOT}.") or item in _KNOWN for item in names) else "perhaps"
