"""When a verdict rests on data or weights that were made up, and says nothing of the project's own."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from verify.evidence import Verdict
from verify.judging.record import RunRecord

_OF_VALUES = re.compile(
    r"following values in|(?<![a-z] index )out of (?:bounds|range)|to be between|only one class"
    r"|should be (?:probabilities|in the range)|not finite|contains? (?:nan|inf)|must be in (?:the )?range",
    re.IGNORECASE,
)
"""What a package says of values that it does not take; `list index out of range` is a mistake of the code's."""
_OF_TOO_FEW = re.compile(
    r"Total length of `\w+` across ranks is zero|num_samples should be|returns at least 1 batch|returned 0 length"
    r"|empty (?:sequence|dataset)|at least one array|Sum of input lengths|larger (?:sample )?than population",
    re.IGNORECASE,
)
"""What is said where there are too few samples, or none."""


def doubt(
    verdict: Verdict, before: RunRecord | None, after: RunRecord, ended: Callable[[RunRecord], str]
) -> str | None:
    """Why a verdict is none, None where it holds: losses that are not finite are alike whatever is computed, values of
    another kind may be what the patched tree refuses, and too few of them what ended the tree before. `ended` says in
    words how a run did."""
    is_idle = before is not None and not before.recording.fitted and verdict == "regressed" and _is_idle(after)
    if is_idle and before is not None and _says(before, _OF_TOO_FEW):
        return f"neither tree gets a batch to train on; the tree before fails for that: {ended(before)}"
    if not (after.made or after.blank or after.hub):
        return None
    if is_idle and after.made:
        return "the patched tree may get no batch of the made-up data to train on, and the tree before does not train"
    losses = [*after.recording.losses, *(before.recording.losses if before else ())]
    if verdict in ("preserved", "repaired", "changed") and not all(map(math.isfinite, losses)):
        return "both train on made-up data, with losses that are not finite, which compare nothing"
    if verdict == "regressed" and _says(after, _OF_VALUES):
        return f"the patched tree may not take the made-up data that the tree before takes: {ended(after)}"
    if verdict == "repaired" and after.made and before is not None and _says(before, _OF_VALUES, _OF_TOO_FEW):
        return f"the tree before may fail only on the made-up data: {ended(before)}"
    return None


def _is_idle(raw: RunRecord) -> bool:
    """Whether a training went through without a batch."""
    known = raw.recording
    return known.fitted and not (known.losses or known.optimizer_steps or dict(known.planned).get("batches"))


def _says(raw: RunRecord, *kinds: re.Pattern[str]) -> bool:
    """Whether a run failed for something of these kinds."""
    failure = raw.recording.failure
    return failure is not None and any(kind.search(failure.message) for kind in kinds)
