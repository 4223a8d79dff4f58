"""What a report says of a rule: the words only, so that reports need nothing of the codemods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codemods.finding import Fix


@dataclass(frozen=True)
class RuleText:
    """The words of one rule. `why` may be Markdown; `url` leads to the rule's page; `warns` as the rule says it."""

    code: str
    name: str
    summary: str
    why: str
    fix: Fix
    url: str | None = None
    warns: bool = False


Rules = Mapping[str, RuleText]
"""The words of the rules, by code. A report copes with a code that is not among them."""


def rule_texts() -> Rules:
    """The words of every rule."""
    from codemods.rule import all_rules

    return {
        rule.code: RuleText(
            rule.code, rule.name, rule.summary, rule.why, rule.fix, _address(rule.references), rule.warns
        )
        for rule in all_rules()
    }


def _address(references: Iterable[str]) -> str | None:
    """The first of them that is the address of a page: rules of others may name anything."""
    return next((one for one in references if one.startswith("https://")), None)
