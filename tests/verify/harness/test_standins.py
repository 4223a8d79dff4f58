"""What is put in place of a project's objects answers as the real ones of that release do; its failures are ours."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import warm
from tests.mutations.judging import recorded
from tests.training.interpreters import TARGET, python_for
from tests.verify.judging.test_verdict import RAW
from verify.harness import main as harness
from verify.harness import standins
from verify.harness.blame import blamed
from verify.harness.silenced import Keeper, StandInExperiment, quieted, tells
from verify.judging.record import read
from verify.judging.verdict import judge
from verify.retried import otherwise, settled

PROBES = Path(__file__).with_name("probed.py")
REAL = """
import importlib.util, runpy, sys
given = importlib.util.spec_from_file_location("harness", {harness!r})
harness = importlib.util.module_from_spec(given)
given.loader.exec_module(harness)
harness.beside("compat_shims").lend(dict())
harness.beside("compat_shims").lend_loading(dict())
harness.lightning_packages(["pytorch_lightning"])
sys.path.insert(0, ".")
sys.argv = ["probed.py", "../answers.json"]
runpy.run_path("probed.py", run_name="__main__")
"""
"""The release by itself, on the same torch: with what an old one is lent and with nothing in place of anything."""
SPEC = {
    "mode": "train", "script": "probed.py", "args": ["../answers.json"], "module": None, "seed": 1, "seconds": 300,
    "namespaces": ["pytorch_lightning"], "limit_train_batches": 8, "limit_val_batches": 2, "max_epochs": 2,
}  # fmt: skip


@pytest.mark.parametrize("release", ["1.4.9", "1.5.10", "1.9.5", TARGET])
def test_every_answer_is_that_of_the_real_object(release: str, tmp_path: Path) -> None:
    """Values and kinds of errors of some hundred questions, asked in one process each."""
    python, told = python_for(release), Path(harness.__file__)
    (tmp_path / "real.py").write_text(REAL.format(harness=str(told)))
    (tmp_path / "spec.json").write_text(
        json.dumps({**SPEC, "record": str(tmp_path / "record.jsonl"), "scratch": str(tmp_path / "scratch")})
    )
    commands = {"real": [tmp_path / "real.py"], "ours": [told, str(tmp_path / "spec.json")]}
    for name, (program, *words) in commands.items():
        (tmp_path / name / "tree").mkdir(parents=True)
        (tmp_path / name / "tree" / "probed.py").write_text(PROBES.read_text())
        done = warm.program(program, *words, folder=tmp_path / name / "tree", python=python)
        assert done.returncode == 0, done.stdout
    real, ours = (json.loads((tmp_path / name / "answers.json").read_text()) for name in commands)
    assert {name: (real.get(name), ours.get(name)) for name in real | ours if real.get(name) != ours.get(name)} == {}
    assert len(real) > 400 and sum(str(answer).startswith("raises") for answer in real.values()) > 100


# -- projects


PROJECT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import {package} as pl
from {package}.loggers import CSVLogger


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self.layer(batch[0]), batch[1])
        {line}
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.rand(32, 4)
    data = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4, num_workers=2, persistent_workers=True)
    trainer = pl.Trainer(max_epochs=2, logger={logger})
    trainer.fit(Net(), data)
"""
ONE, TWO = 'CSVLogger("logs")', '[CSVLogger("logs", name="a"), CSVLogger("logs", name="b")]'


@pytest.mark.parametrize(
    ("line", "logger", "verdict"),
    [
        ('self.logger.experiment.log_metrics({"train/loss": float(loss)}, 1)', ONE, "preserved"),
        ("assert self.logger is None and self.trainer.logger is None", "None", "regressed"),
        ("assert not isinstance(self.logger, bool) and self.logger is None", "False", "preserved"),
        ("assert isinstance(self.logger, CSVLogger) and self.logger.name == 'default'", ONE, "regressed"),
        ('self.logger[1].log_metrics({"train/loss": float(loss)})', TWO, "regressed"),
        ("self.logger.experiment.add_nothing(loss)", ONE, "inconclusive"),
    ],
)
def test_a_project_is_judged_by_its_own_logger(line: str, logger: str, verdict: str) -> None:
    """Up to 1.5 a list of loggers is one that can be subscripted, and its experiment is a list; None is no
    logger there, and the default one in 2.x."""
    old, new = (
        {"train.py": PROJECT.format(package=package, line=line, logger=logger)}
        for package in ("pytorch_lightning", "lightning.pytorch")
    )
    judgement = judge(before := recorded(old, "1.5.10"), after := recorded(new, TARGET), ())
    assert judgement.verdict == verdict, judgement.reason
    assert before.stands_for is None and after.stands_for is None
    if "experiment.log_metrics" in line:
        assert len(dict(before.recording.logged)["logger: train/loss"]) == 16


# -- what failed in our stead


def test_what_is_done_to_a_stand_in_is_told_from_what_is_done_by_the_project() -> None:
    class Trainer:
        def __init__(self, known: int = 1) -> None: ...

    experiment = StandInExperiment("trackers", {}, real=SimpleNamespace)
    assert _blamed(lambda: experiment.add_scalar) == "trackers"
    assert _blamed(lambda: float(StandInExperiment("alone", {}))) in ("alone", "trackers")
    assert _blamed(lambda: harness.beside("short").least(known=1)) is None
    assert _blamed(lambda: Trainer(unknown=1)) is None
    assert _blamed(lambda: [].add_scalar) is None  # type: ignore[attr-defined]
    strategy = type("Strategy", (), {})()
    assert _blamed(lambda: strategy.ranks, placed=True) == "devices"
    assert _blamed(lambda: strategy.ranks) is None


def test_errors_that_cannot_be_compared_are_told_apart() -> None:
    """As those of pynvml, whose `__eq__` reads what no other error has."""

    class Coded(Exception):
        def __eq__(self, other: object) -> bool:
            return bool(self.value == other.value)  # type: ignore[attr-defined]

        __hash__ = Exception.__hash__

    def fails() -> None:
        try:
            raise OSError("libnvidia-ml.so.1")
        except OSError as error:
            raise Coded from error

    assert _blamed(fails) is None


def _blamed(fails: object, **spec: object) -> str | None:
    with pytest.raises(Exception) as caught:
        fails()  # type: ignore[operator]
    return blamed(caught.value, spec)


class Logger:
    """What stands for the base class of Lightning's loggers."""

    _version = None

    def __init__(self, folder: str) -> None:
        self._save_dir = folder

    @property
    def experiment(self) -> object:
        raise ConnectionError("no network")

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        raise ConnectionError("no network")


def test_a_logger_without_its_network_is_quiet_in_both_trees() -> None:
    logger = Logger("logs")
    assert _blamed(lambda: logger.log_metrics({})) == "loggers"
    assert _blamed(lambda: logger.log_metrics({}), quiet=["loggers"]) is None
    away, works = replace(RAW, stands_for="loggers"), RAW
    again = otherwise(away, works, {})
    assert again is not None and again[0] == {"quiet": ("loggers",)} and "write nothing" in again[1]
    assert otherwise(None, away, {}) is not None and otherwise(works, away, {}) is None
    assert otherwise(away, works, again[0]) is None
    assert settled(works, away).stands_for is None and settled(away, away).stands_for == "loggers"
    quieted(logger, "loggers", tells("/nowhere", lambda name, value: None))
    logger.log_metrics({"a": 1.0})
    assert isinstance(logger, Logger) and type(logger).__name__ == "Logger"
    assert logger.experiment.add_scalar("a", 1.0) is None  # type: ignore[attr-defined]


def test_a_stand_in_that_can_be_spared_is_left_out_in_both_trees_and_another_is_no_verdict() -> None:
    workers, devices = replace(RAW, stands_for="workers"), replace(RAW, stands_for="devices")
    again = otherwise(RAW, workers, {})
    assert again is not None and again[0] == {"without": ("workers",)}
    assert otherwise(workers, RAW, again[0]) is None
    assert otherwise(RAW, devices, {}) is None
    for old, new in ((devices, RAW), (RAW, devices)):
        judgement = judge(old, new, ())
        assert judgement.verdict == "inconclusive"
        assert standins.named("devices") in judgement.reason and "says nothing about the project" in judgement.reason


def test_a_record_says_what_failed_in_our_stead(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    event = {"event": "failure", "type": "AttributeError", "message": "m", "place": None, "stands_for": "workers"}
    record.write_text(json.dumps(event))
    assert read(record, "t.py").stands_for == "workers"
    record.write_text(json.dumps({**event, "stands_for": "what the project wrote there"}))
    assert read(record, "t.py").stands_for is None


# -- folders and checkpoints


def test_folders_outside_of_the_run_are_moved_into_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "tmp"))
    keeper = Keeper({"scratch": str(tmp_path / "scratch")}, str(tmp_path / "tree"), lambda name, value: None)
    monkeypatch.chdir(tmp_path)
    inside = str(tmp_path / "tree" / "logs")
    assert keeper.folder(inside) == inside and keeper.folder(None) is None
    assert keeper.folder("/data/logs") == str(tmp_path / "scratch" / "elsewhere" / "data" / "logs")
    assert keeper.folder(Path("/data")) == tmp_path / "scratch" / "elsewhere" / "data"
    assert keeper.folder("s3://bucket/logs") == str(tmp_path / "scratch" / "elsewhere" / "s3" / "bucket" / "logs")
    logger = Logger("/data/logs")
    keeper.keep(logger)
    assert logger._save_dir == str(tmp_path / "scratch" / "elsewhere" / "data" / "logs")


def test_a_checkpoint_that_is_too_large_is_empty_and_the_model_at_hand_is_evaluated(tmp_path: Path) -> None:
    spec = {"scratch": str(tmp_path)}
    keeper = Keeper(spec, str(tmp_path), lambda name, value: None)
    large = SimpleNamespace(numel=lambda: 2**30, element_size=lambda: 4)
    module = SimpleNamespace(state_dict=lambda: {"weight": large})
    best = str(tmp_path / "best" / "a.ckpt")
    callback = SimpleNamespace(best_model_path=best, save_top_k=1)
    trainer = SimpleNamespace(
        lightning_module=module, checkpoint_callback=callback, state=SimpleNamespace(finished=True)
    )
    keeper.saving(lambda *_: pytest.fail("written"))(trainer, best)
    assert Path(best).is_file() and not Path(best).stat().st_size and spec["emptied"]
    for place in (tmp_path / ".lr_find_1a-2b.ckpt", "lr_find_temp_model.ckpt", "scale_batch_size_temp_model_1.ckpt"):
        assert keeper.saving(lambda *_: "whole")(trainer, place) == "whole", "a Tuner loads it again"
    assert keeper.saving(lambda *_: "whole")(trainer, str(tmp_path / "my_lr_find_1.ckpt")) is None
    seen: list[object] = []
    test = keeper.evaluating(lambda trainer, **given: seen.append(given))
    test(trainer, ckpt_path="best")
    callback.best_model_path = "there.ckpt"
    test(trainer, ckpt_path="best")
    assert seen == [{"ckpt_path": None, "model": module}, {"ckpt_path": "best"}]


def test_every_stand_in_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "stand-ins.md").read_text(encoding="utf-8")
    for stand_in in standins.STAND_INS.values():
        assert stand_in.of in page and stand_in.put in page and stand_in.differs in page
