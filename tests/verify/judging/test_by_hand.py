"""Failures of a patched tree that name what is left to do by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.evidence import Failure
from verify.judging.apart_judged import overall
from verify.judging.by_hand import refused, stopped_at
from verify.judging.proof_list import replace_by_hand
from verify.reading.sources import Sources

GPUS = "train.py:20: Trainer(gpus=...), the target has no such argument"
HOOK = "model.py:9: Net.training_epoch_end, the target never calls it: use on_train_epoch_end"
PASSED = "model.py:5: Net.training_step(optimizer_idx), the target does not pass it"
NAME = "log.py:3: pytorch_lightning.loggers.TestTubeLogger (pytorch_lightning.loggers has no TestTubeLogger)"
METRICS = "m.py:8: pytorch_lightning.metrics.functional.accuracy (pytorch_lightning has no metrics)"
ORDER = "train.py:20: Trainer(...) with positional arguments, the target binds them in another order"


def left(problem: str) -> tuple[str, str]:
    """A finding of what a problem is of."""
    return problem.partition(":")[0], problem


@pytest.mark.parametrize(
    ("problem", "kind", "message", "place"),
    [
        (GPUS, "TypeError", "Trainer.__init__() got an unexpected keyword argument 'gpus'", "train.py:20"),
        (GPUS, "TypeError", "Trainer.__init__() got an unexpected keyword argument 'gpus'", None),
        (HOOK, "NotImplementedError", "Support for `training_epoch_end` has been removed in v2.0.0.", "train.py:30"),
        (PASSED, "TypeError", "Net.training_step() missing 1 required positional argument: 'optimizer_idx'", None),
        (NAME, "ImportError", "cannot import name 'TestTubeLogger' from 'pytorch_lightning.loggers'", "log.py:1"),
        (NAME, "AttributeError", "no attribute 'pytorch_lightning.loggers.TestTubeLogger'", "train.py:1"),
        (METRICS, "ModuleNotFoundError", "No module named 'pytorch_lightning.metrics'", "m.py:8"),
        (ORDER, "TypeError", "Trainer.__init__() takes 1 positional argument but 2 positional arguments were given",
         "train.py:20"),
    ],
)  # fmt: skip
def test_a_failure_that_names_a_use_is_of_it(problem: str, kind: str, message: str, place: str | None) -> None:
    others = ("a.py:1: Trainer(amp_level=...), the target has no such argument", problem)
    assert stopped_at(Failure(kind, message, place), others, [left(problem)]) == problem


def test_a_checkpoint_that_is_not_loaded_stops_at_the_finding_of_its_file() -> None:
    said = "loading a checkpoint that holds an object fails since Lightning 2.6 with torch 2.6"
    failure = Failure("UnpicklingError", "Weights only load failed. This file can still be loaded", "src/train.py:97")
    assert stopped_at(failure, (), [("src/train.py", said)]) == f"src/train.py: {said}"
    assert stopped_at(failure, (), [("src/eval.py", said), ("src/train.py", "`gpus=` of Trainer")]) is None
    other = Failure("UnpicklingError", "invalid load key, 'v'.", "src/train.py:97")
    assert stopped_at(other, (), [("src/train.py", said)]) is None


def test_a_use_that_no_finding_is_of_was_written_by_a_rewrite_or_forgotten() -> None:
    failure = Failure("TypeError", "Trainer.__init__() got an unexpected keyword argument 'gpus'", "train.py:20")
    for path, said in [("other.py", "`gpus=` of Trainer"), ("train.py", "`num_gpus=` of Trainer"), ("train.py", "")]:
        assert stopped_at(failure, (GPUS,), [(path, said)]) is None
    assert stopped_at(failure, (GPUS,), []) is None
    assert stopped_at(failure, (GPUS,), [("train.py", ""), ("train.py", "`gpus=` of Trainer was removed")]) == GPUS


@pytest.mark.parametrize(
    ("problem", "message", "place"),
    [
        (GPUS, "name 'undefined' is not defined", "train.py:20"),
        (GPUS, "there are no gpus", "train.py:21"),
        (GPUS, "unexpected keyword argument 'gpus_per_node'", "train.py:20"),
        (HOOK, "name 'outputs' is not defined", "model.py:9"),
        (METRICS, "No module named 'pytorch_lightning.metrics'", "m.py:9"),
        (METRICS, "No module named 'pytorch_lightning.metric'", "m.py:8"),
        ("b.py:1: not read, as it does not parse", "'parse' is not defined", "b.py:1"),
        ("and 12 more", "'more' is not defined", "b.py:1"),
    ],
)
def test_other_failures_are_not(problem: str, message: str, place: str) -> None:
    assert stopped_at(Failure("TypeError", message, place), (problem,), [left(problem)]) is None


def test_without_a_failure_there_is_nothing() -> None:
    assert stopped_at(None, (GPUS,), [left(GPUS)]) is None


METRIC = ("model.py", "`Accuracy` requires `task=` since torchmetrics 0.11")


@pytest.mark.parametrize(
    ("message", "place", "is_of"),
    [
        ("Accuracy.__new__() missing 1 required positional argument: 'task'", "model.py:16", True),
        ("Accuracy.__new__() missing 1 required positional argument: 'task'", "other.py:16", False),
        ("Accuracy.__new__() missing 1 required positional argument: 'threshold'", "model.py:16", False),
        ("F1Score.__new__() missing 1 required positional argument: 'task'", "model.py:16", False),
        ("Accuracy.__new__() missing 1 required positional argument: 'task'", None, False),
        ("there is no task for Accuracy", "model.py:16", False),
    ],
)
def test_a_call_that_is_refused_for_what_a_finding_names(message: str, place: str | None, is_of: bool) -> None:
    told = stopped_at(Failure("TypeError", message, place), (), [METRIC])
    assert told == (f"{METRIC[0]}: {METRIC[1]}" if is_of else None)


BOLTS = ("train.py", "`pl_bolts` cannot be imported together with Lightning 2.x")


@pytest.mark.parametrize(
    ("text", "kind", "place", "is_of"),
    [
        ("import torch\nfrom pl_bolts.datamodules import (\n    CIFAR10DataModule,\n)\n", "ImportError", 2, True),
        ("import torch\nimport torch, pl_bolts.models as models\n", "ModuleNotFoundError", 2, True),
        ("import torch\nfrom pl_bolts import models\n", "TypeError", 2, False),
        ("import torch\nfrom pl_bolts import models\n", "ImportError", 1, False),
        ("import torch\nfrom .pl_bolts import models\n", "ImportError", 2, False),
        ("import torch\nfrom mine import pl_bolts\n", "ImportError", 2, False),
    ],
)
def test_an_import_that_a_finding_says_cannot_be_made(
    text: str, kind: str, place: int, is_of: bool, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "other.py").write_text(text)
    failure = Failure(kind, "cannot import name 'LightningLoggerBase'", f"train.py:{place}")
    told = stopped_at(failure, (), [BOLTS], Sources(tmp_path))
    assert told == (f"{BOLTS[0]}: {BOLTS[1]}" if is_of else None)
    elsewhere = Failure(kind, failure.message, f"other.py:{place}")
    assert stopped_at(elsewhere, (), [BOLTS], Sources(tmp_path)) is None


RETURNED = ("model.py", "Lightning ignores a returned `log` or `progress_bar` since 1.3")
CONDITIONED = "conditioned on metric `val_loss` which is not available."
MISSED = "`ModelCheckpoint(monitor='val_loss')` could not find the monitored key in the returned metrics: ['loss']."


@pytest.mark.parametrize(
    ("message", "text", "left", "is_of"),
    [
        (MISSED, "logs = {'val_loss': 1}", RETURNED, True),
        (f"Early stopping {CONDITIONED}", "x['val_loss'] = 1", RETURNED, True),
        (f"ReduceLROnPlateau {CONDITIONED}".replace("`", ""), "x = dict(val_loss=1)", RETURNED, True),
        (MISSED, "EarlyStopping(monitor='val_loss')", RETURNED, False),
        (MISSED, "logs = {'val_acc': 1}", RETURNED, False),
        (MISSED, "logs = {'val_loss': 1}", ("other.py", RETURNED[1]), False),
        (MISSED, "logs = {'val_loss': 1}", METRIC, False),
        ("name 'val_loss' is not defined", "logs = {'val_loss': 1}", RETURNED, False),
    ],
)
def test_a_metric_that_is_missed_where_it_is_returned_and_no_longer_logged(
    message: str, text: str, left: tuple[str, str], is_of: bool, tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(text)
    (tmp_path / "other.py").write_text("")
    failure = Failure("MisconfigurationException", message, "train.py:61")
    assert stopped_at(failure, (), [left], Sources(tmp_path)) == (f"{left[0]}: {left[1]}" if is_of else None)


@pytest.mark.parametrize(
    ("path", "said", "is_of"),
    [
        ("configs/a.yaml", "`filepath` was removed in Lightning 1.2", True),
        ("configs/a.yaml", "`gpus=` of Trainer was removed in Lightning 2.0", False),
        ("configs/a.yaml", "the filepath of a checkpoint", False),
        ("data.py", "`filepath` was removed in Lightning 1.2", False),
    ],
)
def test_an_argument_that_a_configuration_gives_is_named_there(path: str, said: str, is_of: bool) -> None:
    message = "ModelCheckpoint.__init__() got an unexpected keyword argument 'filepath'"
    failure = Failure("TypeError", message, "train.py:247")
    told = stopped_at(failure, (), [(path, said)], held=["configs/a.yaml", "data.py"])
    assert told == (f"{path}: {said}" if is_of else None)
    assert stopped_at(failure, (), [(path, said)], held=["configs/b.yaml"]) is None


SEVERAL = (
    "gan.py:Gan: no arguments and batches were found in 3 tries; the furthest: RuntimeError: Training with multiple "
    "optimizers is only supported with manual optimization. Remove the `optimizer_idx` argument from `training_step`"
)
LEFT = ("gan.py", "Gan trains several optimizers by `optimizer_idx`, which Lightning 2.0 removed")


@pytest.mark.parametrize(
    ("failed", "left", "is_of"),
    [
        (SEVERAL, LEFT, True),
        (SEVERAL.replace("gan.py", "other.py"), LEFT, False),
        (SEVERAL.replace(":Gan", ":Wgan"), LEFT, False),
        (SEVERAL.replace("multiple optimizers", "no optimizer"), LEFT, False),
        (SEVERAL, ("gan.py", "`gpus=` of Trainer was removed"), False),
    ],
)
def test_a_module_that_is_refused_for_its_optimizers_is_to_be_replaced(
    failed: str, left: tuple[str, str], is_of: bool
) -> None:
    """Of another class or file, a rewrite may have made a mistake."""
    assert (refused([failed], [left]) == ": ".join(left)) is is_of
    facts = overall((), (), [failed], (), [left]).facts
    assert (replace_by_hand(": ".join(left)) in facts) is is_of
