"""What a proof can say before it is through: of what was finished, and that the rest was not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from verify.evidence import Evidence
from verify.request import Bench, ProofProgress, Request

Join = Callable[[Evidence, Evidence], Evidence]


def so_far(request: Request, known: ProofProgress, nothing: Evidence, join: Join, why: str) -> Evidence:
    """The best that is known, with why there is no more; `nothing` is what is said where no script was through, `join`
    puts modules alone beside a script."""
    ground = replace(nothing, rung="conforms" if known.looked and not known.problems else None)
    first = min(known.scripts, key=how_far, default=replace(ground, reason="no training came to its end"))
    first = known.once or first
    found = join(known.alone, first) if known.alone else first
    found = replace(found, reason=f"{found.reason}; {why} while {known.doing}")
    return replace(found, group=request.group, codes=request.codes, problems=known.problems, left=known.left)


def how_far(evidence: Evidence) -> int:
    """How little of a training a script got to: the end, some of it, or not past its arguments."""
    if evidence.after is None or evidence.after.fitted:
        return 0
    return 2 if evidence.after.failure and evidence.after.failure.type == "SystemExit" else 1


def with_cut(evidence: Evidence, bench: Bench, *, is_whole: bool) -> Evidence:
    """The evidence, with what the budget ended before; of one that says all there is to say, nothing is missing."""
    if is_whole:
        bench.clock.cut.clear()
        return evidence
    told = bench.clock.told()
    return replace(evidence, reason=f"{evidence.reason}; {told}") if told else evidence
