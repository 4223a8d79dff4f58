"""The deprecated spellings of autocast and GradScaler: what they become, and the edits that do it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import value_of
from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.rule import NodeEdit
from codemods.rules.autocast.members import chain_of

if TYPE_CHECKING:
    import libcst as cst

OLD = {
    f"torch.{device}.amp.{spelling}": (device, spelling.rpartition(".")[2])
    for device in ("cuda", "cpu")
    for spelling in ("autocast", "GradScaler", "autocast_mode.autocast", "grad_scaler.GradScaler")
}
"""Dotted names, with the device and the name in `torch.amp`."""

_PARAMETERS = ("enabled", "dtype", "cache_enabled")


@dataclass(frozen=True)
class OldCall:
    """A call by an old name. `binding` is the import that its first name comes from, None where that is torch,
    by the name `torch`."""

    call: CallNode
    device: str
    name: str
    binding: ImportBinding | None
    torch: str = "torch"


@dataclass(frozen=True)
class ImportBinding:
    """An alias of an import statement, the name that it binds and the dotted name that this stands for."""

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    name: str
    target: str


def spelled(file: PythonFile) -> Iterator[OldCall]:
    """The calls by old names."""
    bound = list(_bindings(file.tree))
    for call in file.calls:
        dotted = call.scope.resolve(call.node.func)
        if dotted not in OLD:
            continue
        chain = chain_of(call.node.func)
        if chain is None:
            continue
        found = [item for item in bound if item.name == chain[0]]
        device, name = OLD[dotted]
        if found and all(item.target.partition(".")[0] == item.name == "torch" for item in found):
            yield OldCall(call, device, name, None)
        elif found and all(item.target == "torch" for item in found):
            yield OldCall(call, device, name, None, chain[0])
        elif len(found) == 1 and found[0].target.startswith("torch."):
            yield OldCall(call, device, name, found[0])


def _bindings(tree: ast.Module) -> Iterator[ImportBinding]:
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield ImportBinding(node, alias, name, alias.name if alias.asname else name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield ImportBinding(node, alias, alias.asname or alias.name, f"{node.module}.{alias.name}")


def obstacle(item: OldCall, half: bool) -> str | None:
    """Why a call cannot be rewritten. `half` says that its dtype has to be written out."""
    node = item.call.node
    if any(isinstance(given, ast.Starred) for given in node.args):
        return "its arguments arrive by `*`, and the new name takes them in another order"
    if item.name == "autocast" and half and any(given.arg is None for given in node.keywords):
        return "its arguments arrive by `**`, and its effect here depends on whether a dtype is among them"
    if item.name == "autocast" and len(node.args) > len(_PARAMETERS):
        return "it is given more arguments than the old name takes"
    return None


def taken_elsewhere(file: PythonFile, facts: Facts, names: Collection[str]) -> str | None:
    """Why the import of names cannot move though this file is done with them: others have them from here."""
    if names and file.path.endswith("__init__.py"):
        return "other files may import the name from here"
    read = any(is_read_elsewhere(facts, file, name) for name in names)
    return "another file imports the name from here" if read else None


def needs_half(item: OldCall) -> bool:
    """Whether a call leaves its dtype to the default, which is float16 on CUDA under the old name alone."""
    node = item.call.node
    given = {word.arg for word in node.keywords} | set(_PARAMETERS[: len(node.args)])
    off = literal(_argument(node, "enabled")) == (True, False) if _argument(node, "enabled") else False
    return item.device == "cuda" and item.name == "autocast" and "dtype" not in given and not off


def _argument(node: ast.Call, name: str) -> Any:
    position = _PARAMETERS.index(name)
    if position < len(node.args):
        return node.args[position]
    return value_of(node, name)


def call_edit(item: OldCall, half: bool) -> NodeEdit:
    """The edit of a call; `half` writes its dtype out."""
    return NodeEdit(item.call.node, partial(_rewrite, item=item, half=half))


def _rewrite(node: cst.Call, *, item: OldCall, half: bool) -> cst.Call:
    import libcst as cst

    args = list(node.args)
    if item.name == "autocast":
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        args = [
            arg if arg.keyword or arg.star else arg.with_changes(keyword=cst.Name(_PARAMETERS[index]), equal=equal)
            for index, arg in enumerate(args)
        ]
    added = [cst.Arg(cst.SimpleString(f'"{item.device}"'))]
    if half:
        added.append(cst.parse_expression(f"f(dtype={item.torch}.float16)").args[0])  # type: ignore[attr-defined]
    if args:
        comma = args[0].comma if isinstance(args[0].comma, cst.Comma) and len(args) > 1 else None
        comma = comma or cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        added = [arg.with_changes(comma=comma) for arg in added]
    func = node.func if item.binding else cst.parse_expression(f"{item.torch}.amp.{item.name}")
    return node.with_changes(func=func, args=[*added, *args])


def binding_edit(binding: ImportBinding, handled: set[str]) -> tuple[NodeEdit, tuple[tuple[str, str | None], ...]]:
    """The edit of an import, of which the aliases `handled` move to `torch.amp`, and the imports to add."""
    statement = binding.statement
    if isinstance(statement, ast.ImportFrom):
        if {alias.name for alias in statement.names} <= handled:
            return NodeEdit(statement, partial(_moved, old=statement.module or "")), ()
        names = sorted(handled & {alias.name for alias in statement.names})
        return NodeEdit(statement, partial(_without, names=names)), tuple(("torch.amp", name) for name in names)
    return NodeEdit(statement, _moved_alias), ()


def _moved(node: cst.ImportFrom, *, old: str) -> cst.ImportFrom:
    """The import from `torch.amp` in place of `torch.cuda.amp`, or of `amp` from `torch` in place of `torch.cuda`."""
    import libcst as cst

    new = "torch" if old in ("torch.cuda", "torch.cpu") else "torch.amp"
    return node.with_changes(module=cst.parse_expression(new))


def _without(node: cst.ImportFrom, *, names: list[str]) -> cst.ImportFrom:
    import libcst as cst

    aliases = node.names if not isinstance(node.names, cst.ImportStar) else ()
    kept = [item for item in aliases if not (isinstance(item.name, cst.Name) and item.name.value in names)]
    kept[-1] = kept[-1].with_changes(comma=aliases[-1].comma)
    return node.with_changes(names=kept)


def _moved_alias(node: cst.Import) -> cst.Import:
    """`import torch.cuda.amp as amp` is `import torch.amp as amp`."""
    import libcst as cst

    return node.with_changes(names=[item.with_changes(name=cst.parse_expression("torch.amp")) for item in node.names])
