"""LIT230: every row against the newest release by reflection, and what it leaves alone."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import lightning.pytorch.cli  # noqa: F401
import pytest
from lightning.pytorch import LightningModule
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

from codemods.lightning.object_arguments import keywords
from tests.codemods.support import refusals, rewritten, rule, run_rules

RENAMED = {"profiler": "profilers", "BaseProfiler": "Profiler"}
MOVED = {
    "core.memory.ModelSummary": "utilities.model_summary.ModelSummary",
    "trainer.supporters.CombinedLoader": "utilities.combined_loader.CombinedLoader",
    "utilities.cli.LightningCLI": "cli.LightningCLI",
    "tuner.auto_gpu_select.pick_multiple_gpus": "accelerators.find_usable_cuda_devices",
    "callbacks.progress.base.get_standard_metrics": "callbacks.progress.progress_bar.get_standard_metrics",
}


def owner(dotted: str) -> Callable[..., Any] | None:
    """What a row's owner is in the newest release; None where the loops over its ways find nothing."""
    first, _, rest = dotted.partition(".")
    if first == "self":
        return getattr(LightningModule, rest)  # type: ignore[no-any-return]
    found: Any = importlib.import_module("lightning.pytorch")
    for part in MOVED.get(dotted, dotted).split("."):
        found = getattr(found, RENAMED.get(part, part))
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(("where", "keyword"), keywords())
def test_the_newest_release_takes_the_new_keyword_and_not_the_old(where: str, keyword: str) -> None:
    parameters = inspect.signature(owner(where)).parameters  # type: ignore[arg-type]
    row = keywords()[where, keyword]
    assert keyword not in parameters
    assert not row.becomes or row.becomes in parameters
    assert row.becomes or row.advice


def test_early_stopping_wants_a_monitor_in_the_newest_release() -> None:
    assert inspect.signature(EarlyStopping).parameters["monitor"].default is inspect.Parameter.empty


HEAD = (
    "from pytorch_lightning import trainer, utilities\n"
    "from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n"
)
MODULE = "from pytorch_lightning import LightningModule\n\n"


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ('ModelCheckpoint(monitor="loss", mode="auto")', 'ModelCheckpoint(monitor="loss", mode="min")'),
        ("ModelCheckpoint(period=n)", "ModelCheckpoint(every_n_epochs=n)"),
        ("trainer.supporters.CombinedLoader(loaders=n)", "trainer.supporters.CombinedLoader(iterables=n)"),
        ("utilities.cli.LightningCLI(M, auto_registry=True)", "utilities.cli.LightningCLI(M)"),
    ],
)
def test_rewritten(call: str, after: str) -> None:
    assert rewritten({"a.py": HEAD + call + "\n"}, rule("LIT230"))["a.py"] == HEAD + after + "\n"


LOGS = """
class Model(LightningModule):
    def validation_step(self, batch, batch_idx):
        self.log({!r}, batch.mean())
"""


@pytest.mark.parametrize("metric", ["val_loss", "early_stop_on"])
def test_what_early_stopping_watched_by_itself(metric: str) -> None:
    files = {"a.py": HEAD + "EarlyStopping()\n", "b.py": MODULE + LOGS.format(metric)}
    after = rewritten(files, rule("LIT230"))["a.py"]
    assert after == f'{HEAD}EarlyStopping(monitor="{metric}")\n'


def test_what_early_stopping_watched_wins_over_what_it_could_have() -> None:
    files = {"a.py": HEAD + "EarlyStopping()\n", "b.py": MODULE + LOGS.format("early_stop_on") + '        "val_loss"\n'}
    assert 'monitor="early_stop_on"' in rewritten(files, rule("LIT230"))["a.py"]


@pytest.mark.parametrize("said", ["# 'early_stop_on'\n", ""])
def test_nothing_is_sure_of_what_early_stopping_watched_where_nothing_logs_it(said: str) -> None:
    files = {"a.py": HEAD + "EarlyStopping(patience=2)\n", "b.py": MODULE + LOGS.format("loss"), "README.md": said}
    assert run_rules(files, rule("LIT230")).changes == ()
    [found] = run_rules(files, rule("LIT230")).findings
    assert found.fix == "unsafe" and "val_loss" in found.reason
    after = rewritten(files, rule("LIT230"), unsafe=True)["a.py"]
    assert after == f'{HEAD}EarlyStopping(monitor="val_loss", patience=2)\n'


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("ModelCheckpoint(period=1, every_n_epochs=2)", "given too"),
        ('ModelCheckpoint(monitor=name, mode="auto")', "cannot tell what it watches"),
        ("ModelCheckpoint(prefix=a + b)", "filename="),
        ('ModelCheckpoint(filepath="a/{epoch}", dirpath="b")', "dirpath="),
    ],
)
def test_findings(call: str, said: str) -> None:
    [reason] = refusals({"a.py": HEAD + call + "\n"}, "LIT230")
    assert said in reason


def test_a_fallback_for_older_releases() -> None:
    served = "try:\n    a = ModelCheckpoint(every_n_epochs=1)\nexcept TypeError:\n    a = ModelCheckpoint(period=1)\n"
    made = run_rules({"a.py": HEAD + served}, rule("LIT230"))
    assert made.findings == () and made.changes == ()
    asked = "if old_version:\n    a = ModelCheckpoint(period=1)\n"
    [reason] = refusals({"a.py": HEAD + asked}, "LIT230")
    assert "version check" in reason
    other = "try:\n    a = ModelCheckpoint(period=1)\nexcept TypeError:\n    a = None\n"
    assert "every_n_epochs=1" in rewritten({"a.py": HEAD + other}, rule("LIT230"))["a.py"]


@pytest.mark.parametrize(
    "call",
    [
        'ModelCheckpoint(monitor="loss", mode="min", every_n_epochs=2)',
        "EarlyStopping(**options)",
        'EarlyStopping("loss")',
        "other.ModelCheckpoint(period=2)",
        "class A:\n    def f(self):\n        self.log(sync_dist_op=1)",
    ],
)
def test_left_alone(call: str) -> None:
    made = run_rules({"a.py": HEAD + call + "\n"}, rule("LIT230"))
    assert made.findings == () and made.changes == ()


@pytest.mark.parametrize("period", [0, -1])
def test_a_period_below_one_goes_when_asked_for(period: int) -> None:
    text = f"{HEAD}ModelCheckpoint(period={period}, save_top_k=1)\n"
    assert run_rules({"a.py": text}, rule("LIT230")).changes == ()
    after = rewritten({"a.py": text}, rule("LIT230"), unsafe=True)["a.py"]
    assert after == f"{HEAD}ModelCheckpoint(save_top_k=1)\n"
    for pin, level in (("==0.8.5", "safe"), ("<1.0", "safe"), (">=0.9", "unsafe"), ("==1.2.10", "unsafe")):
        [found] = run_rules({"a.py": text}, rule("LIT230"), pins=(f"pytorch-lightning{pin}",)).findings
        assert found.fix == level


@pytest.mark.parametrize(("value", "kept"), [("True", "1"), ("False", "-1")])
def test_what_kept_the_best_alone_says_how_many(value: str, kept: str) -> None:
    text = "from pytorch_lightning.callbacks import ModelCheckpoint\n\nsave = ModelCheckpoint(monitor='a', {})\n"
    before = text.format(f"save_best_only={value}")
    after = rewritten({"a.py": before}, rule("LIT230"))["a.py"]
    assert after == text.format(f"save_top_k={kept}")
    built = eval(after.splitlines()[2].removeprefix("save = "), {"ModelCheckpoint": ModelCheckpoint})
    assert built.save_top_k == int(kept)
    unwatched = run_rules({"a.py": before.replace("monitor='a', ", "")}, rule("LIT230")).findings
    assert [item.fix for item in unwatched] == ["unsafe" if kept == "1" else "safe"]
    assert "save_top_k=" in refusals({"a.py": text.format(f"save_best_only={value}, save_top_k=3")}, "LIT230")[0]
    asked = {"a.py": text.format("save_best_only=best")}
    assert run_rules(asked, rule("LIT230")).changes == ()
    assert rewritten(asked, rule("LIT230"), unsafe=True)["a.py"] == text.format("save_top_k=1 if best else -1")


HYDRA = """\
model_checkpoint:
  _target_: pytorch_lightning.callbacks.ModelCheckpoint
  monitor: val/loss
  period: 2
  prefix: best
other:
  _target_: somewhere.ModelCheckpoint
  period: 2
early_stopping:
  _target_: pytorch_lightning.callbacks.EarlyStopping
  monitor: val/loss
  mode: auto
"""
COMMAND_LINE = """\
callbacks:
  - class_path: pytorch_lightning.callbacks.ModelCheckpoint
    init_args:
      every_n_val_epochs: 3
"""


def test_what_a_configuration_hands_on_is_named() -> None:
    made = run_rules({"conf/a.yaml": HYDRA, "b.yaml": COMMAND_LINE}, rule("LIT230"))
    found = {(finding.path, finding.span.line): finding for finding in made.findings}
    assert set(found) == {("b.yaml", 4), ("conf/a.yaml", 4), ("conf/a.yaml", 5), ("conf/a.yaml", 12)}
    assert {finding.fix for finding in made.findings} == {"manual"} and not made.changes
    assert "write every_n_epochs" in found["conf/a.yaml", 4].reason
    assert "put it into filename=" in found["conf/a.yaml", 5].reason


def test_a_profiler_that_is_given_a_file_by_position_is_named() -> None:
    text = "import pytorch_lightning as pl\n\nprofiler = pl.profiler.AdvancedProfiler(path)\n"
    for pin, found in (("pytorch-lightning==1.1.6", 1), ("pytorch-lightning==1.4.9", 0), ("pytorch-lightning>=1.2", 0)):
        made = run_rules({"a.py": text}, rule("LIT230"), pins=(pin,))
        assert not made.changes and len(made.findings) == found
        assert all("dirpath=" in each.reason for each in made.findings)


@pytest.mark.parametrize(("given", "found"), [("", 1), ("swa_epoch_start=2", 1), ("swa_lrs=0.1", 0), ("**more", 0)])
def test_averaging_that_is_told_no_rate_is_named(given: str, found: int) -> None:
    text = f"import pytorch_lightning as pl\n\naverage = pl.callbacks.StochasticWeightAveraging({given})\n"
    made = run_rules({"a.py": text}, rule("LIT230"))
    assert not made.changes and [each.fix for each in made.findings] == ["manual"] * found


SPREAD = """\
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint


def build(config, more):
    saved = config.callbacks["saved"]
    stop = EarlyStopping(**OmegaConf.to_container(config.stop, resolve=True))
    return [ModelCheckpoint(dirpath="out", **saved), stop, ModelCheckpoint(**more), made(**config.trained)]
"""


def test_what_the_code_spreads_of_a_configuration_is_named() -> None:
    nested = "callbacks:\n  saved:\n    period: 2\n    save_last: true\nother:\n  period: 2\ntrained:\n  period: 3\n"
    made = run_rules(
        {"a.py": SPREAD, "b.yaml": nested, "conf/stop/c.yaml": "monitor: loss\nmode: auto\n"}, rule("LIT230")
    )
    assert not made.changes
    found = {(finding.path, finding.span.line): finding.reason for finding in made.findings}
    assert set(found) == {("b.yaml", 3), ("conf/stop/c.yaml", 2)}
    assert "a.py gives it to ModelCheckpoint; write every_n_epochs instead" in found["b.yaml", 3]
    assert "a.py gives it to EarlyStopping" in found["conf/stop/c.yaml", 2]
    assert not run_rules(
        {"a.py": SPREAD.replace("pytorch_lightning", "other"), "b.yaml": nested}, rule("LIT230")
    ).findings


def test_a_configuration_that_cannot_be_read_stays() -> None:
    assert not run_rules({"a.yaml": HYDRA + "  - : : {\n"}, rule("LIT230")).findings


def test_a_partial_is_named_and_left() -> None:
    text = (
        "from functools import partial\nfrom pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n"
        "make = partial(ModelCheckpoint, period=1)\nstop = partial(EarlyStopping, mode='auto')\n"
    )
    made = run_rules({"a.py": text}, rule("LIT230"))
    assert not made.changes and [finding.span.line for finding in made.findings] == [4]
    assert "every_n_epochs" in made.findings[0].reason


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("TensorBoardLogger(name='a')", True),
        ("CSVLogger()", True),
        ("TensorBoardLogger('logs')", False),
        ("TensorBoardLogger(save_dir='logs')", False),
        ("TensorBoardLogger(**given)", False),
        ("TensorBoardLogger(*given)", False),
        ("WandbLogger()", False),
    ],
)
def test_a_logger_that_is_told_no_folder_is_named(call: str, named: bool) -> None:
    head = "from pytorch_lightning.loggers import CSVLogger, TensorBoardLogger, WandbLogger\n\n"
    found = run_rules({"a.py": f"{head}logger = {call}\n"}, rule("LIT230")).findings
    assert [("save_dir" in finding.message, finding.fix) for finding in found] == [(True, "manual")] * named
    other = head.replace("pytorch_lightning", "mine") + f"logger = {call}\n"
    assert run_rules({"a.py": other}, rule("LIT230")).findings == ()


BASES = """\
from pytorch_lightning import LightningDataModule
from pytorch_lightning.profiler import BaseProfiler


class Data(LightningDataModule):
    def __init__(self, images):
        super().__init__(train_transforms=images, dims=(1, 28, 28))


class Clock(BaseProfiler):
    def __init__(self, streams):
        super(Clock, self).__init__(output_streams=streams)
"""


def test_what_a_base_took_once_is_named_where_a_class_hands_it_up() -> None:
    found = {each.message.split("`")[1] for each in run_rules({"a.py": BASES}, rule("LIT230")).findings}
    assert found == {"train_transforms=", "dims=", "output_streams="}
    others = BASES.replace("pytorch_lightning", "acme")
    assert run_rules({"a.py": others}, rule("LIT230")).findings == ()


def test_a_module_that_a_function_defines_logs_too() -> None:
    text = (
        "from pytorch_lightning import LightningModule\n\n\ndef made(rate):\n    class Model(LightningModule):\n"
        "        def validation_step(self, batch, batch_idx):\n"
        '            self.log("val_loss", batch.mean(), sync_dist_op="sum")\n\n    return Model()\n'
    )
    assert rewritten({"a.py": text}, rule("LIT230"))["a.py"] == text.replace("sync_dist_op", "reduce_fx")


HANDED_UP = """\
from pytorch_lightning import LightningDataModule


class Data(LightningDataModule):
    def __init__(self, train_transforms=None, **kwargs):
        super().__init__()
        self.images = train_transforms


class Labelled(Data):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Digits(Labelled):
    def __init__(self, images):
        super().__init__(train_transforms=images)


Labelled(train_transforms=1)
"""


def test_what_a_class_further_up_takes_itself_reaches_no_class_of_lightnings() -> None:
    assert run_rules({"a.py": HANDED_UP}, rule("LIT230")).findings == ()
    taken = HANDED_UP.replace("train_transforms=None, **kwargs", "**kwargs").replace(" = train_transforms", " = 1")
    taken = taken.replace("        super().__init__()\n", "        super().__init__(**kwargs)\n")
    found = run_rules({"a.py": taken}, rule("LIT230")).findings
    assert [each.span.line for each in found] == [17, 20]
    kept = HANDED_UP.replace("super().__init__(*args, **kwargs)", "super().__init__(*args, **self.known(kwargs))")
    assert [each.span.line for each in run_rules({"a.py": kept}, rule("LIT230")).findings] == [17, 20]


STANDARD = "from pytorch_lightning.callbacks.progress.base import get_standard_metrics\n\n"


@pytest.mark.parametrize(
    ("given", "kept"),
    [("trainer, module", "trainer"), ("trainer, module,", "trainer"), ("trainer, pl_module=module", "trainer"),
     ("trainer", "trainer"), ("*given", "*given"), ("trainer, *given", "trainer, *given")],
)  # fmt: skip
def test_the_trainer_alone_is_asked_for_its_metrics(given: str, kept: str) -> None:
    text = f"{STANDARD}items = get_standard_metrics({given})\n"
    assert rewritten({"a.py": text}, rule("LIT001"), rule("LIT230"))["a.py"] == text
    after = rewritten({"a.py": text}, rule("LIT001"), rule("LIT230"), unsafe=True)["a.py"]
    assert after.endswith(f"get_standard_metrics({kept})\n") and "progress_bar import" in after


def test_devices_are_picked_by_the_name_that_their_number_has() -> None:
    text = "from pytorch_lightning.tuner.auto_gpu_select import pick_multiple_gpus\n\npick_multiple_gpus(nb=2)\n"
    after = rewritten({"a.py": text}, rule("LIT001"), rule("LIT230"))["a.py"]
    assert after.endswith("import find_usable_cuda_devices\n\nfind_usable_cuda_devices(num_devices=2)\n")
