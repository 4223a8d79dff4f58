"""LIT110: what a choice may give, gradient norms, and what configurations leave unsaid."""

from __future__ import annotations

from typing import Any

import lightning.pytorch as pl
import pytest

from tests.codemods.rules.trainer.test_lit110 import HEAD, after
from tests.codemods.support import rewritten, rule, run_rules

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


STOPPED = "from pytorch_lightning.callbacks import EarlyStopping\n\n{}\nTrainer(early_stop_callback={})\n"


@pytest.mark.parametrize(
    ("before", "value", "wanted"),
    [
        ("saver = False\nif slow:\n    saver = EarlyStopping('a')", "saver", "[saver] if saver else []"),
        ("saver = False if quick else EarlyStopping('a')", "saver", "[saver] if saver else []"),
        ("", "EarlyStopping('a') if slow else False", "[EarlyStopping('a')] if slow else []"),
        ("", "False if quick else EarlyStopping('a')", "[EarlyStopping('a')] if not (quick) else []"),
    ],
)
def test_a_stopper_or_false_is_a_callback_at_times(before: str, value: str, wanted: str) -> None:
    text = HEAD + STOPPED.format(before, value)
    new = f"Trainer(callbacks={wanted})"
    assert after(text) == text.replace(f"Trainer(early_stop_callback={value})", new)
    assert after(after(text)) == after(text)
    for slow in (True, False):
        space: dict[str, Any] = {"quick": not slow, "slow": slow}
        code = after(text).replace("pytorch_lightning", "lightning.pytorch")
        exec(code.replace("Trainer(callbacks", "made = Trainer(callbacks"), space)
        assert any(isinstance(item, pl.callbacks.EarlyStopping) for item in space["made"].callbacks) is slow


@pytest.mark.parametrize("module", ["optuna.integration", "optuna.integration.pytorch_lightning"])
def test_the_callback_of_optuna_is_one_of_the_callbacks(module: str) -> None:
    text = f"{HEAD}from {module} import PyTorchLightningPruningCallback\n\nTrainer(early_stop_callback={{}})\n"
    pruned = "PyTorchLightningPruningCallback(trial, monitor='f1')"
    new = text.format(pruned).replace(f"early_stop_callback={pruned}", f"callbacks=[{pruned}]")
    assert after(text.format(pruned), unsafe=True) == new
    assert after(text.format(pruned)) == text.format(pruned)
    other = text.replace(module, "mine").format(pruned)
    assert after(other, unsafe=True) == other


@pytest.mark.parametrize("other", ["True", "None", "find()"])
def test_what_a_stopper_may_be_beside_is_for_a_person(other: str) -> None:
    text = HEAD + STOPPED.format(f"saver = {other} if quick else EarlyStopping('a')", "saver")
    assert after(text, unsafe=True) == text


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
    head = "from pytorch_lightning import Trainer\n\n\ndef f(cfg):\n"
    text = f"{head}    Trainer(max_epochs=1, amp_backend={value}, precision=16)\n"
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


@pytest.mark.parametrize(
    "made",
    [
        "if quick:\n    saver = False\nelse:\n    saver = ModelCheckpoint()",
        "saver = None\nif not quick:\n    saver = ModelCheckpoint()",
        "if quick:\n    saver = None\nelse:\n    saver = ModelCheckpoint() if slow else False",
    ],
)
def test_a_checkpoint_of_one_branch_alone_is_a_callback_at_times(made: str) -> None:
    text = HEAD + CHOSEN.format(made)
    wanted = "Trainer(enable_checkpointing=bool(saver), callbacks=[saver] if saver else [])"
    assert after(text) == text.replace("Trainer(checkpoint_callback=saver)", wanted)
    for quick in (True, False):
        space: dict[str, Any] = {"quick": quick, "slow": True}
        told = after(text).replace("pytorch_lightning", "lightning.pytorch").replace("Trainer(e", "made = Trainer(e")
        exec(told, space)
        assert (space["saver"] in space["made"].callbacks) is not quick
        assert bool(space["made"].checkpoint_callbacks) is not quick


@pytest.mark.parametrize(
    "made",
    [
        "saver = True\nif quick:\n    saver = ModelCheckpoint()",
        "saver = find()\nif quick:\n    saver = ModelCheckpoint()",
        "saver = None\nif quick:\n    saver = False",
    ],
)
def test_what_branches_leave_open_is_for_a_person(made: str) -> None:
    text = HEAD + CHOSEN.format(made)
    assert "callbacks=" not in after(text, unsafe=True)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("None if shown else 0", "bool(shown)"),
        ("0 if quiet > 1 else 1", "not quiet > 1"),
        ("None if bool(int(find())) else 0", "bool(int(find()))"),
        ("1 if not quiet else 0", "not quiet"),
    ],
)
def test_no_bar_or_the_usual_one(value: str, wanted: str) -> None:
    text = f"{HEAD}Trainer(progress_bar_refresh_rate={value})\n"
    made = after(text)
    assert made == text.replace(f"progress_bar_refresh_rate={value}", f"enable_progress_bar={wanted}")
    assert after(made) == made
    for shown in (True, False):
        space: dict[str, Any] = {"shown": shown, "quiet": 0 if shown else 2, "find": lambda: shown}  # noqa: B023
        exec(made.replace("pytorch_lightning", "lightning.pytorch").replace("Trainer(e", "made = Trainer(e"), space)
        assert (space["made"].progress_bar_callback is not None) is shown


@pytest.mark.parametrize(
    "value", ["None if shown else 10", "20 if shown else 0", "None if shown else False", "0 if a else 0"]
)
def test_other_rates_are_no_question_of_showing(value: str) -> None:
    assert "enable_progress_bar" not in after(f"{HEAD}Trainer(progress_bar_refresh_rate={value})\n", unsafe=True)


@pytest.mark.parametrize(
    ("value", "shown"),
    [("0 if not shown else 1", "bool(shown)"), ("0 if not a > 1 else 1", "a > 1"), ("1 if not a else 0", "not a")],
)
def test_a_negated_question_is_not_negated_again(value: str, shown: str) -> None:
    assert f"enable_progress_bar={shown})" in after(f"{HEAD}Trainer(progress_bar_refresh_rate={value})\n", unsafe=True)


def test_a_bar_among_the_callbacks_is_asked_for_in_any_case() -> None:
    text = (
        f"{HEAD}from pytorch_lightning.callbacks import TQDMProgressBar\n\n"
        "Trainer(progress_bar_refresh_rate=None if shown else 0, callbacks=[TQDMProgressBar()])\n"
    )
    assert after(text, unsafe=True) == text
