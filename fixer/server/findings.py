"""Findings as an editor shows them: diagnostics, and what is told of one where the pointer rests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsprotocol import types

from codemods.finding import Finding, Fix
from fixer.reports.rule_text import RuleText
from fixer.reports.rules import page
from fixer.server.client import Client
from fixer.server.documents import Document
from fixer.server.texts import Text

SOURCE = "fixer"
_CODE_OR_SIGN = re.compile(r"(`[^`\n]+`)|([\\*_#<>\[\]|~`])")
SEVERITIES: dict[Fix, types.DiagnosticSeverity] = {
    "safe": types.DiagnosticSeverity.Information,
    "unsafe": types.DiagnosticSeverity.Warning,
    "manual": types.DiagnosticSeverity.Warning,
}
"""How grave a finding is by its level; one that stops the program, and that no safe repair ends, is an error."""


def severity(finding: Finding) -> types.DiagnosticSeverity:
    """How grave a finding is."""
    if finding.stops and finding.fix != "safe":
        return types.DiagnosticSeverity.Error
    return SEVERITIES[finding.fix]


def text_of(document: Document, client: Client) -> Text:
    """The text of a document, as the editor counts it and as findings do."""
    return Text(document.text, client.units, document.path.suffix == ".py")


def diagnostics(
    findings: Sequence[Finding], document: Document, rules: dict[str, RuleText], client: Client
) -> list[types.Diagnostic]:
    """What was found in a document; of a notebook, whose lines are those of its cells, nothing."""
    text = text_of(document, client)
    return [_diagnostic(finding, text, rules, client) for finding in findings if finding.cell is None]


def _diagnostic(finding: Finding, text: Text, rules: dict[str, RuleText], client: Client) -> types.Diagnostic:
    url = rules[finding.code].url if finding.code in rules and client.links else None
    return types.Diagnostic(
        range=text.range(finding.span),
        severity=severity(finding),
        code=finding.code,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
        message=f"{finding.message}\n{finding.fix}: {finding.reason}",
        data={"finding": finding.id, "level": finding.fix},
    )


def hover(
    findings: Sequence[Finding], document: Document, position: types.Position, client: Client
) -> types.Hover | None:
    """What was found at a place, and the pages of its rules."""
    text = text_of(document, client)
    offset = text.offset(position)
    here = [finding for finding in findings if finding.cell is None and _covers(text.offsets(finding.span), offset)]
    if not here:
        return None
    pages = {finding.code: page(finding.code) for finding in here}
    said = "\n\n".join(f"{finding.code}: {finding.message}\n\n{finding.fix}: {finding.reason}" for finding in here)
    kind = types.MarkupKind.PlainText
    parts = [said, *pages.values()]
    if client.markdown:
        kind = types.MarkupKind.Markdown
        parts = [_plain(said), *(f"````text\n{shown}````" for shown in pages.values())]
    return types.Hover(types.MarkupContent(kind, "\n\n".join(parts)), text.range(here[0].span))


def _covers(place: tuple[int, int], offset: int) -> bool:
    return place[0] <= offset < max(place[1], place[0] + 1)


def _plain(text: str) -> str:
    """Markdown that shows a text as it is, but for what is code in it."""
    return _CODE_OR_SIGN.sub(lambda found: found[1] or f"\\{found[2]}", text)
