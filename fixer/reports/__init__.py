"""What a command says of its result: one text in the format that was asked for."""

from __future__ import annotations

from enum import Enum

from fixer.reports.rule_text import Rules, RuleText
from fixer.result import Result

__all__ = ["OutputFormat", "RuleText", "Rules", "render"]


class OutputFormat(str, Enum):
    """The formats in which a result can be read."""

    text = "text"
    json = "json"
    markdown = "markdown"
    sarif = "sarif"
    github = "github"


def render(
    result: Result,
    format: OutputFormat,
    rules: Rules,
    *,
    color: bool = False,
    width: int | None = None,
    verbose: bool = False,
    quiet: bool = False,
) -> str:
    """The text to write on standard output, as UTF-8; it ends with a line feed unless it is empty.

    In the text format bytes of a diff that are not UTF-8 are surrogates, as `surrogateescape` makes them.

    `color`, `width` (None: not a terminal), `verbose` and `quiet` matter to the text format alone. Only the
    module of the format is loaded.
    """
    if format is OutputFormat.text:
        from fixer.reports import text

        return text.render(result, color=color, width=width, verbose=verbose, quiet=quiet)
    if format is OutputFormat.json:
        from fixer.reports import json_report

        report = json_report.render(result)
    elif format is OutputFormat.markdown:
        from fixer.reports import markdown

        report = markdown.render(result, rules)
    elif format is OutputFormat.sarif:
        from fixer.reports import sarif

        report = sarif.render(result, rules)
    else:
        from fixer.reports import github

        report = github.render(result, rules)
    return report.encode("utf-8", "replace").decode("utf-8")
