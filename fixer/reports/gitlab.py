"""GitLab's code quality report: what stands, one entry a finding.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from typing import Any

from codemods.finding import Finding, Fix
from fixer.reports import words
from fixer.reports.fingerprint import fingerprints
from fixer.reports.rule_text import Rules
from fixer.result import Result

_SEVERITIES: dict[Fix, str] = {"safe": "minor", "unsafe": "minor", "manual": "major"}


def render(result: Result, rules: Rules) -> str:
    """The findings that the result's changes do not repair, as a JSON array."""
    named = zip(result.findings, fingerprints(result.findings), strict=True)
    entries = [_entry(finding, mark) for finding, mark in named if not words.is_done(result, finding)]
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _entry(finding: Finding, fingerprint: str) -> dict[str, Any]:
    where = "" if finding.cell is None else f"cell {finding.cell + 1}, line {finding.span.line}: "
    reason = f" ({finding.fix}: {finding.reason})" if finding.reason else ""
    return {
        "description": f"{where}{finding.message}{reason}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": "critical" if words.is_grave(finding) else _SEVERITIES[finding.fix],
        "location": {
            "path": finding.path,
            "lines": {"begin": 1 if finding.cell is not None else finding.span.line},
        },
    }
