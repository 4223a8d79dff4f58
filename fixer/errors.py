"""Errors of use: each is one message with the place and the remedy, and ends the command with exit code 2."""

from __future__ import annotations

from collections.abc import Sequence


class UsageError(Exception):
    """Something the user gave cannot be worked with; the text says what, where and what to do."""


class CommandEnded(Exception):
    """A command that has told how it ended; `code` is what it exits with."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def of_the_system(error: OSError) -> str:
    """What the system refused, and where, in words."""
    return f"{error.filename or 'the system'}: {error.strerror or error}; fix that and try again"


class UnknownRow(UsageError):
    """A row that no rule has; the message names those of the rule it was asked of, and where that stands, if said."""

    def __init__(self, code: str, place: str = "") -> None:
        from codemods.rule import rule_of

        rule, _, row = code.partition(":")
        rows = ", ".join(sorted(row for row, _ in rule_of(rule).rows())) or "none of its own"
        where = f"{place}: " if place else ""
        super().__init__(f"{where}no row of {rule} is called '{row}'; it has {rows} (see `fixer explain {rule}`)")


class UnknownRule(UsageError):
    """A code that no rule has; the message names those that it may have meant, or the families that there are, and
    where the code stands, if that is said. `words` are what may be asked for besides."""

    def __init__(self, code: str, place: str = "", words: Sequence[str] = ()) -> None:
        from difflib import get_close_matches

        from codemods.rule import all_rules, others_rules

        codes = [rule.code for rule in all_rules()]
        same = [known for known in codes if known == code.upper()]
        near = same or get_close_matches(code.upper(), codes, n=3)
        families = sorted({known[:3] for known in codes})
        hint = f"did you mean {' or '.join(near)}?" if near else f"the families are {', '.join(families)}"
        if code.upper() in families:
            hint = f"'{code.upper()}' is a family: `fixer rules {code.upper()}` lists its rules"
        more = f"; words that are explained: {', '.join(words)}" if words and not near else ""
        more += "".join(f"; {told}" for told in others_rules().left_out)
        super().__init__(f"{f'{place}: ' if place else ''}no rule is called '{code}'; {hint} (see `fixer rules`){more}")
