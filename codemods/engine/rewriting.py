"""What the edits of a rule make of one file, or why that is thrown away."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codemods.code.parsed_files import load
from codemods.code.source import PythonFile, Source, TextFile, Unreadable
from codemods.code.unbound import lost, lost_in_scope
from codemods.engine.passes import matches
from codemods.engine.triggers import sees_text
from codemods.engine.workspace import Options
from codemods.lightning.facts import Facts
from codemods.rewrite.left_over import left_over
from codemods.rule import Match, NodeEdit, Rule, TextEdit

DEEP = "its code nests too deeply"
"""Why a rewrite is left out that LibCST cannot make; no fault of the rule."""


@dataclass(frozen=True)
class RequestedRewrite:
    """What is to be rewritten in a file, and the file that it was found in; None for one that cannot be read. `found`
    is all that was found there, and `refused` how much of it could be rewritten, and is not to be."""

    file: PythonFile | TextFile | None
    matches: Sequence[Match]
    found: Sequence[Match] = ()
    refused: int = 0


@dataclass(frozen=True)
class RewrittenFile:
    """What a file becomes: the bytes, and the file as the rule looked at it."""

    data: bytes
    file: PythonFile | TextFile


def rewritten(
    rule: Rule, source: Source, wanted: RequestedRewrite, facts: Facts, options: Options
) -> RewrittenFile | str:
    """What a file becomes, or the reason why it stays as it is."""
    assert wanted.file is not None
    try:
        after = wanted.file.encode(edited(wanted.file, wanted.matches))
    except Exception as error:
        return DEEP if _is_deep(error) else f"{type(error).__name__}: {error}"
    result = replace(source, data=after)
    try:
        file = load(result, sees_text(rule, source))
        if isinstance(file, PythonFile) and isinstance(wanted.file, PythonFile) and source.kind == "python":
            file = _tidied(wanted.file, file, facts)
            after = file.encode(file.text)
            name = lost(wanted.file, file) or lost_in_scope(wanted.file, file)
            if name:
                return f"the result reads `{name}`, which nothing binds any more"
            if not _compiles(after) and _compiles(source.data):
                _compile(after)
    except RecursionError:
        return DEEP
    except (SyntaxError, ValueError, Unreadable) as error:
        return f"the result does not parse: {error}"
    if after == source.data:
        return "the rewrite changed nothing"
    if sum(options.applies(rule.code, match) for match in matches(rule, file, facts, options)) > wanted.refused:
        return "the rule would change its own result again"
    return RewrittenFile(after, file)


def _tidied(before: PythonFile, after: PythonFile, facts: Facts) -> PythonFile:
    """A rewritten file without what it binds and no longer reads."""
    from codemods.rewrite.locate import apply_text_edits

    while edits := left_over(before, after, facts):
        after = PythonFile.parse(Source(after.path, "python", after.encode(apply_text_edits(after.text, edits))))
    return after


def fresh(rule: Rule, source: Source, facts: Facts, options: Options) -> list[Match]:
    """What a rule finds in a file as if it were seen for the first time; nothing where it cannot be read."""
    try:
        return matches(rule, load(source, sees_text(rule, source)), facts, options)
    except Unreadable:
        return []


def edited(file: PythonFile | TextFile, found: Sequence[Match]) -> str:
    """The text of a file with what is to be rewritten. Raises ValueError where that cannot be made."""
    from codemods.rewrite.locate import apply_node_edits, apply_text_edits

    edits = [edit for match in found for edit in match.edits]
    nodes = [edit for edit in edits if isinstance(edit, NodeEdit)]
    texts = [edit for edit in edits if isinstance(edit, TextEdit)]
    imports = [item for match in found for item in match.imports]
    if not isinstance(file, PythonFile) or (texts and not nodes):
        if imports:
            raise ValueError("imports go with edits of nodes alone")
        return apply_text_edits(file.text, texts)
    if texts:
        raise ValueError("edits of nodes and of text do not go together")
    return apply_node_edits(file, nodes, imports)


def _is_deep(error: BaseException) -> bool:
    """Whether an error comes of code that nests too deeply; LibCST may fail otherwise on its way out."""
    every: list[BaseException | None] = [error]
    while every[-1] is not None:
        every.append(every[-1].__cause__ or every[-1].__context__)
    return any(isinstance(item, RecursionError) for item in every)


def _compiles(data: bytes) -> bool:
    """Whether Python takes a file, which asks for more than its grammar: no two parameters of a name, no stray
    `return`."""
    try:
        _compile(data)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _compile(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, "<file>", "exec", dont_inherit=True)
