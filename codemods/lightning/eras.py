"""Which Lightning a project was written for: by its pins, or by what its code still uses."""

from __future__ import annotations

from typing import Literal

from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.versions import LIGHTNING, admits_below, demands, is_open

Era = Literal["before", "after", "unknown"]

_HOOKS = frozenset(
    {"training_epoch_end", "validation_epoch_end", "test_epoch_end", "training_step_end", "validation_end"}
)
_ARGUMENTS = frozenset(
    {"gpus", "weights_summary", "progress_bar_refresh_rate", "checkpoint_callback", "resume_from_checkpoint",
     "distributed_backend", "amp_level", "num_tpu_cores", "tpu_cores", "auto_lr_find", "num_processes"}
)  # fmt: skip


def era(facts: Facts, release: str) -> Era:
    """Whether the project was written for a Lightning before a release of 2.x, or for that and later ones.

    Without a pin that names a version, hooks and Trainer arguments that 2.0 removed tell. Where pins disagree, each is
    of a part of the project, and it is not known for which a file was written.
    """
    if not is_open(facts, LIGHTNING):
        if not admits_below(facts, LIGHTNING, release):
            return "after"
        return "unknown" if demands(facts, LIGHTNING, release) else "before"
    return "before" if speaks_of_1x(facts) else "unknown"


def speaks_of_1x(facts: Facts) -> bool:
    """Whether the code has hooks or Trainer arguments that 2.0 removed."""
    if "eras.1x" not in facts.memo:
        hooked = (item for item in facts.classes() if not _HOOKS.isdisjoint(item.methods))
        hooks = any(facts.kind(item) == MODULE for item in hooked)
        arguments = any(argument.name in _ARGUMENTS for trainer in facts.trainers for argument in trainer.arguments)
        facts.memo["eras.1x"] = hooks or arguments
    spoken: bool = facts.memo["eras.1x"]
    return spoken
