"""For each family of rules a project for each verdict, or why there can be none."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutations.changes import BASELINE, OLD_METRICS, PROJECTS, Project
from verify.evidence import Verdict

FAMILIES = {
    "tbptt": "TBP", "loops": "TBP loops", "optimizers": "OPT", "backward": "BWD", "autocast": "AMP", "steps": "STP",
    "gradients": "GRD", "names": "LIT names", "trainer": "LIT trainer", "hooks": "LIT hooks", "modules": "LIT modules",
    "keywords": "LIT keywords", "variables": "LIT variables", "extensions": "LIT extensions", "configs": "LIT configs",
    "pins": "PIN", "metrics": "MET", "companions": "COM", "ignores": "IGN",
}  # fmt: skip
"""The folders of rules, and how their families are called here."""
VERDICTS: tuple[Verdict, ...] = ("repaired", "preserved", "changed", "regressed", "inconclusive")


@dataclass(frozen=True)
class Cell:
    """A project of a family, with a mistake in what the rules make of it or without, and what the proof says of it."""

    family: str
    verdict: Verdict
    name: str
    mistake: str = ""
    baseline: str = BASELINE

    @property
    def project(self) -> Project:
        """The project. Raises StopIteration where there is none of that name."""
        wanted = (self.family, self.name, self.baseline)
        return next(each for each in PROJECTS if (each.family, each.name, each.baseline) == wanted)

    def after(self) -> dict[str, str]:
        """What the rules make of the project, with the mistake."""
        right = self.project.after()
        change = [each for each in self.project.changes if each.name == self.mistake]
        return change[0].applied(right) if self.mistake else right


CELLS = (
    Cell("TBP", "repaired", "chunks_flag_of_the_trainer"),
    Cell("TBP", "preserved", "nested_state"),
    Cell("TBP", "changed", "nested_state", "a part of the state begun anew"),
    Cell("TBP", "regressed", "nested_state", "no step"),
    Cell("TBP", "inconclusive", "chunks_flag_of_the_trainer", "the flag left to the Trainer"),
    Cell("TBP loops", "repaired", "undetached"),
    Cell("TBP loops", "preserved", "one_chunk"),
    Cell("TBP loops", "changed", "undetached", "other sign of the loss"),
    Cell("TBP loops", "regressed", "undetached", "no step"),
    Cell("TBP loops", "inconclusive", "undetached", "the state still has its history"),
    Cell("OPT", "repaired", "needless_index"),
    Cell("OPT", "preserved", "gan_scheduled"),
    Cell("OPT", "changed", "gan_scheduled", "optimizers not toggled"),
    Cell("OPT", "regressed", "gan_scheduled", "only the first optimizer"),
    Cell("OPT", "inconclusive", "needless_index", "the index kept"),
    Cell("BWD", "repaired", "stepped_weights"),
    Cell("BWD", "preserved", "two_passes"),
    Cell("BWD", "changed", "two_passes", "the mean of the losses"),
    Cell("BWD", "regressed", "raw_backward", "no backward"),
    Cell("BWD", "inconclusive", "raw_and_let_go"),
    Cell("AMP", "preserved", "half_contrast"),
    Cell("AMP", "changed", "half_contrast", "gradients through both"),
    Cell("AMP", "regressed", "half_contrast", "the forward under no_grad"),
    Cell("AMP", "inconclusive", "half_elsewhere"),
    Cell("STP", "repaired", "no_limit"),
    Cell("STP", "preserved", "computed_steps"),
    Cell("STP", "changed", "computed_steps", "epochs twice as many"),
    Cell("STP", "regressed", "one_cycle", "one step less"),
    Cell("STP", "inconclusive", "no_limit", "no limit as before"),
    Cell("GRD", "repaired", "cut_loss"),
    Cell("GRD", "preserved", "loaded_for_evaluation"),
    Cell("GRD", "changed", "loaded_for_evaluation", "left in evaluation mode"),
    Cell("GRD", "regressed", "cut_loss", "a leaf for a loss"),
    Cell("GRD", "inconclusive", "cut_loss", "still without a history"),
    Cell("LIT names", "repaired", "older_names"),
    Cell("LIT names", "preserved", "old_names"),
    Cell("LIT names", "changed", "old_names", "the callback lost"),
    Cell("LIT names", "regressed", "old_names", "a name that the target lacks"),
    Cell("LIT names", "inconclusive", "older_names", "from where it was"),
    Cell("LIT trainer", "repaired", "older_trainer"),
    Cell("LIT trainer", "preserved", "old_trainer"),
    Cell("LIT trainer", "changed", "old_trainer", "another number of devices"),
    Cell("LIT trainer", "regressed", "old_trainer", "an argument that the target lacks"),
    Cell("LIT trainer", "inconclusive", "older_trainer", "an argument as before"),
    Cell("LIT hooks", "repaired", "batch_moved"),
    Cell("LIT hooks", "preserved", "epoch_outputs"),
    Cell("LIT hooks", "changed", "epoch_outputs", "outputs not cleared"),
    Cell("LIT hooks", "regressed", "epoch_outputs", "the old hook kept"),
    Cell("LIT hooks", "inconclusive", "batch_moved", "the old arguments"),
    Cell("LIT modules", "repaired", "own_hparams"),
    Cell("LIT modules", "preserved", "asked_for_precision"),
    Cell("LIT modules", "changed", "asked_for_precision", "compared with a number"),
    Cell("LIT modules", "regressed", "asked_for_precision", "asked of the module as before"),
    Cell("LIT modules", "inconclusive", "own_hparams", "set as before"),
    Cell("LIT keywords", "repaired", "older_keyword"),
    Cell("LIT keywords", "changed", "older_keyword", "other sign of the loss"),
    Cell("LIT keywords", "regressed", "older_keyword", "no loss"),
    Cell("LIT keywords", "inconclusive", "older_keyword", "the keyword as before"),
    Cell("LIT variables", "repaired", "read_ahead"),
    Cell("LIT variables", "preserved", "not_read_ahead"),
    Cell("LIT variables", "changed", "not_read_ahead", "the value of another variable lost"),
    Cell("LIT variables", "regressed", "not_read_ahead", "the line behind gone too"),
    Cell("LIT variables", "inconclusive", "read_ahead", "the import gone too"),
    Cell("LIT extensions", "repaired", "own_plugin"),
    Cell("LIT extensions", "preserved", "own_bar"),
    Cell("LIT extensions", "changed", "own_bar", "counted twice"),
    Cell("LIT extensions", "regressed", "own_bar", "one place as before"),
    Cell("LIT extensions", "inconclusive", "own_plugin", "the name as before"),
    Cell("LIT configs", "repaired", "configured_older"),
    Cell("LIT configs", "preserved", "configured_trainer"),
    Cell("LIT configs", "changed", "configured_trainer", "another number of epochs"),
    Cell("LIT configs", "regressed", "configured_trainer", "an argument that the target lacks"),
    Cell("LIT configs", "inconclusive", "configured_older", "an argument as before"),
    Cell("PIN", "repaired", "older_trainer"),
    Cell("PIN", "preserved", "gan_frequency"),
    Cell("PIN", "regressed", "gan_frequency", "an old release"),
    Cell("PIN", "inconclusive", "data_elsewhere"),
    Cell("MET", "repaired", "accuracy_of_classes"),
    Cell("MET", "preserved", "accuracy_of_classes", baseline=OLD_METRICS),
    Cell("MET", "changed", "accuracy_of_classes", "the best two", OLD_METRICS),
    Cell("MET", "regressed", "accuracy_of_classes", "the task untold", OLD_METRICS),
    Cell("MET", "inconclusive", "accuracy_of_classes", "the task untold"),
    Cell("COM", "repaired", "loud_scheduler"),
    Cell("COM", "preserved", "numpy_names"),
    Cell("COM", "changed", "numpy_names", "a sum for a product"),
    Cell("COM", "regressed", "numpy_names", "a name that NumPy lacks"),
    Cell("COM", "inconclusive", "loud_scheduler", "told to print as before"),
    Cell("IGN", "preserved", "ignored"),
    Cell("IGN", "changed", "ignored", "the line gone with the comment"),
    Cell("IGN", "regressed", "ignored", "the hook gone with the comment"),
    Cell("IGN", "inconclusive", "ignored_elsewhere"),
)

NEVER: dict[tuple[str, Verdict], str] = {
    ("AMP", "repaired"): "what these rules rewrite ends without an error before: it trains on stale or half weights, "
    "or not at all without saying so; on a CPU of today it trains",
    ("PIN", "changed"): "a requirement decides what is installed, and the tree after always runs on the target: one "
    "that does not admit it is *regressed*, one that does makes no difference",
    ("LIT keywords", "preserved"): "every keyword that these rules rewrite is refused by the old releases that install "
    "today, so that no tree with one trains before",
    ("IGN", "repaired"): "a comment is taken out: the code is what it was",
}
