"""What an editor is offered to change: a place, all that a rule names in a file, all that is safe in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsprotocol import types

from codemods.engine.one_change import GONE, change_of
from codemods.engine.plan import plan
from codemods.engine.scan_cache import Memory
from codemods.finding import Finding
from fixer.server.client import Client
from fixer.server.documents import Document, as_text
from fixer.server.findings import text_of
from fixer.server.project import Look
from fixer.server.texts import Text
from fixer.settings import SharedOptions

FIX_ALL = "source.fixAll.fixer"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


@dataclass(frozen=True)
class QuickFix:
    """What is offered: `finding` is rewritten alone or, where `code` is given, all that the rule names in the document,
    else all that is safe in it. `unsafe` says that it is only probably right."""

    uri: str
    version: int | None
    title: str
    kind: str
    finding: str = ""
    code: str = ""
    unsafe: bool = False

    def data(self) -> dict[str, Any]:
        """What the editor hands back once it was chosen."""
        return dict(vars(self))


def offered(
    findings: Sequence[Finding], document: Document, range: types.Range, only: Sequence[str] | None, client: Client
) -> Iterator[tuple[QuickFix, list[Finding]]]:
    """What is offered for a part of a document, and the findings that each answers. What a person has to do is not
    among it."""
    text = text_of(document, client)
    can = [finding for finding in findings if finding.cell is None and _is_fixable(finding)]
    start, end = text.offset(range.start), text.offset(range.end)
    here = [finding for finding in can if _meets(text.offsets(finding.span), (start, end))]
    uri, version = document.uri, document.version
    if _is_asked(types.CodeActionKind.QuickFix, only):
        for finding in here:
            unsafe = finding.fix == "unsafe"
            title = f"{_named(finding.code, unsafe)}: rewrite this place"
            yield QuickFix(uri, version, title, types.CodeActionKind.QuickFix, finding.id, "", unsafe), [finding]
        for code in dict.fromkeys(finding.code for finding in here):
            unsafe = any(finding.fix == "unsafe" for finding in here if finding.code == code)
            same = [finding for finding in can if finding.code == code and (unsafe or finding.fix == "safe")]
            if len(same) > 1:
                title = f"{_named(code, unsafe)}: rewrite all {len(same)} places in this file"
                yield QuickFix(uri, version, title, types.CodeActionKind.QuickFix, "", code, unsafe), same
    if _is_asked(FIX_ALL, only) and (safe := [finding for finding in can if finding.fix == "safe"]):
        yield QuickFix(uri, version, "fixer: rewrite all that is safe in this file", FIX_ALL), safe


def edit_of(
    offer: QuickFix, look: Look, path: str, documents: Mapping[Path, Document], client: Client
) -> types.WorkspaceEdit | str:
    """The edit that does what was offered, or why it cannot be made. `path` is the document's from the root."""
    if offer.finding:
        found = (finding for finding in look.scan.findings if finding.path == path and finding.id == offer.finding)
        finding = next(filter(_is_fixable, found), None)
        made = change_of(finding, look.scan, look.options) if finding else GONE
    else:
        made = _all_in(path, offer, look)
    return made if isinstance(made, str) else _workspace_edit(made, look, documents, client)


def _all_in(path: str, offer: QuickFix, look: Look) -> Mapping[str, bytes] | str:
    """What `fixer fix` makes of a file alone, or why that is nothing."""
    select = (offer.code,) if offer.code else None
    options = replace(look.narrowed(path, SharedOptions(select=select)), unsafe=offer.unsafe)
    made = plan([*look.sources.values()], options, memory=Memory(parsed=look.scan.facts.trees.known))
    reasons = (finding.reason for finding in made.findings if finding.path == path)
    return made.final() or next(reasons, GONE)


def _workspace_edit(
    made: Mapping[str, bytes], look: Look, documents: Mapping[Path, Document], client: Client
) -> types.WorkspaceEdit | str:
    """One edit of all files that change together, with the versions of those that are open."""
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for path, data in sorted(made.items()):
        place = look.project.root / path
        document = documents.get(place)
        known = look.sources.get(path)
        if known is not None and known.kind == "notebook":
            return f"{path} changes with it, and is a notebook; `fixer fix` changes both"
        if document is not None and look.documents.get(path) != document:
            return f"{path} changes with it, and does not parse at the moment"
        if document is None and known is not None and not _is_on_disk(place, known.data):
            return f"{path} changes with it, and is another on the disk by now; save it, and ask again"
        uri = document.uri if document else place.as_uri()
        if known is None:
            if place.exists():
                return f"{path} is in the way of a file that the rewrite brings; move it away"
            changes.append(types.CreateFile(uri))
        kind: Any = known.kind if known else "python"
        before = as_text(known.data, kind) if known else ""
        if document is not None and before != document.text:
            return (
                f"{path} holds characters that its encoding does not have; change them, or the encoding that it names"
            )
        edits = Text(before, client.units, kind == "python").edits(as_text(data, kind))
        version = document.version if document else None
        changes.append(types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), [*edits]))
    if client.versions and (client.creates or all(isinstance(each, types.TextDocumentEdit) for each in changes)):
        return types.WorkspaceEdit(document_changes=changes)
    if len(changes) == 1 and isinstance(changes[0], types.TextDocumentEdit):
        edits = [edit for edit in changes[0].edits if isinstance(edit, types.TextEdit)]
        return types.WorkspaceEdit(changes={changes[0].text_document.uri: edits})
    others = ", ".join(sorted(made))
    return f"{others} change together, which this editor does not do in one step; `fixer fix` does"


def _is_on_disk(place: Path, data: bytes) -> bool:
    try:
        return place.read_bytes() == data
    except OSError:
        return False


def _is_fixable(finding: Finding) -> bool:
    """Whether a finding may be rewritten: what a person has to do is not."""
    return finding.applied or finding.fix == "unsafe"


def _named(code: str, unsafe: bool) -> str:
    return f"fixer {code} (unsafe)" if unsafe else f"fixer {code}"


def _is_asked(kind: str, only: Sequence[str] | None) -> bool:
    """Whether an editor wants actions of a kind: it names that, or one that it is a part of."""
    return only is None or any(kind == asked or kind.startswith(f"{asked}.") or not asked for asked in only)


def _meets(place: tuple[int, int], asked: tuple[int, int]) -> bool:
    return place[0] <= asked[1] and asked[0] <= place[1]
