"""What is told of a rule that could not look at a file in another form than its text."""

from __future__ import annotations

from codemods.finding import Finding, Span
from codemods.rule import Match, Rule, others_rules


def whom_to_tell(rule: Rule) -> str:
    """Who should know that a rule failed."""
    return "please tell whoever wrote the rule" if rule.code in others_rules().again else "please report it"


FAILED = "could not check"
"""What the message of a rule that failed says."""


def is_failure(finding: Finding) -> bool:
    """Whether a finding stands for a rule that failed."""
    return finding.message.startswith(f"{finding.code} {FAILED} ")


def unseen(rule: Rule, error: Exception) -> Match:
    """The finding that stands for what the rule may have missed, with why it failed."""
    why = "its code nests too deeply" if isinstance(error, RecursionError) else f"{type(error).__name__}: {error}"
    reason = (
        f"Code that is written indirectly may be missed here ({why}); {whom_to_tell(rule)}. "
        f"Check the file for what `fixer explain {rule.code}` shows."
    )
    return Match(Span(1, 1, 1, 1), f"{rule.code} {FAILED} all of this file", "manual", reason)
