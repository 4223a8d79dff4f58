"""LIT110: arguments in dictionaries, fields and structured configurations."""

from __future__ import annotations

from typing import Any

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
from tests.codemods.rules.trainer.test_lit110 import CHECKPOINT, HEAD, after
from tests.codemods.support import rewritten, rule, run_rules, sources


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


SET_TWICE = """\
from pytorch_lightning import Trainer


def build(record, n):
    options = {{"checkpoint_callback": False, "max_epochs": n}}
    if record:
        options["checkpoint_callback"] = {value}
    {line}
    return Trainer(**options), record
"""


def test_a_key_that_is_set_twice_is_exchanged_in_both_places() -> None:
    text = SET_TWICE.format(value="True", line="print(record)")
    made = run_rules({"a.py": text}, rule("LIT110"))
    assert {finding.fix for finding in made.findings} == {"safe"}
    after = made.final()["a.py"].decode()
    assert after == text.replace('"checkpoint_callback"', '"enable_checkpointing"')
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    assert names["build"](True, 1)[0].checkpoint_callback is not None
    assert names["build"](False, 1)[0].checkpoint_callback is None
    assert run_rules({"a.py": after}, rule("LIT110")).changes == ()


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("find(n)", "print(record)"),
        ("True", 'print(options["checkpoint_callback"])'),
        ("True", "keep(options)"),
        ("None", "print(record)"),
    ],
)
def test_a_key_that_is_set_twice_and_ends_otherwise_is_left(value: str, line: str) -> None:
    made = run_rules({"a.py": SET_TWICE.format(value=value, line=line)}, rule("LIT110"))
    assert made.changes == () and {finding.fix for finding in made.findings} == {"manual"}
