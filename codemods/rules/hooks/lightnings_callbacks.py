"""Which of Lightning's own callbacks have a hook that another one's name becomes: one below them would hide it."""

from __future__ import annotations

from codemods.code.scopes import ROOT
from codemods.lightning.facts import CALLBACK, CALLBACKS, ClassFact, Facts

_BARS = ("RichProgressBar", "TQDMProgressBar")
_AVERAGING = ("EMAWeightAveraging", "WeightAveraging")
_FINETUNING = ("BackboneFinetuning", "BaseFinetuning")
HAVING = {
    "on_exception": frozenset({"ModelCheckpoint", "OnExceptionCheckpoint", "RichProgressBar"}),
    "on_fit_start": frozenset({
        *_FINETUNING, "BatchSizeFinder", "LearningRateFinder", "ModelSummary", "RichModelSummary",
        "StochasticWeightAveraging", "Timer",
    }),
    "on_train_batch_end": frozenset({
        *_BARS, *_AVERAGING, "DeviceStatsMonitor", "ModelCheckpoint", "SpikeDetection", "ThroughputMonitor", "Timer",
    }),
    "on_train_batch_start": frozenset({"DeviceStatsMonitor", "LearningRateMonitor"}),
    "on_train_epoch_end": frozenset({
        *_BARS, *_AVERAGING, "EarlyStopping", "ModelCheckpoint", "ModelPruning", "StochasticWeightAveraging", "Timer",
    }),
    "on_train_epoch_start": frozenset({
        *_BARS, *_FINETUNING, "GradientAccumulationScheduler", "LearningRateMonitor", "StochasticWeightAveraging",
    }),
    "setup": frozenset({
        *_BARS, *_AVERAGING, *_FINETUNING, "BasePredictionWriter", "BatchSizeFinder", "DeviceStatsMonitor",
        "EarlyStopping", "ModelCheckpoint", "ModelPruning", "ProgressBar", "StochasticWeightAveraging",
        "ThroughputMonitor",
    }),
}  # fmt: skip
"""By reflection on 2.6.6."""
KNOWN = frozenset({"Callback", "Checkpoint", "LambdaCallback"}).union(*HAVING.values())


def hidden(facts: Facts, fact: ClassFact, hook: str) -> str | None:
    """Which of Lightning's callbacks above a class has a hook of its own, or may have one, as the middle of a
    sentence."""
    for base in facts.lineage(fact):
        name = base.rpartition(".")[2] if isinstance(base, str) else ""
        own = isinstance(base, str) and base != CALLBACK and base.startswith((CALLBACKS, f"{ROOT}."))
        if own and (name in HAVING.get(hook, ()) or name not in KNOWN):
            return f"its base {name} has {hook} of its own, which is to be called by super() in it"
    return None
