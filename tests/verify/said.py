"""All that a judgement or an evidence says, as one text: its reason, and each fact with its kind."""

from __future__ import annotations

from verify.evidence import Evidence
from verify.judging.proof_list import facts_of
from verify.judging.verdict import Judgement


def said(found: Judgement | Evidence) -> str:
    """The reason on the first line, then a line a fact."""
    facts = facts_of(found) if isinstance(found, Evidence) else found.facts
    return "\n".join([found.reason, *(f"{fact.kind}: {fact.text}" for fact in facts)])
