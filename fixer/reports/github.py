"""GitHub workflow commands: an annotation for each finding, and for what the run has to say besides.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from typing import Literal

from codemods.finding import Finding
from fixer.readiness import Readiness
from fixer.reports import words
from fixer.reports.causes import Cause, causes
from fixer.reports.rule_text import Rules
from fixer.result import Result
from verify.evidence import Outcome

Level = Literal["notice", "warning", "error"]

_SHOWN = 10

_LEVELS: dict[Outcome, Level] = {
    "repaired": "notice",
    "preserved": "notice",
    "repaired in part": "notice",
    "preserved in part": "notice",
    "not executed": "notice",
    "changed": "warning",
    "inconclusive": "warning",
    "regressed": "error",
}


def render(result: Result, rules: Rules) -> str:
    """One command a line. What stands comes first, since GitHub shows ten annotations of a level a step."""
    lines = [_command("error", result.error, title="fixer")] if result.error is not None else []
    for evidence in result.evidence:
        level = _LEVELS[evidence.outcome]
        lines.append(_command(level, evidence.reason, title=f"{evidence.group}: {evidence.outcome}"))
    if result.readiness is not None:
        lines.append(_ready(result.readiness))
    for done in (False, True):
        items = (item for item in result.findings if words.is_done(result, item) is done)
        lines += [_annotation(cause, rules, done) for cause in causes(items, rules)]
    for skipped in result.skipped:
        lines.append(_command("notice", skipped.reason, file=skipped.path, title="fixer: not read"))
    lines += [_command("notice", message, title="fixer") for message in result.messages]
    return "".join(f"{line}\n" for line in lines)


def _ready(answer: Readiness) -> str:
    told = [f"{stop.place}: {stop.what}" for stop in answer.stops[:_SHOWN]]
    more = [f"and {len(answer.stops) - _SHOWN} more"] if len(answer.stops) > _SHOWN else []
    level: Level = "notice" if answer.ready else "warning"
    return _command(level, "\n".join([answer.headline, *told, *more]), title="fixer: ready to merge?")


def _annotation(cause: Cause, rules: Rules, done: bool) -> str:
    finding = cause.first
    rule = rules.get(finding.code)
    state = f"{finding.fix}, applied" if done else finding.fix
    message = f"{finding.message}\n{state}: {finding.reason}" if finding.reason else f"{finding.message}\n{state}"
    if finding.cell is not None:
        message = f"cell {finding.cell + 1}, line {finding.span.line}: {message}"
    message = "\n".join([message, *words.further(cause, _SHOWN)])
    return _command(
        "notice" if done else "error" if any(map(words.is_grave, cause.places)) else "warning",
        message,
        file=finding.path,
        **_region(finding),
        title=f"{finding.code} {rule.name}" if rule else finding.code,
    )


def _region(finding: Finding) -> dict[str, str]:
    """The lines, and the columns where they mean something: within one line, and not in a notebook's JSON."""
    span = finding.span
    if finding.cell is not None:
        return {}
    lines = {"line": str(span.line), "endLine": str(span.end_line)}
    if span.line != span.end_line:
        return lines
    return {**lines, "col": str(span.column), "endColumn": str(span.end_column)}


def _command(level: Level, message: str, **properties: str) -> str:
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
