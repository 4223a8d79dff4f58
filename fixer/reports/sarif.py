"""SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote, unquote

from codemods.finding import Finding
from fixer import __version__
from fixer.reports import words
from fixer.reports.causes import causes
from fixer.reports.fingerprint import fingerprints, joined
from fixer.reports.replacements import replacements
from fixer.reports.rule_text import Rules, RuleText
from fixer.result import Result
from verify.evidence import Outcome

Json = dict[str, Any]
Level = Literal["none", "note", "warning", "error"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_WITH_FIX = 20
"""So many findings of a file carry its change: each carries all of it."""
_OUTCOME_LEVELS: dict[Outcome, Level] = {
    "repaired": "note",
    "preserved": "note",
    "repaired in part": "note",
    "preserved in part": "note",
    "not executed": "note",
    "changed": "warning",
    "inconclusive": "warning",
    "regressed": "error",
}


def render(result: Result, rules: Rules) -> str:
    """The findings as one SARIF log."""
    return json.dumps(document(result, rules), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def document(result: Result, rules: Rules) -> Json:
    """The log as plain dicts and lists. What stands is a warning, what is repaired a note."""
    codes = sorted({finding.code for finding in result.findings})
    run: Json = {
        "tool": {
            "driver": {
                "name": "fixer",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code, rules.get(code)) for code in codes],
            }
        },
        "invocations": [_invocation(result)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the project."}}},
        "columnKind": "unicodeCodePoints",
        "results": _results(result, rules, codes),
        "properties": {"command": result.command, "base": result.base, "target": result.target},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, rule: RuleText | None) -> Json:
    if rule is None:
        return {"id": code, "defaultConfiguration": {"level": "warning"}}
    text = f"{rule.why}\n\nRepair: {rule.fix}."
    described: Json = {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": text, "markdown": f"**{code} {rule.name}**: {rule.summary}\n\n{text}"},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["lightning", "migration"], "fix": rule.fix},
    }
    return {**described, "helpUri": rule.url} if rule.url else described


def _results(result: Result, rules: Rules, codes: Sequence[str]) -> list[Json]:
    results = []
    fixes = _fixes(result)
    marks = dict(zip(map(id, result.findings), fingerprints(result.findings), strict=True))
    for cause in causes(result.findings, rules):
        finding = cause.first
        done = words.is_done(result, finding)
        properties = {"fix": finding.fix, "reason": finding.reason, "applied": done, "finding": finding.id}
        if finding.row is not None:
            properties["row"] = finding.row
        grave = any(map(words.is_grave, cause.places))
        others = [{**_location(place), "message": {"text": _message(place)}} for place in cause.places[1:]]
        changes = [fixes[place.id] for place in cause.places if place.id in fixes]
        results.append(
            {
                "ruleId": finding.code,
                "ruleIndex": codes.index(finding.code),
                "level": "note" if done else "error" if grave else "warning",
                "message": {"text": _message(finding)},
                "locations": [_location(finding)],
                "partialFingerprints": {"fixerFinding/v2": joined(marks[id(place)] for place in cause.places)},
                "properties": properties,
                **({"relatedLocations": others} if others else {}),
                **({"fixes": [_fix(changes)]} if changes else {}),
            }
        )
    return results


def _fixes(result: Result) -> dict[str, Json]:
    """What would repair the files, by finding: none for `check`, which rewrites nothing, and none after `fix`."""
    fixes: dict[str, Json] = {}
    for file in result.files if result.command != "fix" else ():
        made = replacements(file.diff)
        change = {"artifactLocation": _artifact(file.path), "replacements": made}
        applied = [finding.id for finding in result.findings if finding.applied and finding.path == file.path]
        fixes |= {id: change for id in applied[:_WITH_FIX] if made}
    return fixes


def _fix(changes: Sequence[Json]) -> Json:
    """All that is changed in the files of a finding."""
    by_file = {change["artifactLocation"]["uri"]: change for change in changes}
    files = ", ".join(map(unquote, by_file))
    told = f"All that fixer changes in {files}; other files may have to change with it (`fixer fix`)."
    return {"description": {"text": told}, "artifactChanges": list(by_file.values())}


def _message(finding: Finding) -> str:
    where = "" if finding.cell is None else f"Cell {finding.cell + 1}, line {finding.span.line}: "
    return f"{where}{finding.message}" + (f" ({finding.fix}: {finding.reason})" if finding.reason else "")


def _location(finding: Finding) -> Json:
    """The place; in a notebook the file alone, since lines of a cell are not lines of the file."""
    physical: Json = {"artifactLocation": _artifact(finding.path)}
    if finding.cell is None:
        span = finding.span
        physical["region"] = {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        }
    return {"physicalLocation": physical}


def _artifact(path: str) -> Json:
    return {"uri": quote(path, safe="/", errors="replace"), "uriBaseId": _ROOT}


def _invocation(result: Result) -> Json:
    told = [_notification("error", result.error)] if result.error is not None else []
    told += [
        _notification(_OUTCOME_LEVELS[item.outcome], f"Proof of {item.group}: {item.outcome}: {item.reason}")
        for item in result.evidence
    ]
    told += [_notification("warning", f"Not read: {item.reason}", item.path) for item in result.skipped]
    told += [_notification("note", message) for message in result.messages]
    return {"executionSuccessful": result.error is None, "toolExecutionNotifications": told}


def _notification(level: Level, text: str, path: str | None = None) -> Json:
    notification: Json = {"level": level, "message": {"text": text}}
    if path is not None:
        notification["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(path)}}]
    return notification
