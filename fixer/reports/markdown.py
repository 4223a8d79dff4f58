"""Markdown, fit for the body of a pull request."""

from __future__ import annotations

from fixer.reports.rule_text import Rules
from fixer.result import Result


def render(result: Result, rules: Rules) -> str:
    """The whole result as Markdown."""
    raise NotImplementedError
