"""SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

from fixer.reports.rule_text import Rules
from fixer.result import Result


def render(result: Result, rules: Rules) -> str:
    """The findings as one SARIF log."""
    raise NotImplementedError
