"""The rules themselves, for people: a table of all, and a page of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import unified_diff
from textwrap import fill, indent
from typing import get_args

from codemods.finding import Fix
from codemods.rule import Example, Rule, all_rows, all_rules, others_rules
from fixer.errors import UnknownRow, UnknownRule, UsageError
from fixer.reports.glossary import WORDS, entry
from fixer.reports.markdown import fence


def table(words: Sequence[str] = ()) -> str:
    """One line a rule: code, the best level of its repair, name and summary; only those that hold every word.

    Raises UsageError where none does.
    """
    rules = _holding(words)
    width = max(len(rule.name) for rule in rules)
    return "".join(f"{rule.code}  {rule.fix:<6}  {rule.name:<{width}}  {rule.summary}\n" for rule in rules)


def as_json(words: Sequence[str] = ()) -> str:
    """The same rules with all that is said of each, as one JSON list. Raises UsageError where there is none."""
    told = [
        {
            "code": rule.code,
            "name": rule.name,
            "fix": rule.fix,
            "summary": rule.summary,
            "why": rule.why,
            "versions": rule.versions,
            "breaks_in": rule.breaks_in,
            "needs": rule.needs,
            "rows": [row for row, _ in rule.rows()],
            "references": list(rule.references),
        }
        for rule in _holding(words)
    ]
    return f"{json.dumps(told, indent=2)}\n"


def _holding(words: Sequence[str]) -> list[Rule]:
    rules = [rule for rule in all_rules() if all(_says(rule, word.lower()) for word in words)]
    if not rules:
        raise UsageError(f"no rule mentions {' and '.join(words)}; `fixer rules` lists all")
    return rules


def _says(rule: Rule, word: str) -> bool:
    if word in get_args(Fix):
        return word == rule.fix
    return word in f"{rule.code} {rule.name} {rule.summary} {rule.why}".lower()


def page(code: str) -> str:
    """What a rule does and why, with its examples as diffs, or what a word of the reports means. Raises UsageError for
    an unknown code."""
    if (said := entry(code)) is not None:
        return said
    name, colon, row = code.upper().partition(":")
    rule = next((rule for rule in all_rules() if rule.code == name), None)
    if rule is None:
        raise UnknownRule(code.partition(":")[0], words=WORDS)
    if colon and row not in all_rows():
        raise UnknownRow(f"{name}:{code.partition(':')[2]}")
    parts = [
        f"{rule.code} {rule.name}",
        fill(rule.summary + ".", 88),
        f"Repair:   {rule.fix}\nVersions: {rule.versions}{_origin(rule)}",
        "Why\n" + indent(fill(rule.why, 84), "    "),
        *_examples(rule),
    ]
    if rule.references:
        parts.append("See\n" + indent("\n".join(rule.references), "    "))
    return "\n\n".join(parts) + "\n"


def _origin(rule: Rule) -> str:
    """Where a rule that is not fixer's own comes from."""
    again = others_rules().again
    return f"\nFrom:     {again[rule.code][1].name}" if rule.code in again else ""


def _examples(rule: Rule) -> list[str]:
    changed = [example for example in rule.examples if example.before != example.after]
    left = [example for example in rule.examples if example.before == example.after]
    parts = ["Example\n" + indent(_diff(example), "    ") for example in changed[:1]]
    if left:
        parts.append("Left as it is\n" + "\n".join(indent(example.before, "    ") for example in left[:1]).rstrip())
    return parts


def _diff(example: Example) -> str:
    lines = unified_diff(
        example.before.splitlines(), example.after.splitlines(), example.path, example.path, lineterm="", n=2
    )
    return "\n".join(lines)


def markdown(rule: Rule) -> str:
    """The rule's page of the documentation, docs/rules/CODE.md."""
    parts = [
        f"# {rule.code}: {rule.name}",
        rule.summary[0].upper() + rule.summary[1:] + ".",
        f"Repair: **{rule.fix}**. Versions: {rule.versions}.",
        "## Why",
        rule.why,
        *_markdown_examples(rule),
    ]
    if rule.references:
        parts += ["## References", "\n".join(f"- <{address}>" for address in rule.references)]
    return "\n\n".join(parts) + "\n"


def _markdown_examples(rule: Rule) -> list[str]:
    parts = ["## Examples"]
    for example in rule.examples:
        if example.before != example.after:
            parts.append(fence(_diff(example), "diff").rstrip("\n"))
    parts.append("## Left as it is")
    for example in rule.examples:
        if example.before == example.after:
            language = "python" if example.path.endswith(".py") else "text"
            parts.append(fence(example.before, language).rstrip("\n"))
    return parts
