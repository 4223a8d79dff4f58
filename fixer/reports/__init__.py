"""What a command says of its result: one text in the format that was asked for."""

from __future__ import annotations

from enum import Enum
from importlib import import_module

from fixer.reports.rule_text import Rules, RuleText
from fixer.result import Result

__all__ = ["OutputFormat", "RuleText", "Rules", "render"]


class OutputFormat(str, Enum):
    """The formats in which a result can be read."""

    text = "text"
    json = "json"
    markdown = "markdown"
    html = "html"
    sarif = "sarif"
    github = "github"
    gitlab = "gitlab"
    junit = "junit"


_MODULES = {
    OutputFormat.json: "json_report",
    OutputFormat.markdown: "markdown",
    OutputFormat.html: "html_report",
    OutputFormat.sarif: "sarif",
    OutputFormat.github: "github",
    OutputFormat.gitlab: "gitlab",
    OutputFormat.junit: "junit",
}


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
    report: str = import_module(f"fixer.reports.{_MODULES[format]}").render(result, rules)
    return report.encode("utf-8", "replace").decode("utf-8")
