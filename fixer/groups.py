"""Which codemods are judged together, and the commits that they become."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill

from codemods.engine.plan import Plan
from codemods.engine.scan import Options
from codemods.rule import Rule
from fixer.branch import PlannedCommit

TRIED = (
    "The code alone does not show that all of this is right. The project was "
    "run before and after, which shows it for what was run."
)


def group_of(rule: Rule, target: str) -> str:
    """The group of a rule: what moves code to the target hangs together with the pins, the rest stands alone."""
    return f"lightning-{target}" if rule.breaks_in or rule.last else rule.code


def changed_codes(made: Plan) -> tuple[str, ...]:
    """The codes of the rules that changed something, in the order in which they were applied."""
    return tuple(dict.fromkeys(change.code for change in made.changes))


def groups(made: Plan, options: Options) -> Mapping[str, tuple[str, ...]]:
    """The codes of each group that has changes."""
    rules = {rule.code: rule for rule in options.rules}
    found: dict[str, list[str]] = {}
    for code in changed_codes(made):
        found.setdefault(group_of(rules[code], options.target), []).append(code)
    return {group: tuple(codes) for group, codes in found.items()}


def steps_of(made: Plan, options: Options) -> tuple[PlannedCommit, ...]:
    """One commit a codemod, in the order in which they were applied."""
    rules = {rule.code: rule for rule in options.rules}
    steps = []
    for code in changed_codes(made):
        rule = rules[code]
        fixed = [finding for finding in made.findings if finding.code == code and finding.applied]
        places = [f"- {finding.path}:{finding.span.line}: {finding.message}" for finding in fixed]
        if not isinstance(options.unsafe, bool) and any(finding.fix == "unsafe" for finding in fixed):
            places += ["", fill(TRIED, 72)]
        steps.append(
            PlannedCommit(
                code=code,
                group=group_of(rule, options.target),
                subject=_subject(rule),
                body="\n".join([fill(rule.why, 72), "", *places]),
                findings=tuple(finding.id for finding in fixed),
                files={change.path: change.after for change in made.changes if change.code == code},
            )
        )
    return tuple(steps)


def _subject(rule: Rule) -> str:
    return f"{rule.code}: {rule.summary}"
