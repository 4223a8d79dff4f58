"""LIT001: what it rewrites, what it leaves, and that its table tells the truth about the newest Lightning."""

from __future__ import annotations

import ast
import importlib
import warnings

import pytest

from codemods.rules.names.table import FABRIC, Gone, gone, spelled
from tests.codemods.support import refusals, rewritten, rule, run_rules


def text(before: str, *, path: str = "train.py") -> str:
    return rewritten({path: before}, rule("LIT001"))[path]


def exists(dotted: str) -> bool:
    module, _, name = dotted.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module(dotted)
        except ImportError:
            return hasattr(importlib.import_module(module), name)
    return True


@pytest.mark.parametrize("namespace", FABRIC)
def test_every_new_place_is_in_the_newest_release(namespace: str) -> None:
    missing = [entry.old for entry in gone().values() if entry.new and not exists(spelled(entry.new, namespace))]
    assert missing == []


def fails(entry: Gone) -> bool:
    module, _, name = spelled(entry.old, "pytorch_lightning").rpartition(".")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = getattr(importlib.import_module(module), name, None)
        except ImportError:
            return True
    aliased = "_graveyard" in str(getattr(found, "__module__", "")) or entry.new.endswith(
        getattr(found, "__name__", "?")
    )
    if found is not None and name == "NeptuneLogger":
        with pytest.raises(RuntimeError, match="Neptune"):
            found()
        return True
    return found is None or aliased or bool(caught) or name == "logging"


def test_every_old_name_fails_or_is_deprecated_in_the_newest_release() -> None:
    assert [entry.old for entry in gone().values() if not fails(entry)] == []


def test_one_statement_becomes_two_and_keeps_its_comment() -> None:
    before = "from pytorch_lightning.utilities.distributed import rank_zero_only, tpu_distributed  # noqa: E402\n"
    assert text(before) == (
        "from pytorch_lightning.utilities.distributed import tpu_distributed  # noqa: E402\n"
        "from pytorch_lightning.utilities.rank_zero import rank_zero_only\n"
    )


def test_names_in_parentheses_are_taken_out_line_by_line() -> None:
    before = (
        "def main():\r\n    from pytorch_lightning.utilities.distributed import (\r\n        rank_zero_only,\r\n"
        "        tpu_distributed,\r\n    )\r\n"
    )
    assert text(before) == (
        "def main():\r\n    from pytorch_lightning.utilities.distributed import (\r\n"
        "        tpu_distributed,\r\n    )\r\n"
        "    from pytorch_lightning.utilities.rank_zero import rank_zero_only\r\n"
    )


def test_the_namespace_stays() -> None:
    before = "from lightning.pytorch.utilities.apply_func import apply_to_collection, move_data_to_device\n"
    assert text(before) == (
        "from lightning.fabric.utilities import move_data_to_device\n"
        "from lightning_utilities.core.apply_func import apply_to_collection\n"
    )


def test_an_alias_stays() -> None:
    before = "from pytorch_lightning.loggers.base import LightningLoggerBase as Base\n\n\nclass Mine(Base):\n    pass\n"
    assert text(before).splitlines()[0] == "from pytorch_lightning.loggers.logger import Logger as Base"


def test_a_renamed_class_keeps_its_old_name_where_others_take_it_from_here() -> None:
    files = {
        "pkg/log.py": "from pytorch_lightning.loggers import LightningLoggerBase\n",
        "pkg/use.py": "from pkg.log import LightningLoggerBase\nimport pytorch_lightning\n",
    }
    after = rewritten(files, rule("LIT001"))
    assert after["pkg/log.py"] == "from pytorch_lightning.loggers import Logger as LightningLoggerBase\n"
    assert after["pkg/use.py"] == files["pkg/use.py"]


def test_a_renamed_class_keeps_its_old_name_where_its_new_one_is_taken() -> None:
    before = (
        "from pytorch_lightning.loggers import LightningLoggerBase\n\n\nclass Logger(LightningLoggerBase):\n    pass\n"
    )
    assert text(before).splitlines()[0] == "from pytorch_lightning.loggers import Logger as LightningLoggerBase"


def test_a_module_moves_with_what_is_reached_through_it() -> None:
    before = "from pytorch_lightning import profiler\n\nchosen = profiler.SimpleProfiler()\n"
    assert text(before) == "from pytorch_lightning import profilers\n\nchosen = profilers.SimpleProfiler()\n"


def test_a_module_stays_where_something_of_it_went_elsewhere() -> None:
    before = "from pytorch_lightning import profiler\n\n\nclass Mine(profiler.AbstractProfiler):\n    pass\n"
    assert len(refusals({"a.py": before}, "LIT001")) == 1


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("import pytorch_lightning as pl\n", "import pytorch_lightning as pl\npl.seed_everything(1)\n"),
        ("import torch\n", "import pytorch_lightning\nimport torch\npytorch_lightning.seed_everything(1)\n"),
        ("", None),
        ("import torch\npytorch_lightning = None\n", None),
    ],
)
@pytest.mark.parametrize("name", ["seed", "drawn"])
def test_a_name_that_is_reached_through_a_module_that_stays(head: str, after: str | None, name: str) -> None:
    line = f"from pytorch_lightning.utilities import seed{'' if name == 'seed' else ' as drawn'}\n"
    made = run_rules({"a.py": f"{head}{line}{name}.seed_everything(1)\n"}, rule("LIT001"))
    assert made.final() == ({"a.py": after.encode()} if after else {})
    assert [finding.applied for finding in made.findings] == [after is not None]


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("from pytorch_lightning import Trainer, loggers", "loggers.LightningLoggerBase", "loggers.Logger"),
        ("from pytorch_lightning import loggers as logs", "logs.base.LightningLoggerBase", "logs.logger.Logger"),
        ("import pytorch_lightning.loggers as logs", "logs.LightningLoggerBase", "logs.Logger"),
        ("from lightning import pytorch", "pytorch.loggers.base.DummyLogger", "pytorch.loggers.logger.DummyLogger"),
    ],
)
def test_a_module_that_leads_to_the_new_place_too_is_written_as_it_was(line: str, old: str, new: str) -> None:
    before = f"{line}\n\n\ndef made(logger: {old}) -> None:\n    logger.save()\n"
    assert text(before) == before.replace(old, new)


def test_the_longest_known_part_of_a_chain_decides() -> None:
    before = "import pytorch_lightning as pl\n\nkind = pl.profiler.BaseProfiler\n"
    assert text(before) == "import pytorch_lightning as pl\n\nkind = pl.profilers.Profiler\n"


def test_strings_that_are_import_paths() -> None:
    before = 'import pytorch_lightning\n\npatch("pytorch_lightning.utilities.distributed.rank_zero_only")\n'
    assert 'patch("pytorch_lightning.utilities.rank_zero.rank_zero_only")' in text(before)


@pytest.mark.parametrize(
    "before",
    [
        "try:\n    from pytorch_lightning.loggers.base import DummyLogger\nexcept ImportError:\n"
        "    from pytorch_lightning.loggers.logger import DummyLogger\n",
        "import polars as pl\n\npl.utilities.seed.seed_everything(1)  # pytorch_lightning\n",
        "import pytorch_lightning as pl\n\n\ndef f(pl):\n    return pl.utilities.seed.seed_everything(1)\n",
        "from pytorch_lightning.utilities.rank_zero import rank_zero_only\nfrom pytorch_lightning import Trainer\n",
        '"""Uses pytorch_lightning.utilities.distributed.rank_zero_only, see there."""\n',
        "from mine.pytorch_lightning.utilities.distributed import rank_zero_only\n",
    ],
    ids=["serves-both", "other-library", "hidden-by-parameter", "current", "prose", "other-package"],
)
def test_left_alone(before: str) -> None:
    made = run_rules({"a.py": before}, rule("LIT001"))
    assert made.findings == () and made.changes == ()


def test_a_comment_inside_the_statement_is_a_finding() -> None:
    before = "from pytorch_lightning.utilities.distributed import (\n    rank_zero_only,  # for logging\n)\n"
    [reason] = refusals({"a.py": before}, "LIT001")
    assert "there is a comment inside" in reason and "rank_zero.rank_zero_only" in reason


def test_what_is_gone_for_good_is_explained() -> None:
    [reason] = refusals({"a.py": "from pytorch_lightning.loggers.test_tube import Experiment\n"}, "LIT001")
    assert "TensorBoardLogger" in reason


def test_an_idle_decorator_goes() -> None:
    before = (
        "import pytorch_lightning as pl\n\n\nclass A:\n"
        "    @pl.data_loader\n    def train_dataloader(self):\n        pass\n"
    )
    assert text(before) == before.replace("    @pl.data_loader\n", "").partition("\n\n\n")[2]


IDLE = """\
from pytorch_lightning import LightningModule, data_loader


class A(LightningModule):
    @data_loader
    def train_dataloader(self):
        return loader

    @data_loader
    def val_dataloader(self):
        return loader
"""


def test_an_idle_decorator_goes_with_its_import() -> None:
    assert text(IDLE) == IDLE.replace("    @data_loader\n", "").replace(", data_loader", "")


@pytest.mark.parametrize(
    "before",
    [
        IDLE + "\n\nplain = data_loader(A.val_dataloader)\n",
        IDLE.replace("    @data_loader\n    def val", "    @data_loader  # kept once\n    def val"),
        IDLE + '\n\n__all__ = ["data_loader"]\n',
    ],
)
def test_an_idle_decorator_that_is_used_otherwise_too_stays(before: str) -> None:
    assert text(before) == before
    assert "delete it" in refusals({"a.py": before}, "LIT001")[0]


@pytest.mark.parametrize(
    "read", ["len(self.train_dataloader)", "next(iter(self.train_dataloader))", "A().val_dataloader"]
)
@pytest.mark.parametrize("decorator", ["data_loader", "pl.data_loader"])
def test_what_is_read_as_the_property_that_it_was_stays(read: str, decorator: str) -> None:
    before = f"{IDLE}\n    def count(self):\n        return {read}\n"
    if decorator != "data_loader":
        before = before.replace(
            "from pytorch_lightning import LightningModule, data_loader", "import pytorch_lightning as pl"
        )
        before = before.replace("(LightningModule)", "(pl.LightningModule)").replace("@data_loader", "@pl.data_loader")
    after = rewritten({"a.py": before}, rule("LIT001"), unsafe=True)["a.py"]
    assert any(f"@{decorator}\n    def {name}_dataloader" in after for name in ("train", "val"))
    assert any(
        "up to 0.5.0 it was a property" in found.reason
        for found in run_rules({"a.py": before}, rule("LIT001")).findings
    )


@pytest.mark.parametrize(
    "read", ["len(self.train_dataloader())", "self.trainer.train_dataloader", "self.test_dataloader"]
)
def test_what_is_called_or_is_another_object_s_is_no_property(read: str) -> None:
    before = f"{IDLE}\n    def count(self):\n        return {read}\n"
    assert "data_loader" not in text(before).replace("_dataloader", "").replace("dataloader", "")


GONE_FOR_GOOD = "from pytorch_lightning import EvalResult\n"
VERSIONED = """\
import pytorch_lightning as pl

if int(pl.__version__[0]) < 2:
    pl.utilities.seed.seed_everything(1)
"""


def test_a_version_check_with_both_arms_is_left_alone() -> None:
    both = VERSIONED + "else:\n    import lightning_fabric\n\n    lightning_fabric.seed_everything(1)\n"
    made = run_rules({"a.py": both}, rule("LIT001"))
    assert made.findings == () and made.changes == ()


def test_a_version_check_with_one_arm_is_a_finding() -> None:
    [reason] = refusals({"a.py": VERSIONED.replace("< 2", "< LIMIT")}, "LIT001")
    assert "inside a version check" in reason
    assert run_rules({"a.py": VERSIONED}, rule("LIT001")).findings == ()  # it never runs on the target


def test_a_pin_stays_while_the_new_name_is_in_what_it_asks_for_and_other_places_wait() -> None:
    files = {
        "requirements.txt": "pytorch-lightning==1.8.6\n",
        "a.py": "from pytorch_lightning.profiler import SimpleProfiler\n" + GONE_FOR_GOOD,
    }
    after = rewritten(files)
    assert after["requirements.txt"] == files["requirements.txt"]
    assert "profilers" in after["a.py"]


def test_a_pin_moves_where_the_new_name_is_newer() -> None:
    files = {
        "requirements.txt": "pytorch-lightning==1.8.6\n",
        "a.py": "from pytorch_lightning.utilities.seed import reset_seed\n" + GONE_FOR_GOOD,
    }
    after = rewritten(files)
    assert after["requirements.txt"] == "pytorch-lightning==2.6.6\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LightningLoggerBase, WandbLogger", "Logger, WandbLogger"),
        ("CSVLogger, LightningLoggerBase", "CSVLogger, Logger"),
        ("CSVLogger, Logger, LightningLoggerBase", "CSVLogger, Logger"),
    ],
)
def test_a_name_whose_module_still_has_it_is_renamed_where_it_is_imported(old: str, new: str) -> None:
    head, use = "from pytorch_lightning.loggers import ", "\n\n\ndef log(logger: {0}) -> None:\n    pass\n"
    before = head + old + use.format("LightningLoggerBase")
    assert rewritten({"a.py": before}, rule("LIT001"))["a.py"] == head + new + use.format("Logger")


METRICS = """\
import pytorch_lightning as pl
import torch
from pytorch_lightning import metrics
from pytorch_lightning.metrics import F1, Accuracy
from pytorch_lightning.metrics import functional as FM


class Sum(pl.metrics.Metric):
    pass


def build():
    return [F1(), Accuracy(), pl.metrics.classification.IoU(3), metrics.MeanSquaredError()]
"""


def test_metrics_come_from_a_torchmetrics_that_asks_for_no_task() -> None:
    made = run_rules({"train.py": METRICS}, rule("LIT001"), pins=("torchmetrics>=0.7.1,<0.11",))
    assert made.final()["train.py"].decode() == (
        "import torch\n"
        "import torchmetrics\n"
        "import torchmetrics as metrics\n"
        "from torchmetrics import F1Score, Accuracy\n"
        "from torchmetrics import functional as FM\n"
        "\n\nclass Sum(torchmetrics.Metric):\n    pass\n\n\ndef build():\n"
        "    return [F1Score(), Accuracy(), torchmetrics.JaccardIndex(3), metrics.MeanSquaredError()]\n"
    )


@pytest.mark.parametrize(
    "before",
    [
        'import sys\n\nimport torchmetrics\n\nsys.modules["pytorch_lightning.profiler"] = torchmetrics\n',
        "import pytorch_lightning as pl\n\npl.utilities.seed.seed_everything = pl.seed_everything\n",
        "import pytorch_lightning as pl\n\ndel pl.utilities.seed.seed_everything\n",
    ],
)
def test_a_name_that_the_code_puts_back_itself_stays(before: str) -> None:
    assert text(before) == before
    assert refusals({"train.py": before}, "LIT001")


STAYS = """\
import torch
import torchmetrics
from pytorch_lightning import metrics
from pytorch_lightning.metrics import F1, Accuracy
from torchmetrics import functional as FM


class Sum(torchmetrics.Metric):
    pass


def build():
    return [F1(), Accuracy(), pl.metrics.classification.IoU(3), metrics.MeanSquaredError()]
"""


def test_a_metric_stays_where_its_call_would_lack_a_task() -> None:
    assert text(METRICS) == f"import pytorch_lightning as pl\n{STAYS}"
    made = run_rules({"train.py": METRICS}, rule("LIT001"))
    left = [finding for finding in made.findings if finding.fix == "manual"]
    assert [finding.span.line for finding in left] == [3, 4, 4, 13]
    assert all("has to be repaired by hand" in finding.reason and "MET001" in finding.reason for finding in left)


PROBABILITIES = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule
from pytorch_lightning.metrics import {name}


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(32, 1)
        self.accuracy = {call}

    def training_step(self, batch, batch_idx):
        x, y = batch
        probabilities = torch.sigmoid(self.layer(x))
        self.log("accuracy", self.accuracy(probabilities, y))
        return F.binary_cross_entropy(probabilities, y)
"""


def test_a_metric_moves_no_more_safely_than_its_call_is_told_the_task() -> None:
    before = PROBABILITIES.format(name="Accuracy", call="Accuracy()")
    rules = rule("LIT001"), rule("MET001")
    assert rewritten({"train.py": before}, *rules)["train.py"] == before
    moved = before.replace("pytorch_lightning.metrics", "torchmetrics")
    after = moved.replace("Accuracy()", 'Accuracy(task="binary")')
    assert rewritten({"train.py": before}, *rules, unsafe=True)["train.py"] == after


@pytest.mark.parametrize(
    "head", ["import pytorch_lightning.metrics as M", "from pytorch_lightning import metrics as M"]
)
def test_a_module_of_metrics_stays_for_a_call_that_would_lack_a_task(head: str) -> None:
    before = f"{head}\n\n\ndef build():\n    return M.Accuracy(), M.MeanSquaredError()\n"
    assert text(before) == before
    assert ["has to be repaired by hand" in reason for reason in refusals({"train.py": before}, "LIT001")] == [True]


@pytest.mark.parametrize(("given", "level"), [("True", "safe"), ("other", "unsafe")])
def test_a_base_moves_no_more_safely_than_what_is_handed_up_to_it(given: str, level: str) -> None:
    head = "from pytorch_lightning.metrics import Metric\n\n\nclass Sum(Metric):\n"
    before = f"{head}    def __init__(self, other):\n        super().__init__(compute_on_step={given})\n"
    made = run_rules({"train.py": before}, rule("LIT001"), unsafe=True)
    assert [finding.fix for finding in made.findings] == [level]


@pytest.mark.parametrize(
    "before",
    [
        "from pytorch_lightning.metrics import functional as FM\n\nvalue = FM.f1(a, b)\n",
        "from pytorch_lightning.metrics import PSNR\n",
        "from pytorch_lightning.metrics.functional import ssim, bleu_score, auc\n",
        'TARGET = "pytorch_lightning.metrics.Accuracy"\n',
        "import pytorch_lightning as pl\n\ntorchmetrics = None\nvalue = pl.metrics.Accuracy()\n",
        "import pytorch_lightning as pl\n\n\ndef build(torchmetrics):\n    return pl.metrics.Accuracy()\n",
    ],
    ids=[
        "renamed after the module",
        "other numbers",
        "other arguments",
        "a task is wanted",
        "name taken",
        "name taken in a function",
    ],
)
def test_metrics_that_stay(before: str) -> None:
    assert text(before) == before
    assert refusals({"train.py": before}, "LIT001")


SEED = "from pytorch_lightning.utilities.seed import "


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (f"{SEED}\\\n    reset_seed\n", "from lightning_fabric.utilities.seed import \\\n    reset_seed\n"),
        (
            f"{SEED}isolate_rng, \\\n    reset_seed\n",
            f"{SEED}isolate_rng\nfrom lightning_fabric.utilities.seed import reset_seed\n",
        ),
        ("from pytorch_lightning.utilities.seed \\\n    import reset_seed\n", None),
        ("from \\\n    pytorch_lightning.utilities.seed import reset_seed\n", None),
    ],
)
def test_a_statement_that_goes_on_behind_a_backslash(before: str, wanted: str | None) -> None:
    made = run_rules({"a.py": f"{before}reset_seed()\n"}, rule("LIT001"))
    assert [item.fix for item in made.findings] == ["safe" if wanted else "manual"]
    after = made.final().get("a.py", f"{before}reset_seed()\n".encode()).decode()
    assert after == f"{wanted or before}reset_seed()\n"
    ast.parse(after)


@pytest.mark.parametrize("module", ["loggers", "loggers.neptune", "logging", "logging.neptune"])
def test_a_class_that_only_says_that_it_is_gone_is_named(module: str) -> None:
    before = f"from pytorch_lightning.{module} import NeptuneLogger\n\nlogger = NeptuneLogger(project_name='a')\n"
    [reason] = refusals({"a.py": before}, "LIT001")
    assert "only raises an error" in reason and "WandbLogger" in reason
