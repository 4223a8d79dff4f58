"""Edits of what the normal form of a file spells otherwise: the text takes over that spelling with the edit."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

from codemods.code.conditions import ALWAYS
from codemods.code.contexts import GRADIENTS, IDLE, MARKS
from codemods.code.effects import BUILTINS
from codemods.code.folding import CHANGED, KINDS
from codemods.code.nodes import DOING, every_node
from codemods.code.source import PythonFile
from codemods.code.tree_copies import made_of, written_as
from codemods.rule import NodeEdit, TextEdit, part_of

MOVING = frozenset({"lightning", "lightning_fabric", "pytorch_lightning", "torchmetrics"})
"""Packages of which names go and move."""
STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return)
WORKING = (*DOING, ast.Lambda)
IDLE_CONTEXTS = frozenset(name.rpartition(".")[2] for name in (*IDLE, *MARKS, *GRADIENTS))
HANDING = IDLE_CONTEXTS | CHANGED | {
    "getattr", "partial", "cast", "get", "format", "join", "attrgetter", "itemgetter", "methodcaller",
}  # fmt: skip
QUIET = BUILTINS | KINDS.keys() | {"range", "next", "iter", "abs"}
"""Functions that hand something on where the normal form does without them, or that only look at something."""
FIRM = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript)
"""What needs no brackets wherever it stands."""


def respelled(edit: NodeEdit, own: ast.AST, file: PythonFile, written: Container[int]) -> NodeEdit | None:
    """The edit of an expression or simple statement as one of the node `own` that it was made of; None where the text
    would do something else then, or lose a comment."""
    seen: Any = edit.node
    both_expressions = isinstance(own, ast.expr) and isinstance(seen, ast.expr)
    whole = part_of(edit.change) == "spelled"
    if not both_expressions and not (type(own) is type(seen) and (whole or isinstance(own, STATEMENTS))):
        return None
    source = file.source_of(own)
    if whole and "#" in source:
        return None
    if any(getattr(node, "named_by_class", False) for node in every_node(seen)):
        return None  # the class of the project is called still
    if edit.line and ";" in file.lines[own.lineno - 1]:  # type: ignore[attr-defined]
        return None
    if not _stands_within(seen, own, file) or not _does_the_same(seen, own, written) or not _is_known(seen, own, file):
        return None
    text = ast.unparse(seen) if whole else _Speller(file, written).spelled(own, seen)
    if text is None:
        return None
    indent = _indent(own, file, text)
    if whole:
        text = text.replace("\n", f"\n{indent}")
    return replace(edit, node=own, change=Respelled(edit.change, source, text, edit.line, indent))


def _indent(own: Any, file: PythonFile, text: str) -> str:
    """The white space before the innermost statement around a node, where its text goes over several lines."""
    if "\n" not in text:
        return ""
    around = [node for node in every_node(file.tree) if isinstance(node, ast.stmt) and _is_inside(own, node)]
    line = file.lines[max(around, key=lambda node: node.col_offset).lineno - 1]
    return line[: len(line) - len(line.lstrip())]


def _stands_within(seen: ast.AST, own: Any, file: PythonFile) -> bool:
    """Whether all that an expression or statement says stands where it stood, but for what stays the same in any
    release and may be said once more."""
    start, end = (own.lineno, own.col_offset), (own.end_lineno, own.end_col_offset)
    outside = [
        node
        for node in every_node(seen)
        if isinstance(node, ast.expr)
        and not (
            start <= (int(node.lineno), node.col_offset)
            and (int(node.end_lineno or 0), node.end_col_offset or 0) <= end
        )
    ]
    if not outside:
        return True
    others = _other_modules(file)
    chains = [node for node in every_node(seen) if isinstance(node, ast.Attribute) and _stays(node, others)]
    staying = {id(item) for chain in chains for item in every_node(chain)}
    return all(id(node) in staying for node in outside)


def _other_modules(file: PythonFile) -> set[str]:
    """The names of the file for modules and what is in them, but for those of Lightning."""
    found = set()
    for node in file.imports:
        for alias in node.names:
            module = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
            if module.partition(".")[0] not in MOVING and not getattr(node, "level", 0):
                found.add(alias.asname or alias.name.partition(".")[0])
    return found


def _stays(node: ast.Attribute, others: Container[str]) -> bool:
    """Whether a chain of attributes is one of a module of others, or a method that every release has."""
    if node.attr in ALWAYS and isinstance(node.value, ast.Name):
        return node.value.id == "self"
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in others


def _does_the_same(seen: ast.AST, own: ast.AST, written: Container[int]) -> bool:
    """Whether all that does something in the text is done once and in the same order; what hands something on alone,
    as `getattr` by a constant, `partial` and a lambda called at once do, may be gone."""
    done: list[int] = []
    for node in _in_order(seen):
        one = made_of(node, written) or next(iter(written_as(node, written)), None)
        if one is None or type(one) is not type(node):
            return False
        done.append(id(one))
    there = list(_in_order(own))
    kept = [id(node) for node in there if id(node) in set(done)]
    gone = [node for node in there if id(node) not in set(done)]
    return kept == done and all(_hands_on(node) for node in gone)


def _in_order(node: Any) -> Iterator[ast.AST]:
    """What does something in an expression or statement, in the order in which it is done; of a lambda that is not
    called at once, nothing in it."""
    if not isinstance(node, ast.Lambda):
        children: list[Any] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Assign):
            children = [node.value, *node.targets]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Lambda):
            children = [*node.args, *node.keywords, node.func.body]
        elif isinstance(node, ast.IfExp):
            children = [node.test, node.body, node.orelse]
        elif isinstance(node, ast.Dict):
            children = [item for pair in zip(node.keys, node.values, strict=True) for item in pair if item]
        for item in children:
            yield from _in_order(item)
    if isinstance(node, WORKING):
        yield node


def _hands_on(node: ast.AST) -> bool:
    """Whether a call or lambda that is gone does nothing itself."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Call):
        return _hands_on(function)
    if isinstance(function, ast.Name):
        return function.id in HANDING or function.id in QUIET
    return isinstance(function, ast.Lambda) or getattr(function, "attr", None) in HANDING


def _is_known(seen: ast.AST, own: Any, file: PythonFile) -> bool:
    """Whether names that the text does not say there stand for the same in it: those of the same function, which no
    other one around has."""
    said = {node.id for node in every_node(own) if isinstance(node, ast.Name)}
    new = {node.id for node in every_node(seen) if isinstance(node, ast.Name)} - said
    if not new:
        return True
    around = [
        node
        for node in every_node(file.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef)
        and node.lineno <= own.lineno <= (node.end_lineno or 0)
    ]
    functions = [node for node in around if not isinstance(node, ast.ClassDef)]
    if len(functions) != 1 or isinstance(functions[0], ast.Lambda):
        return not functions
    known = {item.arg for item in every_node(functions[0].args) if isinstance(item, ast.arg)}
    known |= {
        node.id for node in every_node(functions[0]) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return new <= known | _other_modules(file)


class _Speller:
    """Spells nodes of a normal form with the words of the text as far as it has them."""

    def __init__(self, file: PythonFile, written: Container[int]) -> None:
        self.file, self.written = file, written

    def spelled(self, own: Any, seen: Any) -> str | None:
        """The text of a node, with what is spelled otherwise instead of what it stands for; None where that would take
        a comment away."""
        text, (start, end) = self.file.text, self.file.offsets(own)
        for (first, last), new in sorted(self.splices(own, seen), reverse=True):
            if "#" in self.file.text[first:last]:
                return None
            text = text[:first] + new + text[last:]
            end += len(new) - (last - first)
        return text[start:end]

    def splices(self, own: Any, seen: Any) -> list[tuple[tuple[int, int], str]]:
        """What to put where in the text of `own` so that it says `seen`."""
        if own is seen:
            return []
        if isinstance(own, ast.Call) and isinstance(seen, ast.Call):
            found = self.splices(own.func, seen.func)
            given = self.arguments(own, seen)
            return [(self.file.offsets(own), self.text(seen))] if given is None else [*found, *given]
        if type(own) is type(seen) and isinstance(
            own, ast.Expr | ast.Assign | ast.Return | ast.Attribute | ast.keyword
        ):
            fields = ((value, getattr(seen, name)) for name, value in ast.iter_fields(own) if name != "ctx")
            both = [(one, other) for one, other in fields if not (one is other or one == other)]
            if all(isinstance(one, ast.AST) and isinstance(other, ast.AST) for one, other in both):
                return [item for one, other in both for item in self.splices(one, other)]
        return [(self.file.offsets(own), self.firm(seen) if isinstance(own, ast.expr) else self.text(seen))]

    def arguments(self, own: ast.Call, seen: ast.Call) -> list[tuple[tuple[int, int], str]] | None:
        """The same of the arguments of a call; None where they do not stand where they stood. What `*` or `**` brings
        nothing by stays, since its owner may fill it another time."""
        left: list[Any] = [*seen.args, *seen.keywords]
        found = []
        items: list[Any] = [*own.args, *own.keywords]
        for item in items:
            start, end = self.file.offsets(item)
            inside = [new for new in left if start <= self.file.offsets(new)[0] and self.file.offsets(new)[1] <= end]
            if not inside:
                if not _may_be_filled(item):
                    return None
                continue
            left = [new for new in left if new not in inside]
            if inside == [item]:
                continue
            if len(inside) == 1 and type(inside[0]) is type(item) is ast.keyword and inside[0].arg == item.arg:
                found += self.splices(item.value, inside[0].value)
            else:
                found.append(((start, end), ", ".join(map(self.given, inside))))
        return None if left else found

    def text(self, node: Any) -> str:
        if id(node) in self.written:
            return self.file.source_of(node)
        if isinstance(node, ast.Expr):
            return self.text(node.value)
        if isinstance(node, ast.Return) and node.value:
            return f"return {self.text(node.value)}"
        if isinstance(node, ast.Assign):
            return " = ".join(self.text(item) for item in (*node.targets, node.value))
        if isinstance(node, ast.Attribute):
            return f"{self.firm(node.value)}.{node.attr}"
        if isinstance(node, ast.Call):
            return f"{self.firm(node.func)}({', '.join(map(self.given, (*node.args, *node.keywords)))})"
        return ast.unparse(node)

    def firm(self, node: ast.expr) -> str:
        return self.text(node) if isinstance(node, FIRM) else f"({self.text(node)})"

    def given(self, node: Any) -> str:
        """An argument of a call."""
        if isinstance(node, ast.Starred):
            return f"*{self.firm(node.value)}"
        if isinstance(node, ast.keyword):
            return f"{node.arg}={self.text(node.value)}" if node.arg else f"**{self.firm(node.value)}"
        return self.text(node)


def _may_be_filled(item: Any) -> bool:
    """Whether an argument is what `*` or `**` brings of a name."""
    spread = isinstance(item, ast.Starred) or getattr(item, "arg", "") is None
    return spread and any(isinstance(node, ast.Name) for node in every_node(item.value))


def torn(edits: Sequence[NodeEdit | TextEdit]) -> set[int]:
    """Those edits that spell a node otherwise inside of which another edit changes something, by their places."""
    placed = [(index, item.node) for index, item in enumerate(edits) if isinstance(item, NodeEdit)]
    found = set()
    for index, node in placed:
        change = edits[index].change  # type: ignore[union-attr]
        if isinstance(change, Respelled) and any(
            other is not node and _is_inside(other, node) for place, other in placed if place != index
        ):
            found.add(index)
    return found


def _is_inside(one: Any, other: Any) -> bool:
    start, end = (one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset)
    return (other.lineno, other.col_offset) <= start and end <= (other.end_lineno, other.end_col_offset)


def at_once(changes: list[Callable[[Any], Any]]) -> list[Callable[[Any], Any]]:
    """The changes of one node, which is spelled otherwise once."""
    spelled = [item for item in changes if isinstance(item, Respelled)]
    if not spelled or len({item.text for item in spelled}) > 1:
        return changes
    rest = [item.change if isinstance(item, Respelled) else item for item in changes if item is not spelled[0]]
    return [spelled[0], *rest]


class Respelled:
    """A change that is made of another spelling of a node."""

    def __init__(self, change: Callable[[Any], Any], source: str, text: str, line: bool, indent: str) -> None:
        self.change, self.source, self.text, self.line, self.indent = change, source, text, line, indent

    def __call__(self, node: Any) -> Any:
        import libcst as cst

        now = node if not self.line else node.body[0]
        if _lines(cst.Module([]).code_for_node(_bare(now))) != _lines(self.source):
            raise ValueError("two edits of one place, which is written indirectly")
        if isinstance(node, cst.BaseExpression):
            made: Any = self._statement(f"({self.text})").body[0].value  # it may go over several lines, as in the text
            lpar, rpar = [*node.lpar, *made.lpar[1:]], [*made.rpar[:-1], *node.rpar]
            return self.change(made.with_changes(lpar=lpar, rpar=rpar))
        whole = self._statement(self.text)
        if not isinstance(whole, cst.SimpleStatementLine):
            return self.change(whole.with_changes(leading_lines=node.leading_lines))
        line = whole
        if not self.line:
            return self.change(line.body[0].with_changes(semicolon=node.semicolon))
        return self.change(
            line.with_changes(leading_lines=node.leading_lines, trailing_whitespace=node.trailing_whitespace)
        )

    def _statement(self, text: str) -> Any:
        """A statement as it is at its depth."""
        import libcst as cst

        if not self.indent:
            return cst.parse_statement(f"{text}\n")
        block: Any = cst.parse_module(f"if 1:\n{self.indent}{text}\n").body[0]
        return block.body.body[0]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _bare(node: Any) -> Any:
    """A node without what stands around it."""
    if hasattr(node, "semicolon"):
        import libcst as cst

        return node.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(lpar=(), rpar=()) if getattr(node, "lpar", None) else node
