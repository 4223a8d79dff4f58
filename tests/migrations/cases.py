"""Ten migrations done right and the same ten with one mistake, and what a proof has to say of each.

Each project is a program as people write them, with loggers, callbacks, metrics and checkpoints. `before.py` runs on an
old Lightning, `right.py` does the same on the target, and `wrong.py` has a mistake that stops or changes training.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from verify.evidence import Verdict

Kind = Literal["before", "right", "wrong"]

HERE = Path(__file__).parent / "projects"


@dataclass(frozen=True)
class Migration:
    """A project, the release that it was written for, what is wrong in `wrong.py`, and what that comes to."""

    name: str
    release: str
    mistake: str
    verdict: Verdict

    def text(self, kind: Kind) -> str:
        """The program in one of its three states."""
        return (HERE / self.name / f"{kind}.py").read_text(encoding="utf-8")

    def files(self, kind: Kind, lightning: str) -> dict[str, str]:
        """The project's files, its requirements on this release of Lightning."""
        pins = f"pytorch-lightning=={lightning}\ntorch\ntensorboard\ntorchmetrics\n"
        return {"requirements.txt": pins, "train.py": self.text(kind)}


MIGRATIONS = (
    Migration(
        "own_callback", "1.4.9", "a hook of the callback keeps an argument that is not handed any more", "regressed"
    ),
    Migration("scalars_by_hand", "1.5.10", "the collected losses are not cleared", "changed"),
    Migration("two_loggers", "1.5.10", "the second logger is read as 1.5 had it", "regressed"),
    Migration("best_checkpoint", "1.8.6", "the checkpoint watches a metric that nobody logs", "regressed"),
    Migration("gan_logging_both_losses", "1.8.6", "the second optimizer is not zeroed", "changed"),
    Migration("metrics_and_early_stopping", "1.9.5", "the accuracy is not reset", "changed"),
    Migration("truncated_and_scheduled", "1.9.5", "the state keeps its history", "regressed"),
    Migration("one_cycle_accumulated", "1.9.5", "the schedule counts batches, not steps", "changed"),
    Migration("bfloat16_with_accuracy", "1.9.5", "the weights become bfloat16 too", "changed"),
    Migration("resumed", "1.9.5", "the checkpoint to go on from is dropped", "changed"),
)
