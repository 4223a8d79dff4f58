"""`fixer test-rules`: the rules of others, tested as fixer's own are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from codemods.rule import Rule, others_rules
from codemods.testing.rule_tests import RuleTest, run_tests
from codemods.testing.rule_tests import names as known_names
from fixer.errors import UsageError
from fixer.plugins import of_folder


def tested(paths: Sequence[str], skip: Collection[str]) -> list[tuple[Rule, list[RuleTest]]]:
    """The rules at some paths, or those that hold in this folder, each with its tests. Raises UsageError where there
    are none, or what is to be skipped is not known."""
    if unknown := next((name for name in skip if name not in known_names()), None):
        raise UsageError(f"--skip: no edit is called '{unknown}'; there are {', '.join(known_names())}")
    of_folder(Path(), tuple(paths) or None, True, held=False)
    found = others_rules()
    if found.left_out:
        raise UsageError(found.left_out[0])
    named = {str(Path(path).absolute()) for path in paths}
    rules = [rule for rule in found.rules if not named or found.again[rule.code][1].place in named]
    if not rules:
        raise UsageError("there are no rules of others here; name a folder or file of rules")
    return [(rule, list(run_tests(rule, skip))) for rule in rules]
