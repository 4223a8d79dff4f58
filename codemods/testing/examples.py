"""The examples of a rule: what it makes of them, and that a second run changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff

from codemods.engine.plan import Plan, plan
from codemods.engine.rule_failures import is_failure
from codemods.engine.scan import Options
from codemods.rule import Example, Rule, all_rules
from codemods.testing.texts import sources


@dataclass(frozen=True)
class RuleFailure:
    """What does not hold, as the end of a sentence, and the difference or reason behind it."""

    what: str
    shown: str = ""


def planned(rule: Rule, files: Mapping[str, str | bytes], pins: tuple[str, ...] = ()) -> Plan:
    """What a rule, or all where it goes by what others found, makes of files; unsafe edits where it has no others."""
    rules = all_rules() if rule.last else (rule,)
    return plan(sources(files), Options(rules, unsafe=rule.fix == "unsafe", pins=pins))


def files_of(example: Example) -> dict[str, str | bytes]:
    """The files of an example's project."""
    return {example.path: example.before, **dict(example.files)}


def wrong(rule: Rule, example: Example) -> RuleFailure | None:
    """What of an example does not hold, None where all does."""
    files = files_of(example)
    made = planned(rule, files, example.pins)
    if crashed := next((item.reason for item in made.findings if is_failure(item)), None):
        return RuleFailure("makes the rule fail", crashed)
    if unseen := next((why for _, why in made.skipped if "please report it" in why), None):
        return RuleFailure("is not looked at", unseen)
    if made.bugs:
        return RuleFailure("is rewritten to what does not hold", made.bugs[0])
    after = made.final().get(example.path, example.before.encode()).decode()
    if after != example.after:
        what = "is not left alone" if example.before == example.after else "becomes something else"
        return RuleFailure(what, difference(example.after, after, "as the example says", "as the rule makes it"))
    return _again(rule, example, {path: made.final().get(path, text) for path, text in files.items()})


def _again(rule: Rule, example: Example, after: Mapping[str, str | bytes]) -> RuleFailure | None:
    """What a second run changes."""
    again = planned(rule, after, example.pins)
    for change in again.changes:
        shown = difference(change.before.decode(), change.after.decode(), "after one run", "after two")
        return RuleFailure("is changed once more by a second run", shown)
    return None


def shortcomings(rule: Rule) -> Iterator[str]:
    """What the examples of a rule do not show and should."""
    if rule.fix != "manual" and all(example.before == example.after for example in rule.examples):
        yield "no example shows what it rewrites"
    if not any(example.before == example.after for example in rule.examples):
        yield "no example shows what it leaves alone: add one with `after` equal to `before`"


def difference(before: str, after: str, one: str, other: str) -> str:
    """Two texts as a diff."""
    lines = unified_diff(before.splitlines(), after.splitlines(), one, other, lineterm="", n=2)
    return "\n".join(lines)
