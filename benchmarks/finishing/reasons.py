"""Why findings are left to a person, or are rewritten by unsafe fixes alone, and how often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

MOST = 10
_OF_ONE_PLACE = re.compile(r"`[^`]*`|\"[^\"]*\"|[\w./-]+\.\w+(?::\d+)?|\b\d+(?:, \d+)*\b")
"""What differs from place to place: names and code, texts, paths, numbers."""
LONGEST = 110

Reason = tuple[str, str, str]
"""The level, the code of the rule, and the first sentence of its reason without what is said of one place."""


def reasons(findings: Iterable[Mapping[str, str]]) -> Counter[Reason]:
    """How often each reason was given for what is not rewritten safely."""
    return Counter((each["fix"], each["code"], _plain(each["reason"])) for each in findings if each["fix"] != "safe")


def _plain(reason: str) -> str:
    said = _OF_ONE_PLACE.sub("…", reason.removeprefix("Not rewritten: ").partition(". ")[0])
    return said if len(said) <= LONGEST else f"{said[:LONGEST].rpartition(' ')[0]} …"


def most_frequent(found: Sequence[Counter[Reason]]) -> str:
    """The most frequent reasons of each level, with in how many repositories they were given."""
    every, places = Counter[Reason](), Counter[Reason]()
    for each in found:
        every += each
        places += Counter(dict.fromkeys(each, 1))
    lines = ["| level | rule | reason | findings | repositories |", "|---|---|---|---:|---:|"]
    for level in ("manual", "unsafe"):
        most = sorted((item for item in every.items() if item[0][0] == level), key=lambda item: (-item[1], item[0]))
        lines += [f"| {level} | {key[1]} | {key[2]} | {count} | {places[key]} |" for key, count in most[:MOST]]
    return "\n".join(lines)
