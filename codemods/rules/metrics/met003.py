"""MET003: the ratio of signal to noise, which wants to be told the range of its data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.metrics.admitted import admitted

SINCE = "1.8"
PLACES = {"PeakSignalNoiseRatio": 0, "peak_signal_noise_ratio": 2}
"""The class and the function, each with the place of the range among its arguments."""
REASON = (
    "Not rewritten: by default it was the range of the targets that were seen so far. Write the range that the "
    "data may have: `data_range=1.0` for images between 0 and 1, or `data_range=255` for bytes. The metric "
    "then gives other numbers."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in file.calls_near(PLACES) if admitted(facts, SINCE) else ():
        dotted = call.scope.resolve(call.node.func) or ""
        name = dotted.rpartition(".")[2]
        if name in PLACES and dotted.startswith("torchmetrics.") and not _is_told(call.node, PLACES[name]):
            message = f"`{name}` requires `data_range=` since torchmetrics {SINCE}"
            yield Match(file.span(call.node), message, "manual", REASON)


def _is_told(call: ast.Call, place: int) -> bool:
    """Whether a call says the range, or may."""
    spread = any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords)
    return spread or len(call.args) > place or any(item.arg == "data_range" for item in call.keywords)


BEFORE = """\
from torchmetrics import MetricCollection
from torchmetrics.image import PeakSignalNoiseRatio

psnr = PeakSignalNoiseRatio()
"""
TOLD = BEFORE.replace("Ratio()", "Ratio(data_range=1.0)")

RULE = Rule(
    code="MET003",
    name="metric-range",
    summary="PeakSignalNoiseRatio without the range of its data is named",
    why=(
        "Up to torchmetrics 1.7 PeakSignalNoiseRatio and peak_signal_noise_ratio took the range of the targets where "
        "none was said. Since 1.8 that is a TypeError. Which range the data may have is known to their owner alone."
    ),
    fix="manual",
    stops=True,
    versions="written for torchmetrics < 1.8",
    triggers=(b"PeakSignalNoiseRatio", b"peak_signal_noise_ratio"),
    check=_check,
    examples=(Example(BEFORE, BEFORE), Example(TOLD, TOLD)),
)
