"""Whether an expression has the same value where a call stands and at later calls of the same function."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from codemods.code.calls import Space, space_of
from codemods.code.nodes import every_node
from codemods.code.reaching import definitions
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import takes
from codemods.lightning.configured_values import is_set
from codemods.lightning.facts import Facts
from codemods.lightning.options import kind_of_option

_PARTS = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.IfExp, ast.BoolOp,
    ast.UnaryOp,
)  # fmt: skip
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BY_NAME = re.compile(rb"\bsetattr\(|\.__dict__\b|\bvars\([^()]*\)\s*[.\[]")
_READING = frozenset({"get", "items", "keys", "values", "copy"})
"""Methods of containers that change nothing."""
_TELLING = frozenset({"print", "len", "repr", "str", "bool", "isinstance", "hasattr", "getattr"})
"""Functions that change nothing of what they are given."""


def is_steady(
    file: PythonFile, call: CallNode, node: ast.expr, uses: Sequence[CallNode], facts: Facts | None = None
) -> bool:
    """Whether an expression of names, attributes, items, literals and conditions in a call has the same value at some
    later calls. What is given to others whole on the way may be changed there, unless its parts are attributes of what
    a command line gave, and the facts tell of nothing that sets one of that name."""
    parts = [item for item in every_node(node) if isinstance(item, ast.expr)]
    if not all(isinstance(item, _PARTS) or _is_plain_test(item) for item in parts):
        return False
    names = {item.id for item in parts if isinstance(item, ast.Name)}
    if not names:
        return True
    if any(isinstance(item, ast.Global | ast.Nonlocal) and names & {*item.names} for item in file.statements):
        return False
    space = space_of(file, call)
    if _is_set_by_others(file, space, parts, names):
        return False
    if not all(_leads_to(space, call.node, use.node) for use in uses):
        return False
    parsed = facts is not None and _is_parsed(facts, file, call, parts)
    way = _NameEvents(node, space, parsed)
    return not any(way.may_change(item) for item in _between(space, call.node, [use.node for use in uses]))


def _is_plain_test(node: ast.expr) -> bool:
    """Whether a comparison asks for no more than identity, or compares with what is written out: what other objects
    hold may be another later."""
    if not isinstance(node, ast.Compare):
        return False
    identity = all(isinstance(item, ast.Is | ast.IsNot) for item in node.ops)
    return identity or all(isinstance(item, ast.Constant) for item in node.comparators)


def _is_set_by_others(file: PythonFile, space: Space, parts: Sequence[ast.expr], names: Collection[str]) -> bool:
    """Whether other functions of a file store to an attribute, as an expression reads of a name of the module."""
    keys = {item.attr for item in parts if isinstance(item, ast.Attribute)}
    if not keys or all(takes(space, name) or definitions(space, name) for name in names):
        return False
    own = {id(item) for item in every_node(space)}
    stores = (item for key in keys for item in file.attributes(key) if not isinstance(item.ctx, ast.Load))
    return any(id(item) not in own for item in stores)


def _is_parsed(facts: Facts, file: PythonFile, call: CallNode, parts: Sequence[ast.expr]) -> bool:
    """Whether all attributes of an expression are options that nothing in the project sets."""
    attributes = [item for item in parts if isinstance(item, ast.Attribute)]
    if any(isinstance(item, ast.Subscript) for item in parts):
        return False
    return all(
        kind_of_option(facts, file, call, item) is not None and not is_set(facts, item.attr) for item in attributes
    ) and not sets_by_name(facts)


def sets_by_name(facts: Facts) -> bool:
    """Whether code of the project sets attributes by names that are worked out."""
    if "sets by name" not in facts.of_sources:
        texts = (source.unescaped for source in facts.sources.values() if source.kind in ("python", "notebook"))
        facts.of_sources["sets by name"] = any(_BY_NAME.search(text) for text in texts)
    return bool(facts.of_sources["sets by name"])


def _leads_to(space: ast.AST, call: ast.Call, use: ast.Call) -> bool:
    """Whether a call is made anew before each use of it, or but once."""
    loops = [item for item in every_node(space) if isinstance(item, _LOOPS) and _holds(item, call)]
    if not loops:
        return True
    blocks = [
        block
        for item in every_node(max(loops, key=lambda item: item.lineno))
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(item, name, None), list) and any(_holds(each, call) for each in block)
    ]
    nearest = max(blocks, key=lambda block: block[0].lineno)
    at = next(index for index, item in enumerate(nearest) if _holds(item, call))
    return any(_holds(item, use) for item in nearest[at:])


def _between(space: ast.AST, call: ast.Call, uses: Sequence[ast.Call]) -> Iterator[ast.expr]:
    """The expressions of a function from a call to the last of its uses, with all of the loops that those are in."""
    loops = [item for item in every_node(space) if isinstance(item, _LOOPS) and item.lineno >= call.lineno]
    ends = [*uses, *(item for item in loops if any(_holds(item, use) for use in uses))]
    last = max((item.end_lineno or item.lineno for item in ends), default=call.lineno)
    own = {id(item) for item in every_node(call)}
    for item in every_node(space):
        if isinstance(item, ast.expr) and call.lineno <= item.lineno <= last and id(item) not in own:
            yield item


def _holds(node: ast.AST, inner: ast.AST) -> bool:
    return any(item is inner for item in every_node(node))


class _NameEvents:
    """What happens to the names of an expression in a function."""

    def __init__(self, node: ast.expr, space: ast.AST, parsed: bool) -> None:
        self.parsed = parsed
        parts = [item for item in every_node(node) if isinstance(item, ast.expr)]
        self.names = {item.id for item in parts if isinstance(item, ast.Name)}
        owners = [item.value for item in parts if isinstance(item, ast.Attribute | ast.Subscript)]
        owners += [item.test for item in parts if isinstance(item, ast.IfExp)]  # a list is true by what it holds
        owners += [value for item in parts if isinstance(item, ast.BoolOp) for value in item.values]
        owners += [item.operand for item in parts if isinstance(item, ast.UnaryOp)]
        owners += [value for item in parts if isinstance(item, ast.Compare) for value in (item.left, *item.comparators)]
        self.owners = {ast.unparse(item) for item in owners}
        self.keys = {item.attr for item in parts if isinstance(item, ast.Attribute)}
        self.slices = {ast.unparse(item.slice) for item in parts if isinstance(item, ast.Subscript)}
        self.space = space
        self.above = {id(below): item for item in every_node(space) for below in ast.iter_child_nodes(item)}

    def may_change(self, node: ast.expr) -> bool:
        """Whether a reading or storing of a name, or of a part of what it stands for, may change the expression."""
        if not isinstance(node, ast.Name) or node.id not in self.names:
            stored = not isinstance(getattr(node, "ctx", None), ast.Load | None)
            named = isinstance(node, ast.Attribute) and node.attr in self.keys
            return stored and (named or (isinstance(node, ast.Subscript) and ast.unparse(node.slice) in self.slices))
        if not isinstance(node.ctx, ast.Load):
            return True
        whole, above = self._whole(node)
        if not isinstance(getattr(whole, "ctx", None), ast.Load):
            return self._is_stored_to(whole)
        if isinstance(above, ast.Call) and above.func is whole and isinstance(whole, ast.Attribute):
            return ast.unparse(whole.value) in self.owners and whole.attr not in _READING
        return ast.unparse(whole) in self.owners and not self.parsed and not self._is_told(whole, above)

    def _whole(self, node: ast.expr) -> tuple[ast.expr, ast.AST | None]:
        """The longest chain of attributes and items that begins with a name, and what it stands in."""
        above = self.above.get(id(node))
        while isinstance(above, ast.Attribute | ast.Subscript) and above.value is node:
            node, above = above, self.above.get(id(above))
        return node, above

    def _is_stored_to(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Subscript):
            return isinstance(node, ast.Attribute) and node.attr in self.keys
        written = isinstance(node.slice, ast.Constant) and all(item[:1] in "'\"" for item in self.slices)
        return not written or ast.unparse(node.slice) in self.slices

    def _is_told(self, node: ast.expr, above: ast.AST | None) -> bool:
        """Whether something is handed to what cannot change it, or copied."""
        if isinstance(above, ast.Call):
            named = isinstance(above.func, ast.Name) and above.func.id
            around = self.above.get(id(above))
            copied = isinstance(around, ast.keyword) and around.arg is None
            return (named == "vars" and (copied or self._is_only_copied(around))) or named in _TELLING
        spread = isinstance(above, ast.keyword) and above.arg is None
        return spread or isinstance(above, ast.FormattedValue | ast.Compare | ast.If | ast.IfExp)

    def _is_only_copied(self, node: ast.AST | None) -> bool:
        """Whether an assignment gives something to one name, by which it is only spread over calls."""
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return False
        name = node.targets[0].id
        uses = [item for item in every_node(self.space) if isinstance(item, ast.Name) and item.id == name]
        loads = [self.above.get(id(item)) for item in uses if isinstance(item.ctx, ast.Load)]
        return all(isinstance(item, ast.keyword) and item.arg is None for item in loads)
