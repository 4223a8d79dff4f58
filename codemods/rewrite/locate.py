"""From a node of `ast` to the LibCST node that stands at the same place, and the edits applied there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from itertools import pairwise
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from codemods.code.scopes import brings_lightnings
from codemods.code.source import PythonFile
from codemods.rewrite.import_statement import in_order
from codemods.rewrite.layout import laid_out
from codemods.rewrite.parts import Part, parts_of
from codemods.rewrite.respelling import at_once
from codemods.rule import NodeEdit, TextEdit

Key = tuple[type[cst.CSTNode], int, int, int, int]

KINDS: dict[type[ast.AST], type[cst.CSTNode]] = {
    ast.AnnAssign: cst.AnnAssign,
    ast.Assign: cst.Assign,
    ast.AsyncFunctionDef: cst.FunctionDef,
    ast.Attribute: cst.Attribute,
    ast.BinOp: cst.BinaryOperation,
    ast.Call: cst.Call,
    ast.ClassDef: cst.ClassDef,
    ast.Compare: cst.Comparison,
    ast.Dict: cst.Dict,
    ast.Expr: cst.Expr,
    ast.For: cst.For,
    ast.FunctionDef: cst.FunctionDef,
    ast.If: cst.If,
    ast.IfExp: cst.IfExp,
    ast.Import: cst.Import,
    ast.ImportFrom: cst.ImportFrom,
    ast.Name: cst.Name,
    ast.Return: cst.Return,
    ast.Subscript: cst.Subscript,
    ast.With: cst.With,
    ast.keyword: cst.Arg,
}
COMPOUND = (cst.ClassDef, cst.For, cst.FunctionDef, cst.If, cst.SimpleStatementLine, cst.With)


class NotLocated(Exception):
    """Not exactly one LibCST node stands where an `ast` node stands: a bug of fixer, never of the file."""


def locate(
    file: PythonFile, module: cst.Module, nodes: Iterable[ast.AST], lines: bool = False, above: int = 0
) -> dict[ast.AST, cst.CSTNode]:
    """The LibCST node of `module` for each of `nodes`, which come from `file.tree`; with `lines`, that of the line
    which each begins.

    `module` must be the parse of `file.text`, or of a part of it `above` which so many lines stand. Positions of `ast`
    are converted from UTF-8 bytes to characters; simple nodes have to match kind, start and end, classes and functions
    kind and start (their ends differ by trailing comments). Raises NotLocated.
    """
    wanted = {node: _key(file, node, cst.SimpleStatementLine if lines else KINDS[type(node)], above) for node in nodes}
    kinds = {key[0] for key in wanted.values()}
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    found: dict[Key, list[cst.CSTNode]] = {}
    for candidate, place in positions.items():
        if type(candidate) in kinds and isinstance(place, CodeRange):
            found.setdefault(_cst_key(candidate, place), []).append(candidate)
    located = {}
    for node, key in wanted.items():
        candidates = found.get(key, [])
        if len(candidates) != 1:
            raise NotLocated(f"{file.path}:{key[1]}: {len(candidates)} nodes for {type(node).__name__}")
        located[node] = candidates[0]
    return located


def _key(file: PythonFile, node: Any, kind: type[cst.CSTNode], above: int) -> Key:
    span = file.span(node)
    end = (0, 0) if issubclass(kind, COMPOUND) else (span.end_line - above, span.end_column - 1)
    return (kind, span.line - above, span.column - 1, *end)


def _cst_key(node: cst.CSTNode, place: CodeRange) -> Key:
    end = (0, 0) if isinstance(node, COMPOUND) else (place.end.line, place.end.column)
    return (type(node), place.start.line, place.start.column, *end)


class _EditTransformer(cst.CSTTransformer):
    """Changes some nodes; it goes into those `around` them alone."""

    def __init__(self, changes: dict[cst.CSTNode, list[Callable[[Any], Any]]], around: Container[cst.CSTNode]) -> None:
        super().__init__()
        self.changes, self.around = changes, around

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self.around

    def on_leave(self, original_node: cst.CSTNode, updated_node: Any) -> Any:
        updated = super().on_leave(original_node, updated_node)
        for change in self.changes.get(original_node, ()):
            updated = change(updated)
            if isinstance(original_node, cst.Call) and isinstance(updated, cst.Call):
                updated = laid_out(original_node, updated)
        if isinstance(original_node, cst.IndentedBlock) and isinstance(updated, cst.IndentedBlock):
            return _without_gap(original_node, updated)
        return updated


def _without_gap(before: cst.IndentedBlock, after: cst.IndentedBlock) -> cst.IndentedBlock:
    """The block without empty lines at its top that stood behind a statement which is gone."""
    if before.body[:1] == after.body[:1] or not before.body or not after.body or _gap(before.body[0]):
        return after
    first = after.body[0]
    lines = getattr(first, "leading_lines", ())[_gap(first) :]
    return after.with_changes(body=[first.with_changes(leading_lines=lines), *after.body[1:]]) if _gap(first) else after


def _gap(statement: cst.CSTNode) -> int:
    """How many empty lines stand directly above a statement and what is commented there."""
    lines = getattr(statement, "leading_lines", ())
    return next((index for index, line in enumerate(lines) if line.comment), len(lines))


def apply_node_edits(file: PythonFile, edits: Sequence[NodeEdit], imports: Sequence[tuple[str, str | None]]) -> str:
    """The file's text after the edits, with the missing ones of `imports` added."""
    edited = [edit.node for edit in edits]
    missing = [each for each in dict.fromkeys(imports) if not _is_imported(file, *each, edited)]
    beside = {each: line for each in missing if (line := _kin(file, *each, edited))}
    every = [*edits, *_added(beside)]
    left = [each for each in missing if each not in beside]
    parts = parts_of(file, [edit.node for edit in every], bool(left))
    if parts is not None:
        try:
            return _in_parts(file, parts, every, left)
        except Exception:  # whatever it is, it says more when it is met in the whole file
            pass
    code = _with_block(_changed(file, cst.parse_module(file.text), every), left).code
    return code + "\r" * (file.text.endswith("\r") and not code.endswith("\r"))  # LibCST drops one that ends the file


def _in_parts(
    file: PythonFile, parts: Sequence[Part], edits: Sequence[NodeEdit], missing: Sequence[tuple[str, str | None]]
) -> str:
    """The text with each part as the edits of its nodes make it. Raises ValueError where what stands around a part has
    changed with it."""
    lines = list(file.lines)
    for part in reversed(parts):
        text = "".join([part.before, *lines[part.start : part.end], part.behind])
        own = [edit for edit in edits if edit.node in part.nodes]
        module = _changed(file, cst.parse_module(text), own, part.above)
        code = _with_block(module, missing if not part.start else ()).code
        if not (code.startswith(part.before) and code.endswith(part.behind)):
            raise ValueError("the code around it has changed")
        lines[part.start : part.end] = [code[len(part.before) : len(code) - len(part.behind)]]
    return "".join(lines)


def _changed(file: PythonFile, module: cst.Module, edits: Sequence[NodeEdit], above: int = 0) -> cst.Module:
    """A module, of a file or of a part of it, after the edits."""
    changes: dict[cst.CSTNode, list[Callable[[Any], Any]]] = {}
    for lines in (False, True):
        some = [edit for edit in edits if edit.line is lines]
        located = locate(file, module, [edit.node for edit in some], lines, above) if some else {}
        for edit in some:
            changes.setdefault(located[edit.node], []).append(edit.change)
    around: set[cst.CSTNode] = set()
    _add_around(module, changes, around)
    return module.visit(_EditTransformer({node: at_once(some) for node, some in changes.items()}, around))


def _add_around(node: cst.CSTNode, wanted: Container[cst.CSTNode], around: set[cst.CSTNode]) -> bool:
    """Takes up the nodes that hold some, and those themselves; says whether this is one of them."""
    found = node in wanted
    for name in _fields_of(type(node)):
        value = getattr(node, name)
        for item in value if type(value) in (list, tuple) else (value,):
            found = (isinstance(item, cst.CSTNode) and _add_around(item, wanted, around)) or found
    if found:
        around.add(node)
    return found


@cache
def _fields_of(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _with_block(module: cst.Module, missing: Sequence[tuple[str, str | None]]) -> cst.Module:
    """The module with imports added to its first block of them, by LibCST's visitor: it is shown this block alone, and
    a line in place of the first statement behind it."""
    if not missing:
        return module
    from libcst.codemod import CodemodContext
    from libcst.codemod.visitors import AddImportsVisitor

    context = CodemodContext()
    for name, item in missing:
        AddImportsVisitor.add_needed_import(context, name, item)
    body = list(module.body)
    first = isinstance(body[0], cst.SimpleStatementLine) if body else False
    end = next((index for index, line in enumerate(body) if index >= first and not _imports_alone(line)), len(body))
    rest = body[end : end + 1]
    shown = [*body[:end], *(cst.SimpleStatementLine([cst.Pass()], line.leading_lines) for line in rest)]
    made = AddImportsVisitor(context).transform_module(module.with_changes(body=shown)).body
    own, behind = made[: len(made) - len(rest)], made[len(made) - len(rest) :]
    back = [line.with_changes(leading_lines=shown.leading_lines) for line, shown in zip(rest, behind, strict=True)]
    return module.with_changes(body=[*own, *back, *body[end + 1 :]])


def _imports_alone(line: cst.CSTNode) -> bool:
    """Whether a line is one import, and nothing else."""
    said = line.body if isinstance(line, cst.SimpleStatementLine) else ()
    return len(said) == 1 and isinstance(said[0], cst.Import | cst.ImportFrom)


def _is_imported(file: PythonFile, name: str, item: str | None, edited: Sequence[Any]) -> bool:
    """Whether a statement of the module's own body, which stays, imports it before whatever is edited. LibCST's
    visitor looks at the first block of imports alone."""
    after = [node.lineno for node in edited if not isinstance(node, ast.Import | ast.ImportFrom)]
    return any(
        (item or name, None) in [(alias.name, alias.asname) for alias in statement.names]
        and (isinstance(statement, ast.Import) if item is None else _is_from(statement, name))
        and statement not in edited
        and statement.lineno < min(after, default=0)
        for statement in file.tree.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
    )


def _kin(file: PythonFile, name: str, item: str | None, edited: Sequence[Any]) -> ast.stmt | None:
    """The import beside which one from the same package is put, None where LibCST's visitor puts it well. It stands in
    the first block of imports if it can, behind it otherwise: what lies between may have to come first (a search
    path, a filter of warnings, a variable of the environment). A package is put at its first import, what is taken
    from it behind the last that takes something, or behind the imports that stand together with it; behind a `*`, which
    may bring the same name."""
    body, package = file.tree.body, name.partition(".")[0]
    first = next((index for index, line in enumerate(body) if not _is_head(line)), len(body))
    after = min((node.lineno for node in edited if not isinstance(node, ast.Import | ast.ImportFrom)), default=0)
    lines = [line for line in body if line not in edited and line.lineno < after and line.col_offset == 0]
    every = [line for line in lines if package in _roots(line)]
    head = [line for line in every if line in body[:first]]
    kin = head or every
    taking = [line for line in kin if isinstance(line, ast.ImportFrom)]
    if item is None:
        return next(iter(kin), None) or in_order([line for line in body[:first] if line not in edited], name)
    star = next((line for line in reversed(lines) if brings_lightnings(line, file.path)), None)
    if not kin or (star and star.lineno > kin[-1].lineno):
        return star
    if same := [line for line in taking if _is_from(line, name)]:
        return None if head else same[-1]
    last = taking[-1] if taking else kin[-1]
    for line in lines[lines.index(last) + 1 :] if not taking else ():
        if not isinstance(line, ast.Import | ast.ImportFrom) or line.lineno != (last.end_lineno or 0) + 1:
            break
        last = line
    return last


def _is_head(line: ast.stmt) -> bool:
    return isinstance(line, ast.Import | ast.ImportFrom) or (
        isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
    )


def _roots(line: ast.stmt) -> set[str]:
    """The packages that a statement imports from."""
    if isinstance(line, ast.ImportFrom):
        return {(line.module or "").partition(".")[0]} if not line.level else set()
    return {alias.name.partition(".")[0] for alias in line.names} if isinstance(line, ast.Import) else set()


def _added(beside: Mapping[tuple[str, str | None], ast.stmt]) -> Iterator[NodeEdit]:
    """The edits that put imports beside others."""
    for line in dict.fromkeys(beside.values()):
        wanted: dict[str, list[str]] = {}
        packages = sorted(name for (name, item), other in beside.items() if other is line and item is None)
        for (name, item), other in beside.items():
            if other is line and item is not None:
                wanted.setdefault(name, []).append(item)
        ahead = all(_is_ahead(line, name) for name in packages)
        yield NodeEdit(line, partial(_with_imports, packages, wanted, ahead=ahead), line=True)


def _is_ahead(line: ast.stmt, name: str) -> bool:
    """Whether a package is imported in front of a line: that takes from it alone, or comes behind it in order; a
    package inside of one that the line imports comes behind that."""
    if isinstance(line, ast.Import) and any(name.startswith(f"{alias.name}.") for alias in line.names):
        return False
    later = isinstance(line, ast.Import) and name < line.names[0].name and in_order([line], name) is not None
    return later or _roots(line) == {name.partition(".")[0]}


def _with_imports(
    packages: Sequence[str], wanted: Mapping[str, Sequence[str]], node: cst.SimpleStatementLine, *, ahead: bool
) -> cst.FlattenSentinel[cst.BaseStatement]:
    """The line with names added where it imports from their module in one line, the others on lines behind it, and
    packages ahead of it or behind."""
    left = dict(wanted)
    first = node.body[0]
    if isinstance(first, cst.ImportFrom) and not first.lpar and not isinstance(first.names, cst.ImportStar):
        same = left.pop(cst.Module([]).code_for_node(first.module) if first.module else "", ())
        names = [*first.names, *(cst.ImportAlias(cst.Name(item)) for item in same)]
        node = node.with_changes(body=[first.with_changes(names=names), *node.body[1:]])
    whole = [_parsed(f"import {name}") for name in packages]
    lines = [_parsed(f"from {name} import {', '.join(sorted(items))}") for name, items in sorted(left.items())]
    if not ahead or not whole:
        return cst.FlattenSentinel([node, *whole, *lines])
    top = whole[0].with_changes(leading_lines=node.leading_lines)
    return cst.FlattenSentinel([top, *whole[1:], node.with_changes(leading_lines=()), *lines])


def _parsed(line: str) -> cst.SimpleStatementLine:
    return cst.ensure_type(cst.parse_statement(f"{line}\n"), cst.SimpleStatementLine)


def _is_from(statement: ast.stmt, module: str) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == module and not statement.level


def apply_text_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """The text after the replacements. Raises ValueError where two overlap."""
    ordered = sorted(set(edits), key=lambda edit: (edit.start, edit.end))
    if any(first.end > second.start for first, second in pairwise(ordered)):
        raise ValueError("overlapping edits")
    for edit in reversed(ordered):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    return text
