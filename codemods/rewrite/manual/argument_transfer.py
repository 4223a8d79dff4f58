"""Places where a Trainer is given a model to fit, and hands over there what manual optimization takes from neither a
configuration nor the Trainer: known when the program runs, wherever it came from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import ClassFact, Facts
from codemods.rewrite.manual.fit_sites import (
    BEFORE_FIT,
    OWN_CLI,
    FileFits,
    FitStatement,
    cli_statements,
    fit_statements,
    own_cli,
    read_fits,
)
from codemods.rule import Match, NodeEdit

if TYPE_CHECKING:
    import libcst as cst

WITHOUT = {"gradient_clip_val": "None", "accumulate_grad_batches": "1"}
"""What a Trainer is left with."""
NOTE = "# Manual optimization: the module does itself what the Trainer was given, and would refuse."
TOLD = "what the Trainer was given, the module needs"
Places = tuple[tuple[str, FitStatement], ...]


def handed(facts: Facts, fact: ClassFact, fits: Mapping[str, FileFits], wide: bool) -> Places:
    """Where all that a Trainer may give to the class can be handed to it, by path; nothing where one place is not
    plain, or no place is seen. `wide` holds where files other than the class's own may fit it."""
    found: list[tuple[str, FitStatement]] = []
    for path, here in fits.items():
        if not wide and path != fact.path:
            continue
        if any(may_be(facts, fact, path, dotted) for _, dotted in here.other):
            return ()
        found += [(path, each) for each in here.plain if may_be(facts, fact, path, each.fitted)]
    return tuple(found)


def may_be(facts: Facts, fact: ClassFact, path: str, dotted: str | None) -> bool:
    """Whether a model, of the class `dotted` where that can be seen, may be of the class or one below it."""
    known = facts.find_class(dotted, path) if dotted else None
    return known is None or known == fact or known in facts.subclasses(fact)


def handing_matches(
    file: PythonFile,
    facts: Facts,
    given: Iterable[tuple[tuple[str, ...], Places]],
    level: Fix,
    unit: str,
    told: Mapping[FitStatement, str] = MappingProxyType({}),
) -> Iterator[Match]:
    """The places of a file where something is handed over; `given` are the names of what, and the places, for each
    class, `told` are statements that stand in front of a `fit` besides."""
    wanted: dict[FitStatement, set[str]] = {}
    for names, places in given:
        for path, place in places:
            if path == file.path:
                wanted.setdefault(place, set()).update(names)
    for place in told:
        wanted.setdefault(place, set())
    here = {place.line: place for place in read_fits(file).plain if place in wanted} if wanted else {}
    statements = [(call, statement) for statement, call, _ in fit_statements(file)] if here else []
    for call, statement in [*statements, *(cli_statements(file) if here else ())]:
        found = here.get(call.node.lineno)
        left = [name for name in WITHOUT if found and name in wanted[found] and not _is_handed(file, found, name)]
        if found is None or not (left or found in told):
            continue
        sure = found.fitted is not None and facts.find_class(found.fitted, file.path) is not None
        made = f"{found.model} = {found.made}\n" if found.made else ""
        text = made + "".join(_lines(found, name, sure) for name in left) + told.get(found, "")
        note = NOTE if left else None
        own = NodeEdit(statement, partial(_behind, text=text, name=found.model if made else None, note=note), line=True)
        yield Match(
            file.span(call.node),
            f"under manual optimization Lightning 2 refuses a Trainer with {' or '.join(left)}" if left else TOLD,
            level,
            "The module gets the Trainer's value here, and does what automatic optimization did.",
            "M214",
            edits=_cli_edits(file, call, statement, text) if found.cli else (own,),
            unit=unit,
        )


def _cli_edits(file: PythonFile, call: CallNode, statement: ast.stmt, text: str) -> tuple[NodeEdit, ...]:
    """The lines at the top of `before_fit`: of the project's own class, or of one that stands before the statement and
    is called in place of LightningCLI."""
    own = own_cli(file, call)
    if own:
        return (NodeEdit(own.node, partial(_filled, lines=text)),)
    simple = not hasattr(statement, "body")
    written = f"class {OWN_CLI}({ast.unparse(call.node.func)}):\n{_method(text)}"
    return NodeEdit(call.node.func, _renamed), NodeEdit(statement, partial(_before, text=written), line=simple)


def _method(text: str) -> str:
    lines = "".join(f"        {line}\n" for line in [NOTE, *text.splitlines()])
    return f"    def {BEFORE_FIT}(self):\n{lines}"


def _filled(node: cst.ClassDef, *, lines: str) -> cst.ClassDef:
    """The class with the lines at the top of its `before_fit`."""
    import libcst as cst

    from codemods.rewrite import edits

    if not edits.has_method(node, BEFORE_FIT):
        return edits.add_method(node, "\n".join(line[4:] for line in _method(lines).splitlines()) + "\n")

    def change(method: cst.FunctionDef) -> list[cst.FunctionDef]:
        body = edits.body_of(method)
        at = edits.after_docstring(body)
        first, *rest = edits.statements(lines)
        first = first.with_changes(leading_lines=[cst.EmptyLine(comment=cst.Comment(NOTE))])
        return [edits.with_body(method, [*body[:at], first, *rest, *body[at:]])]

    return edits.change_method(node, BEFORE_FIT, change)


def _renamed(_: cst.CSTNode) -> cst.Name:
    import libcst as cst

    return cst.Name(OWN_CLI)


def _before(node: Any, *, text: str) -> cst.FlattenSentinel[Any]:
    """A class, and the statement behind it, two lines apart."""
    import libcst as cst

    from codemods.rewrite import edits

    (made,) = edits.statements(text)
    blank = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    lines = [line for line in node.leading_lines if line.comment]
    return cst.FlattenSentinel(
        [
            made.with_changes(leading_lines=blank),
            node.with_changes(leading_lines=[*blank, *lines]),
        ]
    )


def _lines(each: FitStatement, name: str, sure: bool) -> str:
    swap = f"{each.model}.{name}, {each.trainer}.{name} = {each.trainer}.{name}, {WITHOUT[name]}\n"
    if sure:
        return swap
    return f'if hasattr({each.model}, "{name}") and not {each.model}.automatic_optimization:\n    {swap}'


def _behind(
    line: cst.SimpleStatementLine, *, text: str, name: str | None, note: str | None = NOTE
) -> cst.FlattenSentinel[Any]:
    """The statements, and the line behind them, which is given the model by its new name, if it has one."""
    import libcst as cst

    from codemods.rewrite import edits

    first, *rest = edits.statements(text)
    above = [cst.EmptyLine(comment=cst.Comment(note))] if note else []
    first = first.with_changes(leading_lines=[*line.leading_lines, *above])
    line = line.with_changes(leading_lines=[])
    if name:
        (only,) = line.body
        call = cst.ensure_type(only.value, cst.Call)  # type: ignore[attr-defined]
        args = [call.args[0].with_changes(value=cst.Name(name)), *call.args[1:]]
        line = line.with_changes(body=[only.with_changes(value=call.with_changes(args=args))])
    return cst.FlattenSentinel([first, *rest, line])


def _is_handed(file: PythonFile, each: FitStatement, name: str) -> bool:
    """Whether the file hands a value over already, as an earlier rewrite does."""
    return any(
        isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == each.trainer for node in file.attributes(name)
    )
