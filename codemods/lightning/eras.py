"""Which Lightning a project, or a file of it, was written for: by its pins, or by what its code still uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal

from packaging.version import Version

from codemods.code.scopes import ROOT, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.arguments import newest, oldest, once, rows
from codemods.lightning.facts import MODULE, Facts, FileFacts
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, demands, is_open

Era = Literal["before", "after", "unknown"]

_HOOKS = frozenset(
    {"training_epoch_end", "validation_epoch_end", "test_epoch_end", "training_step_end", "validation_end"}
)
_ARGUMENTS = frozenset(
    {"gpus", "weights_summary", "progress_bar_refresh_rate", "checkpoint_callback", "resume_from_checkpoint",
     "distributed_backend", "amp_level", "num_tpu_cores", "tpu_cores", "auto_lr_find", "num_processes"}
)  # fmt: skip

_WRITTEN = frozenset(
    {"accelerator", "callbacks", "devices", "enable_checkpointing", "enable_progress_bar", "num_sanity_val_steps",
     "plugins", "precision", "profiler", "strategy"}
)  # fmt: skip
"""What rules write as arguments of Trainer besides the targets of `arguments.csv`."""

_GONE_IN_1 = re.compile(
    rf"{re.escape(ROOT)}\.((core\.)?data_loader|(Train|Eval)Result|(logging|root_module|pt_overrides|testing)\b.*)"
)
"""Names that 1.0 does not have (compared with the wheels of 0.5.3 to 0.10 and 1.0.8)."""
_REFUSED_IN_1 = frozenset(
    {"add_row_log_interval", "default_save_path", "early_stop_callback", "gradient_clip", "log_save_interval",
     "max_nb_epochs", "min_nb_epochs", "nb_gpu_nodes", "nb_sanity_val_steps", "num_tpu_cores", "overfit_pct",
     "print_nan_grads", "progress_bar_callback", "row_log_interval", "show_progress_bar", "test_percent_check",
     "train_percent_check", "use_amp", "val_percent_check"}
)  # fmt: skip
"""Arguments of Trainer that 1.0 does not take, of the same releases."""


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


def ran(facts: Facts, names: Iterable[str], release: str, end: str = "2.0.0") -> tuple[bool, bool]:
    """Whether a Trainer with arguments of those names may have been built by a Lightning before a release, and by one
    from it on and before `end`: by one that the pins admit and that takes them all. Both where no release does.

    Arguments that rules write tell nothing: they may have been written in this run, or in one before it.
    """
    taken = once().intersection(names) - _WRITTEN - {row.keyword for row in chain(*rows().values())}
    if newest(taken) == Version("0.0"):
        return True, True
    before = admits_below(facts, LIGHTNING, release) and oldest(taken) < Version(release)
    return before, admits_from(facts, LIGHTNING, release, end) and newest(taken) >= Version(release)


def speaks_of_1x(facts: Facts) -> bool:
    """Whether the code has hooks or Trainer arguments that 2.0 removed."""
    if "eras.1x" not in facts.memo:
        hooked = (item for item in facts.classes() if not _HOOKS.isdisjoint(item.methods))
        hooks = any(facts.kind(item) == MODULE for item in hooked)
        arguments = any(argument.name in _ARGUMENTS for trainer in facts.trainers for argument in trainer.arguments)
        facts.memo["eras.1x"] = hooks or arguments
    spoken: bool = facts.memo["eras.1x"]
    return spoken


def fails_since_1(facts: Facts, file: PythonFile) -> bool:
    """Whether a file's classes only ever met a Lightning before 1.0: with a later one the file itself, or each file of
    the project that imports a class of it and builds a Trainer, ends with an error."""
    own = facts.files.get(file.path)
    if own is None or "__version__" in file.text:
        return False
    if any(_GONE_IN_1.fullmatch(name) for name in _asked_at_once(file)) or _is_refused(own):
        return True
    training = [each for each in facts.files.values() if each.trainers and _takes_class_of(facts, each, file.path)]
    return bool(training) and not own.trainers and all(map(_is_refused, training))


def _asked_at_once(file: PythonFile) -> Iterator[str]:
    """The dotted names that a file takes from elsewhere whenever it is imported."""
    for node in file.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (canonical(f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (canonical(each.name) for each in node.names)
        elif isinstance(node, ast.ClassDef):
            named = (each for item in node.body if isinstance(item, Function) for each in item.decorator_list)
            yield from filter(None, map(file.scope.resolve, named))


def _is_refused(file: FileFacts) -> bool:
    return any(each.name in _REFUSED_IN_1 for trainer in file.trainers for each in trainer.arguments)


def _takes_class_of(facts: Facts, file: FileFacts, path: str) -> bool:
    found = (facts.find_class(target, file.path) for target in file.exports.values())
    return file.path != path and any(each is not None and each.path == path for each in found)
