"""Second runs of a script, where the first ones do not settle what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verify.judging.record import RunRecord
from verify.judging.verdict import BY_ONE_RUN, Judgement, confirmed, judge, noise_of, steady, unsure
from verify.reading.entry import Entry
from verify.reading.sources import Sources
from verify.request import Bench, Pair
from verify.running import accelerators, board_of, run_both, run_script, side


@dataclass(frozen=True)
class First:
    """The first runs of a script in both trees, and how they are judged."""

    before: Sources
    after: Sources
    entry: Entry
    pair: Pair
    old: RunRecord
    new: RunRecord
    problems: Sequence[str]
    per_batch: bool


def is_unsettled(judgement: Judgement, touched: bool) -> bool:
    """Whether a verdict rests on how one run ended, or on numbers that may be noise."""
    return judgement.verdict in BY_ONE_RUN or (judgement.verdict == "changed" and touched)


def settled(judgement: Judgement, first: First, bench: Bench, number: int) -> Judgement:
    """The verdict after the second runs that it needs."""
    script, pair = first.entry.script, first.pair
    if judgement.verdict in BY_ONE_RUN:
        bench.progress(f"running {script} of both trees again, to see whether they end in the same way")
        other, third = run_both(first.before, first.after, first.entry, pair, bench, f"{number}-again")
        return confirmed(judgement, (first.old, other or first.old), (first.new, third))
    if pair.before is None:
        return judgement
    bench.progress(f"running {script} of the tree before again, to see how much it differs from itself")
    tell = board_of(bench, first.entry).side(side("before", pair.before))
    may, name = accelerators(bench.request, pair), f"again{number}"
    second = run_script(first.before, first.entry, pair.before, may, bench, name, tell, nudged=True)
    if second.ended:
        return unsure(judgement, second.ended)
    noise, (kept, aside) = noise_of(first.old, second), steady(first.old, second)
    judgement = judge(kept, first.new, first.problems, per_batch=first.per_batch, missing=pair.missing, noise=noise)
    return judgement.with_facts(*aside)
