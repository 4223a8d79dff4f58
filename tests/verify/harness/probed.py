"""Asks the objects of a release what they are and what they do: `python probed.py ANSWERS.json`.

Run once by itself and once by the proof's harness, in which stand-ins answer. Trainings are as short as the proof's.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, get_worker_info

try:
    import pytorch_lightning as pl
    from pytorch_lightning import loggers
    from pytorch_lightning.callbacks import ModelCheckpoint
except ImportError:
    import lightning.pytorch as pl
    from lightning.pytorch import loggers
    from lightning.pytorch.callbacks import ModelCheckpoint

warnings.simplefilter("ignore")
SHORT = {"limit_train_batches": 8, "limit_val_batches": 2, "max_epochs": 2}
NEW = not pl.__version__.startswith(("1.4", "1.5", "1.6"))
FITTED = ("default", "list of two")
ANSWERS: dict[str, Any] = {}
HERE = str(Path.cwd())


class Own(getattr(loggers, "Logger", None) or loggers.LightningLoggerBase):
    """A logger as projects write them."""

    name, version = "own", 3

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    @property
    def experiment(self) -> list[str]:
        return self.seen

    def log_metrics(self, metrics: Any, step: Any = None) -> None:
        self.seen += [name for name in sorted(metrics) if name != "epoch"]

    def log_hyperparams(self, params: Any, *more: Any) -> None:
        self.seen.append("hyperparams")


class Net(pl.LightningModule):
    def __init__(self, width: int = 1) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(4, width)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        loss = self.layer(batch[0]).pow(2).mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("val_loss", self.layer(batch[0]).pow(2).mean())

    def test_step(self, batch: Any, batch_idx: int) -> None:
        self.log("test_loss", self.layer(batch[0]).pow(2).mean())

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Counted(IterableDataset):
    """Data that is shared out among workers by hand."""

    def __iter__(self) -> Any:
        info = get_worker_info()
        first, every = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(first, 12, every))


def asked(name: str, question: Callable[[], Any]) -> Any:
    """Note the answer, or the kind of error, and hand the answer on."""
    try:
        found = question()
    except Exception as error:
        ANSWERS[name] = f"raises {type(error).__name__}"
        return None
    ANSWERS[name] = plain(found)
    return found


def plain(value: Any) -> Any:
    """An answer without what differs from process to process."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (str, Path)):
        text = str(value)
        return f"HERE{text[len(HERE) :]}" if text.startswith(HERE) else text
    if isinstance(value, torch.Tensor):
        return "a tensor"
    return value if isinstance(value, (bool, int, float, type(None))) else kind(value)


def kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".replace("lightning.pytorch", "pytorch_lightning")


def trainer_of(name: str, **given: Any) -> Any:
    return asked(f"{name}: Trainer", lambda: pl.Trainer(**{**SHORT, **given}))


def data(**how: Any) -> Any:
    return DataLoader(TensorDataset(torch.linspace(-1, 1, 128).reshape(32, 4)), batch_size=4, **how)


def fitted(name: str, trainer: Any) -> None:
    torch.manual_seed(1)
    asked(f"{name}: fit", lambda: trainer.fit(Net(), data(), data()))


def logger_probes(name: str, trainer: Any, moment: str) -> None:
    """What a Trainer's loggers are and do."""
    here = f"{name}, {moment}"
    questions: dict[str, Callable[[], Any]] = {
        "logger": lambda: kind(trainer.logger),
        "loggers": lambda: [kind(each) for each in trainer.loggers],
        "module's": lambda: trainer.lightning_module.logger is trainer.logger,
        "first": lambda: kind(trainer.logger[0]),
        "second": lambda: kind(trainer.logger[1]),
        "by name": lambda: kind(trainer.logger["a"]),
        "iterated": lambda: [kind(each) for each in trainer.logger],
        "length": lambda: len(trainer.logger),
        "true": lambda: bool(trainer.logger),
        "log_dir": lambda: trainer.logger.log_dir,
        "save_dir": lambda: trainer.logger.save_dir,
        "root_dir": lambda: trainer.logger.root_dir,
        "name": lambda: trainer.logger.name,
        "version": lambda: trainer.logger.version,
        "trainer's": lambda: trainer.log_dir,
        "nothing": lambda: trainer.logger.nothing,
        "log_metrics": lambda: trainer.logger.log_metrics({"own": 1.0}, step=1),
        "log_metrics of a text": lambda: trainer.logger.log_metrics({"own": "text"}, step=1),
        "log_metrics of none": lambda: trainer.logger.log_metrics(),
        "log_hyperparams": lambda: trainer.logger.log_hyperparams({"rate": 0.1}),
        "after_save_checkpoint": lambda: trainer.logger.after_save_checkpoint(trainer.checkpoint_callback),
        "save": lambda: trainer.logger.save(),
        "experiment": lambda: kind(trainer.logger.experiment),
        "first experiment": lambda: kind(trainer.logger.experiment[0]),
        "add_scalar": lambda: kind(trainer.logger.experiment.add_scalar("own", 1.0, 0)),
        "add_image": lambda: kind(trainer.logger.experiment.add_image("own", torch.zeros(3, 4, 4), 0)),
        "add_image of numbers": lambda: kind(trainer.logger.experiment.add_image("own", 3, 0)),
        "add_histogram": lambda: kind(trainer.logger.experiment.add_histogram("own", torch.zeros(4), 0)),
        "add_nothing": lambda: kind(trainer.logger.experiment.add_nothing("own")),
        "log": lambda: kind(trainer.logger.experiment.log({"own": 1.0})),
    }
    for question, answer in questions.items():
        asked(f"{here}: {question}", answer)


def probe_loggers() -> None:
    made: dict[str, Callable[[], Any]] = {
        "default": lambda: True, "off": lambda: False, "none": lambda: None, "csv": lambda: loggers.CSVLogger("csv"),
        "tensorboard": lambda: loggers.TensorBoardLogger("tb", name="net"), "own": lambda: Own(),
        "list of one": lambda: [loggers.CSVLogger("csv", name="one")],
        "list of two": lambda: [loggers.CSVLogger("csv", name="a"), Own()],
        "tuple": lambda: (Own(), loggers.CSVLogger("csv", name="b")), "empty list": lambda: [],
        "wandb": lambda: loggers.WandbLogger(project="p"), "comet": lambda: loggers.CometLogger(api_key="k"),
        "mlflow": lambda: loggers.MLFlowLogger(), "a text": lambda: "tensorboard",
    }  # fmt: skip
    for name, make in made.items():
        ANSWERS.pop("made", None)
        logger = asked("made", make)
        ANSWERS[f"{name}: made"] = ANSWERS.pop("made")
        if isinstance(ANSWERS[f"{name}: made"], str) and ANSWERS[f"{name}: made"].startswith("raises"):
            continue
        trainer = trainer_of(name, logger=logger)
        if trainer is not None:
            logger_probes(name, trainer, "before")
            if name in FITTED:
                fitted(name, trainer)
                logger_probes(name, trainer, "after")


def checkpoint_probes(name: str, trainer: Any) -> None:
    """What a Trainer has of checkpoints, and loads."""
    questions: dict[str, Callable[[], Any]] = {
        "callback": lambda: kind(trainer.checkpoint_callback),
        "callbacks": lambda: sorted(kind(each) for each in trainer.callbacks),
        "checkpoints": lambda: len(trainer.checkpoint_callbacks),
        "best": lambda: trainer.checkpoint_callback.best_model_path,
        "score": lambda: trainer.checkpoint_callback.best_model_score,
        "last": lambda: trainer.checkpoint_callback.last_model_path,
        "kept": lambda: len(trainer.checkpoint_callback.best_k_models),
        "dirpath": lambda: trainer.checkpoint_callback.dirpath,
        "written": lambda: Path(trainer.checkpoint_callback.best_model_path).is_file(),
        "loaded": lambda: kind(Net.load_from_checkpoint(trainer.checkpoint_callback.best_model_path)),
        "tested": lambda: sorted(trainer.test(dataloaders=data(), ckpt_path="best")[0]),
        "tested again": lambda: sorted(trainer.test(dataloaders=data())[0]),
        "tested last": lambda: sorted(trainer.test(dataloaders=data(), ckpt_path="last")[0]),
        "tested nothing": lambda: trainer.test(dataloaders=data(), ckpt_path="nothing.ckpt"),
        "saved": lambda: (trainer.save_checkpoint("mine.ckpt"), Path("mine.ckpt").is_file())[1],
    }
    for question, answer in questions.items():
        asked(f"{name}: {question}", answer)


def probe_checkpoints() -> None:
    off = {"enable_checkpointing": False} if NEW or pl.__version__ > "1.5" else {"checkpoint_callback": False}
    made: dict[str, Callable[[], dict[str, Any]]] = {
        "checkpoints": lambda: {},
        "no checkpoints": lambda: off,
        "monitored": lambda: {"callbacks": [ModelCheckpoint("best", monitor="val_loss", save_last=True, save_top_k=2)]},
        "none kept": lambda: {"callbacks": ModelCheckpoint(save_top_k=0)},
        "of a metric that is not there": lambda: {"callbacks": [ModelCheckpoint(monitor="nothing")]},
        "fast": lambda: {"fast_dev_run": True},
        "contradicting": lambda: {**off, "callbacks": [ModelCheckpoint("one")]},
    }
    for name, given in made.items():
        trainer = trainer_of(name, **given())
        if trainer is not None:
            asked(f"{name}: default_root_dir", lambda trainer=trainer: trainer.default_root_dir)
            fitted(name, trainer)
            checkpoint_probes(name, trainer)


def bar_probes(name: str, trainer: Any) -> None:
    """What a Trainer's bar is and shows."""
    questions: dict[str, Callable[[], Any]] = {
        "callback": lambda: kind(trainer.progress_bar_callback).rpartition(".")[2],
        "rate": lambda: trainer.progress_bar_callback.refresh_rate,
        "enabled": lambda: trainer.progress_bar_callback.is_enabled,
        "batches": lambda: trainer.progress_bar_callback.total_train_batches,
        "train bar": lambda: kind(trainer.progress_bar_callback.train_progress_bar),
        "main bar": lambda: kind(trainer.progress_bar_callback.main_progress_bar),
        "count": lambda: trainer.progress_bar_callback.main_progress_bar.n,
        "said": lambda: trainer.progress_bar_callback.print("a word"),
        "metrics": lambda: sorted(trainer.progress_bar_metrics),
        "old metrics": lambda: sorted(trainer.progress_bar_dict),
        "nothing": lambda: trainer.progress_bar_callback.nothing,
    }
    for question, answer in questions.items():
        asked(f"{name}: {question}", answer)


def probe_bars() -> None:
    bar = getattr(pl.callbacks, "TQDMProgressBar", None) or pl.callbacks.ProgressBar

    class Bar(bar):  # type: ignore[misc, valid-type]
        def get_metrics(self, *given: Any) -> Any:
            found = super().get_metrics(*given)
            ANSWERS["own bar: metrics"] = sorted(found)
            return found

    off = {"enable_progress_bar": False} if pl.__version__ > "1.5" else {"progress_bar_refresh_rate": 0}
    made: dict[str, Callable[[], dict[str, Any]]] = {
        "bar": lambda: {}, "no bar": lambda: off, "own bar": lambda: {"callbacks": [Bar(refresh_rate=3)]},
        "old argument": lambda: {"progress_bar_refresh_rate": 5},
        "own bar and none": lambda: {**off, "callbacks": [Bar()]},
    }  # fmt: skip
    for name, given in made.items():
        trainer = trainer_of(name, logger=False, **given())
        if trainer is None:
            continue
        fitted(name, trainer)
        bar_probes(name, trainer)


def probe_workers() -> None:
    made: dict[str, dict[str, Any]] = {
        "none": {}, "two": {"num_workers": 2}, "kept": {"num_workers": 1, "persistent_workers": True},
        "ahead": {"num_workers": 1, "prefetch_factor": 4}, "timed": {"num_workers": 1, "timeout": 30},
        "kept, none": {"persistent_workers": True}, "ahead, none": {"prefetch_factor": 4}, "fewer": {"num_workers": -1},
        "odd start": {"num_workers": 1, "multiprocessing_context": "sideways"}, "unknown": {"number_of_workers": 1},
        "prepared": {"num_workers": 1, "worker_init_fn": prepared},
        "prepared badly": {"num_workers": 1, "worker_init_fn": badly},
    }  # fmt: skip
    for name, given in made.items():
        loader = asked(f"workers, {name}: made", lambda given=given: data(**given))
        for value in ("num_workers", "persistent_workers", "prefetch_factor", "timeout", "batch_size"):
            asked(f"workers, {name}: {value}", lambda loader=loader, value=value: getattr(loader, value))
        for again in ("", " again"):
            asked(f"workers, {name}: batches{again}", lambda loader=loader: sum(float(b[0].sum()) > 9 for b in loader))
    for workers in (0, 1, 3):
        shared = DataLoader(Counted(), batch_size=None, num_workers=workers)
        asked(f"shared by {workers}", lambda shared=shared: sorted(int(each) for each in shared))


def prepared(number: int) -> None:
    info = get_worker_info()
    assert info is not None and info.id == number and len(info.dataset) == 32 and isinstance(info.seed, int)


def badly(number: int) -> None:
    raise KeyError(number)


def probe_devices() -> None:
    for name, given in {"cpu": {}, "one": {"accelerator": "cpu", "devices": 1}, "old": {"gpus": None}}.items():
        trainer = trainer_of(f"devices, {name}", logger=False, **given)
        for value in (
            "num_devices",
            "world_size",
            "num_nodes",
            "global_rank",
            "gpus",
            "num_gpus",
            "root_gpu",
            "tpu_cores",
        ):
            asked(f"devices, {name}: {value}", lambda trainer=trainer, value=value: getattr(trainer, value))
        for value in ("strategy", "accelerator", "training_type_plugin", "profiler"):
            asked(f"devices, {name}: {value}", lambda trainer=trainer, value=value: kind(getattr(trainer, value)))


def main() -> None:
    for probe in (probe_loggers, probe_checkpoints, probe_bars, probe_workers, probe_devices):
        probe()
    Path(sys.argv[1]).write_text(json.dumps(ANSWERS), encoding="utf-8")


if __name__ == "__main__":
    os.environ["PL_DISABLE_TIPS"] = "1"
    importlib.invalidate_caches()
    main()
