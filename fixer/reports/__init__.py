"""What a command says of its result: one text in the format that was asked for."""

from __future__ import annotations

from enum import Enum
from importlib import import_module

from fixer.reports.rule_text import Rules, RuleText
from fixer.reports.style import Style
from fixer.result import Result

__all__ = ["OutputFormat", "RuleText", "Rules", "Style", "render"]


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
    dotenv = "dotenv"


_MODULES = {
    OutputFormat.json: "json_report",
    OutputFormat.markdown: "markdown",
    OutputFormat.html: "html_report",
    OutputFormat.sarif: "sarif",
    OutputFormat.github: "github",
    OutputFormat.gitlab: "gitlab",
    OutputFormat.junit: "junit",
    OutputFormat.dotenv: "dotenv",
}

PLAIN = Style()


def render(result: Result, format: OutputFormat, rules: Rules, style: Style = PLAIN) -> str:
    """The text to write on standard output, as UTF-8; it ends with a line feed unless it is empty.

    In the text format bytes of a diff that are not UTF-8 are surrogates, as `surrogateescape` makes them. Only the
    module of the format is loaded; `style` matters to the text format alone.
    """
    if format is OutputFormat.text:
        from fixer.reports import text

        return text.render(result, rules, style)
    report: str = import_module(f"fixer.reports.{_MODULES[format]}").render(result, rules)
    return report.encode("utf-8", "replace").decode("utf-8")
