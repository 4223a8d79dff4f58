"""LIT110's table against Lightning itself, what its rows write, what it leaves, and what the rewritten call does."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import lightning.pytorch as pl
import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import (
    EarlyStopping,
    GradientAccumulationScheduler,
    ModelCheckpoint,
    ModelSummary,
    ProgressBar,
    TQDMProgressBar,
)

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.lightning.arguments import ArgumentRow, current, once, rows, signatures
from codemods.rules.trainer.lit110 import CONDITION, OTHERS
from codemods.rules.trainer.lit111 import GONE
from codemods.rules.trainer.special import SPECIAL
from tests.codemods.support import refusals, rewritten, rule, run_rules, sources

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
        ("Trainer(val_percent_check=1)", "Trainer(limit_val_batches=1.0)"),
        ("Trainer(val_percent_check=0.5)", "Trainer(limit_val_batches=0.5)"),
        ("Trainer(train_percent_check=0)", "Trainer(limit_train_batches=0.0)"),
        ("Trainer(overfit_pct=0)", "Trainer(overfit_batches=0.0)"),
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
        "Trainer(amp_backend='apex')",
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
        ("Trainer(checkpoint_callback=None)", "some releases"),
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


@pytest.mark.parametrize("before", ["Trainer(amp_backend=b, amp_level='O2')", "Trainer(amp_level=x, amp_backend=b)"])
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


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("o = {'max_nb_epochs': 3, 'a': 1}\nTrainer(**o)\n", "o = {'max_epochs': 3, 'a': 1}\nTrainer(**o)\n"),
        ("o = dict(max_nb_epochs=x, a=1)\nTrainer(**o)\n", "o = dict(max_epochs=x, a=1)\nTrainer(**o)\n"),
        ("o = {'a': 1, 'track_grad_norm': -1}\nTrainer(**o)\n", "o = {'a': 1}\nTrainer(**o)\n"),
        ("o = {'track_grad_norm': -1, 'a': 1}\nTrainer(**o)\n", "o = {'a': 1}\nTrainer(**o)\n"),
        ("Trainer(**dict(max_nb_epochs=1))\n", "Trainer(**dict(max_epochs=1))\n"),
        ("Trainer(**{'weights_summary': None})\n", "Trainer(**{'enable_model_summary': False})\n"),
        ("Trainer(**{'profiler': True})\n", "Trainer(**{'profiler': \"simple\"})\n"),
        ("Trainer(**{\n    'max_nb_epochs': 3,  # few\n})\n", "Trainer(**{\n    'max_epochs': 3,  # few\n})\n"),
    ],
)  # fmt: skip
def test_a_dictionary(before: str, wanted: str) -> None:
    assert after(HEAD + before) == HEAD + wanted


@pytest.mark.parametrize(
    "body",
    [
        "o = {'weights_summary': None}\nTrainer(**o)\nsave(o)\n",
        "o = {\n    'weights_summary': 'top',  # why\n}\nTrainer(**o)\n",
        "o = {'weights_summary': None}\nTrainer(enable_model_summary=True, **o)\n",
        "o = {'weights_summary': None}\nfor name in o:\n    print(name)\nTrainer(**o)\n",
    ],
)
def test_a_dictionary_that_is_spoken_of(body: str) -> None:
    [finding] = run_rules({"train.py": HEAD + body}, rule("LIT110")).findings
    assert (finding.fix, finding.row) == ("manual", "M045")


def test_what_is_a_callback_now_stands_beside_the_dictionary() -> None:
    text = f"{HEAD}o = {{'weights_summary': 'full', 'max_epochs': 1}}\nTrainer(**o)\n"
    wanted = "o = {'max_epochs': 1}\nTrainer(callbacks=[ModelSummary(max_depth=-1)], **o)\n"
    assert after(text).endswith(wanted)


def built(text: str) -> Trainer:
    """The Trainer that a rewritten call builds on the newest release."""
    text = after(text, unsafe=True).replace("pytorch_lightning", "lightning.pytorch")
    names: dict[str, Any] = {}
    exec(compile(text, "train.py", "exec"), names)
    trainer = names["trainer"]
    assert isinstance(trainer, Trainer)
    return trainer


def test_the_newest_trainer_does_what_was_asked() -> None:
    common = "logger=False, accelerator='cpu', enable_checkpointing=False"
    quiet = built(f"{HEAD}\ntrainer = Trainer({common}, progress_bar_refresh_rate=0, weights_summary=None)\n")
    kinds = [type(item) for item in quiet.callbacks]
    assert not any(issubclass(kind, ModelSummary | ProgressBar) for kind in kinds)
    full = built(f"{HEAD}\ntrainer = Trainer({common}, weights_summary='full', progress_bar_refresh_rate=7)\n")
    [summary] = [item for item in full.callbacks if isinstance(item, ModelSummary)]
    [bar] = [item for item in full.callbacks if isinstance(item, TQDMProgressBar)]
    assert (summary._max_depth, bar.refresh_rate) == (-1, 7)
    windows = built(f"{HEAD}\ntrainer = Trainer({common}, accumulate_grad_batches={{0: 2, 3: 4}})\n")
    [scheduler] = [item for item in windows.callbacks if isinstance(item, GradientAccumulationScheduler)]
    assert scheduler.get_accumulate_grad_batches(3) == 4
    saving = built(f"{CHECKPOINT}trainer = Trainer(logger=False, accelerator='cpu', checkpoint_callback=saver)\n")
    assert len([item for item in saving.callbacks if isinstance(item, ModelCheckpoint)]) == 1
    stopping = built(f"{HEAD}\ntrainer = Trainer({common}, early_stop_callback=True)\n")
    assert [item.monitor for item in stopping.callbacks if isinstance(item, EarlyStopping)] == ["val_loss"]


def test_keys_set_one_by_one() -> None:
    text = (
        "from pytorch_lightning import Trainer\n\n\ndef build():\n    kw = dict(max_epochs=1)\n"
        "    kw['replace_sampler_ddp'] = False\n    kw['track_grad_norm'] = -1\n    kw['tpu_cores'] = 8\n"
        "    return Trainer(**kw)\n"
    )
    made = run_rules({"train.py": text}, rule("LIT110"), unsafe=True)
    assert [(item.span.line, item.fix) for item in made.findings] == [(6, "safe"), (7, "safe")]
    assert "    kw['use_distributed_sampler'] = False\n" in made.final()["train.py"].decode()
    assert "track_grad_norm" not in made.final()["train.py"].decode()


def test_fields_of_another_file_are_named_where_the_trainer_is_built() -> None:
    files = {
        "train.py": "from pytorch_lightning import Trainer\nfrom conf import Params\n\nTrainer(**vars(Params()))\n",
        "conf.py": "class Params:\n    gpus = 1\n    weights_summary = 'top'\n    max_epochs = 1\n",
    }
    made = run_rules(files, rule("LIT110"), rule("LIT101"))
    assert [(item.path, item.span.line, item.fix) for item in made.findings] == [("train.py", 4, "manual")] * 2
    assert ["conf.py:2" in made.findings[0].reason, "conf.py:3" in made.findings[1].reason] == [True, True]


CONF = (
    "from dataclasses import dataclass\n\n\n@dataclass\nclass Conf:\n    _target_: str = 'pytorch_lightning.Trainer'\n"
    "    weights_summary: str = 'top'\n    replace_sampler_ddp: bool = False\n    max_epochs: int = 1\n"
)


def test_a_structured_configuration_of_hydra_follows() -> None:
    after = rewritten({"conf.py": CONF}, rule("LIT110"))["conf.py"]
    assert after.endswith("Trainer'\n    use_distributed_sampler: bool = False\n    max_epochs: int = 1\n")
    assert run_rules({"conf.py": CONF.replace("pytorch_lightning", "cluster")}, rule("LIT110")).findings == ()


@pytest.mark.parametrize(
    ("old", "new", "files"),
    [
        ("'top'", "'full'", {}),
        ("'top'", "field(default='top')", {}),
        ("'top'", "'top'; seed: int = 1", {}),
        ("'top'", "'top'", {"train.py": "print(cfg.trainer.weights_summary)\n"}),
        ("'top'", "'top'", {"a.yaml": "trainer:\n  weights_summary: full\n"}),
        ("'top'", "'top'", {"run.sh": "python train.py trainer.weights_summary=full\n"}),
        ("max_epochs: int = 1\n", "max_epochs: int = 1\n\n\nConf(weights_summary='full')\n", {}),
    ],
)
def test_a_field_that_is_spoken_of_or_not_plain_is_named(old: str, new: str, files: dict[str, str]) -> None:
    assert old in CONF
    made = run_rules({"conf.py": CONF.replace(old, new), **files}, rule("LIT110"))
    assert "weights_summary" in made.final()["conf.py"].decode()
    assert [(item.span.line, item.fix) for item in made.findings if item.fix == "manual"] == [(7, "manual")]


def test_a_field_with_a_comment_goes_when_asked_for() -> None:
    text = CONF.replace("'top'", "'top'  # or full")
    assert "weights_summary" in rewritten({"conf.py": text}, rule("LIT110"))["conf.py"]
    assert "weights_summary" not in rewritten({"conf.py": text}, rule("LIT110"), unsafe=True)["conf.py"]


def test_an_argument_that_came_after_the_target() -> None:
    text = "from lightning.pytorch import Trainer\n\nTrainer(model_registry='x')\n"
    for target, count in (("2.6.6", 0), ("2.0.9", 1)):
        made = plan(sources({"a.py": text}), Options((rule("LIT110"),), target=target))
        assert [item.fix for item in made.findings] == ["manual"] * count


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


CHOSEN = "from pytorch_lightning.callbacks import ModelCheckpoint\n\n{}\nTrainer(checkpoint_callback=saver)\n"


@pytest.mark.parametrize(
    "value", ["False if quick else ModelCheckpoint()", "ModelCheckpoint(save_top_k=1) if slow else None"]
)
def test_a_checkpoint_or_none_in_a_variable_is_a_callback_at_times(value: str) -> None:
    text = HEAD + CHOSEN.format(f"saver = {value}")
    wanted = "Trainer(enable_checkpointing=bool(saver), callbacks=[saver] if saver else [])"
    assert after(text) == text.replace("Trainer(checkpoint_callback=saver)", wanted)
    for made in (True, False):
        space: dict[str, Any] = {"quick": not made, "slow": made}
        exec(
            after(text).replace("pytorch_lightning", "lightning.pytorch").replace("Trainer(e", "made = Trainer(e"),
            space,
        )
        assert (space["saver"] in space["made"].callbacks) is made
        assert bool(space["made"].checkpoint_callbacks) is made


@pytest.mark.parametrize(
    "made",
    ["saver = True if quick else ModelCheckpoint()", "saver = find() if quick else ModelCheckpoint()",
     "saver = None if quick else False", "saver = False if quick else ModelCheckpoint()\nsaver = find()"],
)  # fmt: skip
def test_what_a_variable_may_hold_beside_a_checkpoint_is_for_a_person(made: str) -> None:
    text = HEAD + CHOSEN.format(made)
    assert "callbacks=" not in after(text, unsafe=True)


NORMS = """\
import pytorch_lightning as pl

trainer = pl.Trainer(track_grad_norm={})
"""
LOGGED = (
    "pl.callbacks.LambdaCallback(on_before_optimizer_step=lambda trainer, module, optimizer: module.log_dict("
    "pl.utilities.grad_norm(module, norm_type={0}), on_step=True, on_epoch=True))"
)
HOOKED = "import pytorch_lightning as pl\n\n\nclass M(pl.LightningModule):\n    def {}(self, *args):\n        pass\n"


@pytest.mark.parametrize("value", ["2", "'inf'", "1.5"])
def test_gradient_norms_are_logged_by_a_callback(value: str) -> None:
    made = run_rules({"train.py": NORMS.format(value)}, rule("LIT110"), pins=("pytorch-lightning==1.9.5",))
    [finding] = made.findings
    after = made.final()["train.py"].decode()
    assert finding.fix == "safe" and f"pl.Trainer(callbacks=[{LOGGED.format(value)}])" in after
    space: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch").replace("Trainer(", "Trainer(logger=False, "), space)
    assert any(isinstance(item, pl.callbacks.LambdaCallback) for item in space["trainer"].callbacks)


def test_gradient_norms_of_a_value_that_may_ask_for_none() -> None:
    made = run_rules({"train.py": NORMS.format("n")}, rule("LIT110"), unsafe=True, pins=("pytorch-lightning==1.9.5",))
    [finding] = made.findings
    wanted = f"pl.Trainer(callbacks=[{LOGGED.format('n')}] if float(n) > 0 else [])"
    assert finding.fix == "unsafe" and wanted in made.final()["train.py"].decode()


@pytest.mark.parametrize(
    ("text", "files", "level"),
    [
        (NORMS.format("2"), {"m.py": HOOKED.format("training_step")}, "safe"),
        (NORMS.format("2"), {"m.py": HOOKED.format("on_before_optimizer_step")}, "manual"),
        (NORMS.format("2"), {"m.py": HOOKED.format("log_grad_norm")}, "manual"),
        (
            NORMS.format("2"),
            {"m.py": HOOKED.replace("def {}(self, *args):\n        pass", "on_before_optimizer_step = print")},
            "manual",
        ),
        (NORMS.format("0"), {}, "manual"),
        (NORMS.format("'2'"), {}, "manual"),
        (NORMS.format("2"), {"m.py": "optimizer_idx = 1\n"}, "unsafe"),
        (NORMS.format("2, strategy='ddp_spawn'"), {}, "manual"),
        (NORMS.format("find()"), {}, "manual"),
    ],
)
def test_gradient_norms_that_something_else_has_a_hand_in(text: str, files: dict[str, str], level: str) -> None:
    made = run_rules({"train.py": text, **files}, rule("LIT110"), pins=("pytorch-lightning==1.9.5",))
    assert [item.fix for item in made.findings] == [level]


STOPS = """\
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import EarlyStopping, TQDMProgressBar


def build(patience):
    if patience:
        stops = [EarlyStopping("val_loss", patience=patience)]
    else:
        stops = None
    return Trainer(callbacks=stops, progress_bar_refresh_rate=10)
"""


def test_callbacks_that_may_be_none_are_taken_for_none_at_all() -> None:
    after = rewritten({"a.py": STOPS}, rule("LIT110"), unsafe=True)["a.py"]
    assert "Trainer(callbacks=[*(stops or []), TQDMProgressBar(refresh_rate=10)])" in after
    listed = rewritten({"a.py": STOPS.replace("stops = None", "stops = []")}, rule("LIT110"), unsafe=True)["a.py"]
    assert "Trainer(callbacks=[*stops, TQDMProgressBar(refresh_rate=10)])" in listed


UNSET = """\
from dataclasses import dataclass
from typing import Any


@dataclass
class Run:
    _target_: str = "pytorch_lightning.Trainer"
    accelerator: Any = None
    devices: Any = None
    profiler: Any = None
    max_epochs: int = 3
"""


def test_none_that_hydra_gives_a_trainer_is_named() -> None:
    found = run_rules({"conf.py": UNSET}, rule("LIT110")).findings
    assert [each.message.split("=")[0] for each in found] == ["`accelerator", "`devices"]
    assert run_rules({"conf.py": UNSET.replace("pytorch_lightning.", "own.")}, rule("LIT110")).findings == ()


@pytest.mark.parametrize("value", ["cfg.amp_backend", "cfg['general'].backend"])
def test_a_backend_of_a_configuration_goes_with_apex(value: str) -> None:
    text = f"from pytorch_lightning import Trainer\n\n\ndef f(cfg):\n    Trainer(max_epochs=1, amp_backend={value})\n"
    assert run_rules({"a.py": text}, rule("LIT110")).changes == ()
    wanted = text.replace(f", amp_backend={value}", "")
    assert rewritten({"a.py": text}, rule("LIT110"), unsafe=True)["a.py"] == wanted


@pytest.mark.parametrize("line", ["#", "# ---", "# ====="])
def test_a_line_that_only_sets_apart_speaks_of_nothing(line: str) -> None:
    text = f"{HEAD}Trainer(\n    max_epochs=1,\n    {line}\n    weights_summary='top',\n    max_steps=1,\n)\n"
    after = rewritten({"train.py": text}, rule("LIT110"))["train.py"]
    assert after == text.replace("    weights_summary='top',\n", "")


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("val_percent_check=find()", "limit_val_batches=float(find())"),
        ("progress_bar_refresh_rate=find(1)", "callbacks=[TQDMProgressBar(refresh_rate=find(1))]"),
        ("process_position=find() + 1", None),
        ("progress_bar_refresh_rate=find() if n else None", None),
        ("val_percent_check=find() or None", None),
        ("val_percent_check=find(None)", None),
    ],
)
def test_what_can_be_written_once_alone_is_taken_to_be_there(before: str, wanted: str | None) -> None:
    text = f"{HEAD}Trainer({before})\n"
    assert rewritten({"train.py": text}, rule("LIT110"))["train.py"] == text
    after = rewritten({"train.py": text}, rule("LIT110"), unsafe=True)["train.py"]
    assert after == text if wanted is None else after.endswith(f"Trainer({wanted})\n")
