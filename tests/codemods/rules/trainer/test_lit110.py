"""LIT110's table against Lightning itself, what its rows write, what it leaves, and what the rewritten call does."""

from __future__ import annotations

import ast
import inspect

import lightning.pytorch as pl
import pytest
from lightning.pytorch import Trainer

from codemods.lightning.arguments import ArgumentRow, current, once, rows, signatures
from codemods.rules.trainer.lit110 import CONDITION, OTHERS
from codemods.rules.trainer.lit111 import GONE
from codemods.rules.trainer.special import SPECIAL
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n"
CHECKPOINT = HEAD + "from pytorch_lightning.callbacks import ModelCheckpoint\n\nsaver = ModelCheckpoint()\n"
EVERY = [row for items in rows().values() for row in items]
NOW = inspect.signature(Trainer.__init__).parameters


def after(text: str, unsafe: bool = False) -> str:
    return rewritten({"train.py": text}, rule("LIT110"), unsafe=unsafe)["train.py"]


def call(text: str, unsafe: bool = False) -> str:
    """The last line after the rule."""
    return after(f"{HEAD}{text}\n", unsafe).splitlines()[-1]


def test_the_newest_signature_is_the_installed_ones() -> None:
    assert current() == set(NOW) - {"self"}
    for method in ("fit", "validate", "test", "predict"):
        newest = list(signatures()[method].values())[-1]
        assert list(newest) == [
            name for name in inspect.signature(getattr(Trainer, method)).parameters if name != "self"
        ]


def test_every_argument_that_went_has_a_row_or_a_rule() -> None:
    owned = OTHERS | set(GONE) | set(rows())
    assert once() - current() <= owned
    assert owned - once() == {"using_native_amp"}


@pytest.mark.parametrize("row", EVERY, ids=lambda row: f"{row.argument}-{row.value}")
def test_targets_exist(row: ArgumentRow) -> None:
    assert row.level == "manual" or row.action in ("drop", "write", "callback", "special")
    assert row.reason
    if row.action == "write":
        assert row.keyword in NOW
        ast.parse(f"f({row.keyword}={row.text('1')})")
    if row.action == "callback":
        text = row.text("{0: 2}" if row.value == "dict" else "3")
        node = ast.parse(f"{text} else 0" if row.target.endswith(CONDITION) else text, mode="eval").body
        node = node.body if isinstance(node, ast.IfExp) else node
        assert isinstance(node, ast.Call)
        inspect.signature(getattr(pl.callbacks, ast.unparse(node.func))).bind(
            **{str(item.arg): 1 for item in node.keywords}
        )
    if row.action == "special":
        assert row.target in SPECIAL


@pytest.mark.parametrize("name", sorted(rows()))
def test_rows_of_an_argument_end_with_any_value_or_leave_what_is_current(name: str) -> None:
    last = rows()[name][-1]
    assert last.value == "*" or name in current() or name in OTHERS


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("Trainer(weights_summary=None)", "Trainer(enable_model_summary=False)"),
        ("Trainer(weights_summary='top', max_epochs=1)", "Trainer(max_epochs=1)"),
        ("Trainer(weights_summary='full')", "Trainer(callbacks=[ModelSummary(max_depth=-1)])"),
        ("Trainer(checkpoint_callback=False)", "Trainer(enable_checkpointing=False)"),
        ("Trainer(progress_bar_refresh_rate=0)", "Trainer(enable_progress_bar=False)"),
        ("Trainer(progress_bar_refresh_rate=1)", "Trainer()"),
        ("Trainer(weights_summary='full', callbacks=None)", "Trainer(callbacks=[ModelSummary(max_depth=-1)])"),
        ("Trainer(weights_summary='full', callbacks=[a])", "Trainer(callbacks=[a, ModelSummary(max_depth=-1)])"),
        ("Trainer(weights_summary='full', callbacks=[])", "Trainer(callbacks=[ModelSummary(max_depth=-1)])"),
        ("Trainer(replace_sampler_ddp=x)", "Trainer(use_distributed_sampler=x)"),
        ("Trainer(reload_dataloaders_every_epoch=True)", "Trainer(reload_dataloaders_every_n_epochs=1)"),
        ("Trainer(reload_dataloaders_every_epoch=x)", "Trainer(reload_dataloaders_every_n_epochs=int(bool(x)))"),
        (
            "Trainer(reload_dataloaders_every_epoch=a in b and not c)",
            "Trainer(reload_dataloaders_every_n_epochs=int(a in b and not c))",
        ),
        (
            "Trainer(reload_dataloaders_every_epoch=a and b)",
            "Trainer(reload_dataloaders_every_n_epochs=int(bool(a and b)))",
        ),
        ("Trainer(val_percent_check=1)", "Trainer(limit_val_batches=1.0)"),
        ("Trainer(val_percent_check=0.5)", "Trainer(limit_val_batches=0.5)"),
        ("Trainer(train_percent_check=0)", "Trainer(limit_train_batches=0.0)"),
        ("Trainer(overfit_pct=0)", "Trainer(overfit_batches=0.0)"),
        ("Trainer(overfit_pct=0.0)", "Trainer(overfit_batches=0.0)"),
        ("Trainer(use_amp=True)", 'Trainer(precision="16-mixed")'),
        ("Trainer(use_amp=True, precision=16)", "Trainer(precision=16)"),
        ("Trainer(use_amp=False, precision=32)", "Trainer(precision=32)"),
        ("Trainer(use_amp=not full)", 'Trainer(precision="32-true" if full else "16-mixed")'),
        ("Trainer(amp_backend='native', amp_level='O2', precision=16)", "Trainer(precision=16)"),
        ("Trainer(terminate_on_nan=False)", "Trainer()"),
        ("Trainer(track_grad_norm=-1)", "Trainer()"),
        ("Trainer(track_grad_norm=-1.0)", "Trainer()"),
        ("Trainer(max_nb_epochs=3, row_log_interval=5)", "Trainer(max_epochs=3, log_every_n_steps=5)"),
        ("Trainer(profiler=True)", 'Trainer(profiler="simple")'),
        ("Trainer(profiler=n == 1)", 'Trainer(profiler="simple" if n == 1 else None)'),
        ("Trainer(multiple_trainloader_mode='max_size_cycle')", "Trainer()"),
        ("Trainer.from_argparse_args(a, show_progress_bar=x)", "Trainer.from_argparse_args(a, enable_progress_bar=x)"),
        ("Trainer(accumulate_grad_batches=None)", "Trainer()"),
        (
            "Trainer(accumulate_grad_batches={0: 2})",
            "Trainer(callbacks=[GradientAccumulationScheduler(scheduling={0: 2})])",
        ),
    ],
)  # fmt: skip
def test_written(before: str, wanted: str) -> None:
    assert call(before) == wanted


def test_a_part_of_the_data_meant_another_thing_in_each_release() -> None:
    (found,) = run_rules({"train.py": f"{HEAD}Trainer(overfit_pct=0.1)\n"}, rule("LIT110")).findings
    assert found.fix == "unsafe"
    assert "0.7 took that part of each loader, as limit_train_batches" in found.reason


@pytest.mark.parametrize(
    "before",
    [
        "Trainer(terminate_on_nan=True)",
        "Trainer(amp_backend='apex', precision=16)",
        "Trainer(amp_backend='apex', **more)",
        "Trainer(progress_bar_refresh_rate=rate)",
        "Trainer(log_gpu_memory='all')",
        "Trainer(val_percent_check=share)",
        "Trainer(early_stop_callback=True)",
        "Trainer(weights_summary='full', callbacks=given)",
        "Trainer(replace_sampler_ddp=False, **more)",
        "Trainer(track_grad_norm=2)",
        "Trainer(track_grad_norm=args.norm)",
    ],
)
def test_only_with_unsafe_fixes(before: str) -> None:
    assert call(before) == before
    assert call(before, unsafe=True) != before


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("Trainer(track_grad_norm='text')", "refused that value since 1.5"),
        ("Trainer(track_grad_norm=2, **dict(callbacks=[]))", "`callbacks` comes by `**` too"),
        ("Trainer(show_progress_bar=False, **dict(enable_progress_bar=True))", "comes by `**` too"),
        ("Trainer(weights_summary=find())", "ModelSummary"),
        ("Trainer(stochastic_weight_avg=True)", "swa_lrs"),
        ("Trainer(checkpoint_callback=None, callbacks=given)", "unless there is a ModelCheckpoint"),
        ("Trainer(checkpoint_callback=thing)", "whether it is a ModelCheckpoint"),
        ("Trainer(weights_save_path=p)", "dirpath"),
        ("Trainer(prepare_data_per_node=False)", "prepare_data_per_node"),
        ("Trainer(move_metrics_to_cpu=True)", "compute_on_cpu"),
        ("Trainer(multiple_trainloader_mode='min_size')", "CombinedLoader"),
        ("Trainer(automatic_optimization=False)", "constructor"),
        ("Trainer(use_amp=True, precision=32)", "given too"),
        ("Trainer(use_amp=full, precision=16)", "given too"),
        ("Trainer(weights_summary=None, enable_model_summary=False)", "given too"),
        ("Trainer(progress_bar_refresh_rate=5, callbacks=[TQDMProgressBar()])", "hold a progress bar"),
        ("Trainer(weights_summary='full', callbacks=(a, b))", "is not a list"),
        ("Trainer(experiment=e)", "no release since 0.7 had it"),
        ("Trainer(\n    # why\n    weights_summary='top',\n    max_epochs=1,\n)", "there is a comment next to it"),
        ("Trainer(\n    max_epochs=1,\n    weights_summary='top',\n    # why\n)", "there is a comment next to it"),
        ("Trainer(weights_summary='top', # why\n    max_epochs=1)", "there is a comment next to it"),
    ],
)  # fmt: skip
def test_left_to_a_person(before: str, why: str) -> None:
    [reason] = refusals({"train.py": f"{HEAD}{before}\n"}, "LIT110")
    assert why in reason


@pytest.mark.parametrize(
    "text",
    [
        "from ray import Trainer\nTrainer(weights_summary=None)\n",
        HEAD + "def f(Trainer):\n    Trainer(weights_summary=None)\n",
        HEAD + "build(weights_summary=None)\n",
        HEAD + "Trainer(accumulate_grad_batches=4, profiler='simple', overfit_batches=0.1)\n",
        HEAD + "try:\n    Trainer(enable_model_summary=False)\nexcept TypeError:\n    Trainer(weights_summary=None)\n",
    ],
)
def test_not_spoken_of(text: str) -> None:
    assert run_rules({"train.py": text}, rule("LIT110")).findings == ()


def test_a_checkpoint_goes_among_the_callbacks() -> None:
    assert after(f"{CHECKPOINT}Trainer(checkpoint_callback=saver)\n") == f"{CHECKPOINT}Trainer(callbacks=[saver])\n"
    chosen = after(f"{CHECKPOINT}Trainer(checkpoint_callback=saver if not quick else None)\n")
    assert chosen == f"{CHECKPOINT}Trainer(enable_checkpointing=not quick, callbacks=[saver] if not quick else [])\n"
    there = f"{CHECKPOINT}Trainer(checkpoint_callback=saver, callbacks=[saver])\n"
    assert after(there) == f"{CHECKPOINT}Trainer(callbacks=[saver])\n"
    mine = CHECKPOINT.replace(
        "saver = ModelCheckpoint()", "class Saver(ModelCheckpoint):\n    pass\n\n\nsaver = Saver()"
    )
    assert after(f"{mine}Trainer(checkpoint_callback=saver)\n") == f"{mine}Trainer(callbacks=[saver])\n"


def test_a_folder_of_checkpoints_goes_where_the_checkpoint_has_its_own() -> None:
    own = CHECKPOINT.replace("ModelCheckpoint()", "ModelCheckpoint(dirpath='there')")
    assert after(f"{own}Trainer(callbacks=[saver], weights_save_path=p)\n") == f"{own}Trainer(callbacks=[saver])\n"


def test_callbacks_are_spelled_as_the_file_spells_lightning() -> None:
    text = "import lightning.pytorch as pl\n\npl.Trainer(weights_summary='full')\n"
    assert "pl.callbacks.ModelSummary(max_depth=-1)" in after(text)
    text = "from lightning.pytorch import Trainer\n\nTrainer(weights_summary='full')\n"
    assert "from lightning.pytorch.callbacks import ModelSummary\n" in after(text)
    taken = HEAD + "from mine import ModelSummary\n\nTrainer(weights_summary='full')\n"
    assert "for something else" in refusals({"train.py": taken}, "LIT110")[0]


def test_options_tell_the_type() -> None:
    text = (
        "from argparse import ArgumentParser\n" + HEAD + "parser = ArgumentParser()\n"
        "parser.add_argument('--share', type=float, default=1.0)\nparser.add_argument('--rate', type=int, default=1)\n"
        "args = parser.parse_args()\nTrainer(val_percent_check=args.share, progress_bar_refresh_rate=args.rate)\n"
    )
    assert "limit_val_batches=args.share, callbacks=[TQDMProgressBar(refresh_rate=args.rate)]" in after(text)


SUBCLASS = "class {0}:\n    def __init__(self, {1}):\n        super().__init__({2})\n"


def test_a_constructor_that_calls_lightnings_is_a_call_of_trainer() -> None:
    given = "weights_summary=None, terminate_on_nan=False, log_gpu_memory=find()"
    text = HEAD + SUBCLASS.format("Mine(Trainer)", "**options", given)
    wanted = HEAD + SUBCLASS.format("Mine(Trainer)", "**options", "enable_model_summary=False, log_gpu_memory=find()")
    assert after(text) == wanted
    [finding] = run_rules({"train.py": wanted}, rule("LIT110")).findings
    assert finding.fix == "manual" and "DeviceStatsMonitor" in finding.reason


def test_a_subclass_of_a_class_of_the_project_gets_one_finding_for_all() -> None:
    base = SUBCLASS.format("Base(Trainer)", "a=1, **options", "**options") + "\n\n"
    text = (
        HEAD + base + SUBCLASS.format("Mine(Base)", "**options", "weights_summary=None, terminate_on_nan=False, gpus=1")
    )
    [finding] = run_rules({"train.py": text}, rule("LIT110")).findings
    assert finding.fix == "manual"
    assert "weights_summary" in finding.reason and "terminate_on_nan" in finding.reason


HANDED = """\
class Mine(Trainer):
    \"\"\"A Trainer of ours.\"\"\"

    def __init__(self, {0}={1}, epochs=1):
{2}        super().__init__({3}max_epochs=epochs)
"""


@pytest.mark.parametrize(
    ("name", "default", "test"),
    [
        ("weights_save_path", "None", "weights_save_path is not None"),
        ("prepare_data_per_node", "True", "prepare_data_per_node not in (None, True)"),
        ("amp_backend", '"native"', 'amp_backend not in (None, "native")'),
        ("auto_lr_find", "False", "auto_lr_find not in (None, False)"),
        ("distributed_backend", "None", "distributed_backend is not None"),
        ("tpu_cores", "None", "tpu_cores is not None"),
        ("automatic_optimization", "True", "automatic_optimization not in (None, True)"),
        ("log_gpu_memory", "None", "log_gpu_memory not in (None, False)"),
        ("terminate_on_nan", "False", "terminate_on_nan not in (None, False)"),
        ("track_grad_norm", "-1", "track_grad_norm != -1"),
    ],
)
def test_what_a_constructor_hands_on_is_refused_where_it_asks_for_anything(name: str, default: str, test: str) -> None:
    text = after(HEAD + HANDED.format(name, default, "", f"{name}={name}, "))
    start, end = (HEAD + HANDED.format(name, default, "|", "")).split("|")
    assert text.startswith(f"{start}        if {test}:\n            raise TypeError(") and text.endswith(end)
    assert text.count("raise") == 1 and f"{name} is not in Lightning 2: " in text
    with pytest.raises(TypeError, match=f"^{name} is not in Lightning 2: [^ ].+"):
        _built(text, f"Mine({name}='other')")
    _built(text, "Mine()")
    _built(text, f"Mine({name}={default})")


def _built(text: str, call: str) -> None:
    """Runs a text in which Trainer is Lightning's newest."""
    exec(compile(text.replace("pytorch_lightning", "lightning.pytorch") + f"\n\n{call}\n", "train.py", "exec"), {})


@pytest.mark.parametrize(
    ("default", "guard", "given"),
    [
        ("'apex'", "", "amp_backend=amp_backend, "),
        ("'native'", "        amp_backend = epochs\n", "amp_backend=amp_backend, "),
        ("'native'", "", "amp_backend=str(amp_backend), "),
        ("'native'", "", "\n            # as before\n            amp_backend=amp_backend,\n            "),
    ],
)
def test_what_a_constructor_hands_on_otherwise_stays(default: str, guard: str, given: str) -> None:
    text = HEAD + HANDED.format("amp_backend", default, guard, given)
    assert refusals({"train.py": text}, "LIT110")
    required = text.replace(f"amp_backend={default}, ", "amp_backend, ")
    assert refusals({"train.py": required}, "LIT110")


@pytest.mark.parametrize("precision", ["", ", precision=32", ", precision='64'"])
@pytest.mark.parametrize("given", ["amp_backend='apex'", "amp_backend=b", "amp_level='O2', amp_backend='apex'"])
def test_what_mixed_precision_alone_looked_at_is_dropped_without_it(given: str, precision: str) -> None:
    assert call(f"Trainer(max_steps=1, {given}{precision})") == f"Trainer(max_steps=1{precision})"


@pytest.mark.parametrize(
    "before",
    ["Trainer(amp_backend=b, amp_level='O2', precision=16)", "Trainer(amp_level=x, amp_backend=b, precision=p)"],
)
def test_a_level_is_not_dropped_surely_beside_a_backend_that_is_not_seen(before: str) -> None:
    found = run_rules({"train.py": f"{HEAD}{before}\n"}, rule("LIT110")).findings
    assert "safe" not in {finding.fix for finding in found}
    text = HEAD + HANDED.format("amp_backend", "'native'", "", "amp_backend=amp_backend, amp_level='O2', ")
    assert "amp_level" not in after(text)


@pytest.mark.parametrize(
    ("pin", "level"), [("==1.0.7", "safe"), (">=1.5,<2", "safe"), (">=1.5", "unsafe"), ("", "unsafe")]
)
def test_what_a_spread_may_bring_goes_by_the_pin(pin: str, level: str) -> None:
    text = f"{HEAD}Trainer(replace_sampler_ddp=False, **more)\n"
    pins = (f"pytorch-lightning{pin}",) if pin else ()
    found = run_rules({"train.py": text}, rule("LIT110"), pins=pins).findings
    assert [finding.fix for finding in found] == [level]


OWN = """\
from other import Foreign
from mixins import Mixin, Started


class Mine({bases}):
    def __init__(self, replace_sampler_ddp=True, **options):
        super().__init__(replace_sampler_ddp=replace_sampler_ddp, {rest})
"""
MIXINS = (
    "class Mixin:\n    def name(self):\n        return 1\n\n\n"
    "class Started:\n    def __init__(self, **k):\n        pass\n"
)


@pytest.mark.parametrize(
    ("bases", "rest", "level"),
    [
        ("Trainer", "max_epochs=1", "safe"),
        ("Mixin, Trainer", "max_epochs=1", "safe"),
        ("Mixin, Trainer", "**options", "unsafe"),
        ("Trainer", "use_distributed_sampler=False", "manual"),
        ("Started, Trainer", "max_epochs=1", "manual"),
        ("Foreign, Trainer", "max_epochs=1", "manual"),
    ],
)
def test_a_new_name_in_a_constructor_that_calls_lightnings(bases: str, rest: str, level: str) -> None:
    files = {"train.py": HEAD + OWN.format(bases=bases, rest=rest), "mixins.py": MIXINS}
    [finding] = run_rules(files, rule("LIT110")).findings
    assert finding.fix == level
    text = rewritten(files, rule("LIT110"), unsafe=True)["train.py"]
    wanted = files["train.py"].replace("replace_sampler_ddp=replace", "use_distributed_sampler=replace")
    assert text == (files["train.py"] if level == "manual" else wanted)


CLS = (
    "import functools\nfrom pytorch_lightning import Trainer\n\n\nclass Mine(Trainer):\n"
    "    def __init__(self, weights_summary=None, {0}):\n        super().__init__({1})\n\n"
    "    @classmethod\n    def make(cls):\n        return cls({2})\n"
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (CLS.format("**kw", "**kw", "move_metrics_to_cpu=True"), [11]),
        (CLS.format("**kw", "**kw", "weights_summary='top'"), []),
        (CLS.format("a=1", "a", "replace_sampler_ddp=True"), []),
        (CLS.format("**kw", "**{'replace_sampler_ddp': True, **kw}", "a=1"), [7]),
        (CLS.format("**kw", "**kw", "**{'move_metrics_to_cpu': True}"), [11]),
        (f"{HEAD}import functools\nmake = functools.partial(Trainer, **{{'track_grad_norm': 2}})\n", [3]),
        (f"{HEAD}class Conf:\n    args = {{'track_grad_norm': 2}}\nTrainer(**Conf.args)\n", [3]),
        ("from hydra_configs.pytorch_lightning.trainer import TrainerConf\n\n\n"
         "class Conf(TrainerConf):\n    track_grad_norm: int = 2\n    max_epochs: int = 1\n", [5]),
        ("from conf.pytorch_lightning.trainer import TrainerConf\n\n\n"
         "class Conf(TrainerConf):\n    track_grad_norm: int = 2\n", []),
    ],
)  # fmt: skip
def test_what_reaches_a_trainer_of_the_project_is_named(text: str, lines: list[int]) -> None:
    made = run_rules({"train.py": text}, rule("LIT110"))
    assert [(item.span.line, item.fix) for item in made.findings] == [(line, "manual") for line in lines]
    assert not made.changes
