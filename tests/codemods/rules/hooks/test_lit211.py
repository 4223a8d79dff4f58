"""LIT211: its table against the newest release by reflection, the hooks called, and what it leaves alone."""

from __future__ import annotations

import inspect

import pytest
import torch
from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer

from codemods.lightning.facts import CALLBACK, MODULE
from codemods.rules.hooks.removed_hooks import DATA, DATA_HOOKS, HOOKS
from tests.codemods.support import refusals, rewritten, rule, run_rules

OWNERS: dict[str, type] = {MODULE: LightningModule, CALLBACK: Callback, DATA: LightningDataModule}
DEPRECATED = {"configure_sharded_model"}
HEAD = "from lightning.pytorch import Callback, LightningDataModule, LightningModule\n\n\n"


@pytest.mark.parametrize("name", [*HOOKS, *DATA_HOOKS])
def test_the_newest_release_has_the_new_hook_alone(name: str) -> None:
    hook = HOOKS.get(name) or DATA_HOOKS[name]
    for kind in hook.kinds:
        assert not hasattr(OWNERS[kind], name) or name in DEPRECATED
        if hook.new:
            taken = len(inspect.signature(getattr(OWNERS[kind], hook.new)).parameters) - 1
            assert taken == hook.takes + len(hook.adds) + (2 if kind == CALLBACK else 0)


def stop(text: str) -> list[str]:
    """What a callback of that text says of a training that is interrupted in its second batch."""
    space: dict[str, object] = {}
    exec(text, space)

    class Model(LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
            if batch_idx == 1:
                raise KeyboardInterrupt
            return self.layer(batch).sum()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    watch = space["Watch"]()  # type: ignore[operator]
    trainer = Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[watch],
    )
    with pytest.raises(SystemExit):
        trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(3, 1)))
    said: list[str] = watch.said
    return said


WATCH = (
    HEAD
    + """class Watch(Callback):
    def __init__(self):
        self.said = []

    def on_pretrain_routine_start(self, trainer, pl_module):
        self.said.append(f"start {trainer.global_step}")

    def on_keyboard_interrupt(self, trainer, pl_module):
        self.said.append("interrupted")
"""
)


def test_silent_before_and_called_after() -> None:
    assert stop(WATCH) == []
    assert stop(rewritten({"a.py": WATCH}, rule("LIT211"))["a.py"]) == ["interrupted"]
    unsafe = run_rules({"a.py": WATCH}, rule("LIT211"), unsafe=True).final()["a.py"].decode()
    assert stop(unsafe) == ["start 0", "interrupted"]


@pytest.mark.parametrize(
    "text",
    [
        "class Plain:\n    def on_epoch_end(self):\n        pass\n",
        HEAD + "class A(Callback):\n    def on_train_epoch_end(self, trainer, pl_module):\n        pass\n",
        HEAD + "class A(LightningModule):\n    def on_keyboard_interrupt(self):\n        pass\n",
        HEAD + "class A(LightningModule):\n    def on_epoch_end(self):\n        pass\n\n"
        "    def on_train_epoch_end(self):\n        self.on_epoch_end()\n",
        HEAD + "class A(LightningModule):\n    def on_save_checkpoint(self, checkpoint):\n        pass\n",
    ],
    ids=["no-lightning-class", "current", "callback-hook-in-module", "called-by-itself", "module-checkpoint"],
)
def test_left_alone(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT211"))
    assert made.findings == () and made.changes == ()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "    def on_hpc_save(self, state):\n        ...\n\n    def on_save_checkpoint(self, state):\n        ...\n",
            "already",
        ),
        (
            "".join(f"    def on_pretrain_routine_{end}(self):\n        ...\n\n" for end in ("start", "end")),
            "too",
        ),
        ("    def on_pretrain_routine_start(self):\n        super().on_pretrain_routine_start(1)\n", "base class"),
        ("    def training_step_end(self, output):\n        return output\n", "Call it from training_step"),
    ],
)
def test_findings(body: str, said: str) -> None:
    reasons = refusals({"a.py": f"{HEAD}class A(LightningModule):\n{body}"}, "LIT211")
    assert reasons and said in reasons[0]


def test_data_modules_keep_their_state_elsewhere() -> None:
    text = HEAD + "class A(LightningDataModule):\n    def on_save_checkpoint(self, checkpoint):\n        pass\n"
    [reason] = refusals({"a.py": text}, "LIT211")
    assert "state_dict" in reason


ASKING = f"{HEAD}class Watch(Callback):\n    def on_epoch_start(self, trainer, pl_module):\n        {{}}\n"


@pytest.mark.parametrize(
    "call",
    [
        "Callback.on_epoch_start(self, trainer, pl_module)",
        "super().on_epoch_start(pl_module, trainer)",
        "super().on_epoch_start(trainer, pl_module=pl_module)",
        "super().on_epoch_start(trainer, pl_module); super().on_train_start(trainer, pl_module)",
        "run(super(), trainer, pl_module)",
        "print(super().on_epoch_start)",
    ],
)
def test_a_hook_that_calls_its_base_by_name_is_not_called_by_the_file(call: str) -> None:
    (reason,) = refusals({"a.py": ASKING.format(call)}, "LIT211")
    assert "it calls its base class" in reason


@pytest.mark.parametrize("base", ["Callback", "TQDMProgressBar", "LightningModule"])
@pytest.mark.parametrize("end", ["start", "end"])
def test_a_hook_asks_its_base_class_by_the_new_name_too(base: str, end: str) -> None:
    text = ASKING.format("super().on_epoch_start(trainer, pl_module)\n        print(self)").replace("_start", f"_{end}")
    text = text.replace("(Callback)", f"({base})")
    if base == "TQDMProgressBar":
        text = "from lightning.pytorch.callbacks import TQDMProgressBar\n" + text
    if base == "LightningModule":
        text = text.replace("(self, trainer, pl_module)", "(self)").replace("(trainer, pl_module)", "()")
    if base != "LightningModule":  # one that is never evaluated hears of training alone
        assert rewritten({"a.py": text}, rule("LIT211"))["a.py"] == text
    made = rewritten({"a.py": text}, rule("LIT211"), unsafe=True)["a.py"]
    assert made == text.replace(f"on_epoch_{end}", f"on_train_epoch_{end}")


def test_a_hook_that_the_file_calls_itself_is_no_finding() -> None:
    text = (
        f"{HEAD}class Watch(Callback):\n    def on_epoch_start(self, trainer, pl_module):\n        print(trainer)\n\n"
        "    def on_train_epoch_start(self, trainer, pl_module):\n        self.on_epoch_start(trainer, pl_module)\n"
    )
    assert run_rules({"a.py": text}, rule("LIT211")).findings == ()


PLACED = """\
import os
from pytorch_lightning import Callback


class Watch(Callback):
    def __init__(self, folder=""):
        self.said = []
        self.folder = folder

    def {0}(self, trainer, pl_module):
        {1}
        self.said.append("{0}")
"""
STATE, ENDED = "on_pretrain_routine_start", "on_batch_end"
OLD = ("pytorch-lightning==1.2.1",)
KEPT = "pass\n\n    def setup(self, trainer, pl_module, stage):\n        self.run = trainer\n"


@pytest.mark.parametrize(
    ("hook", "body", "other", "pins", "level", "why"),
    [
        (STATE, "pass", "", (), "safe", "uses none of that"),
        (STATE, "if trainer.global_rank == 0:\n            os.makedirs(trainer.log_dir)", "", (), "safe", ""),
        (STATE, "print(trainer.global_step)", "", (), "unsafe", "takes `trainer`"),
        (STATE, "trainer.logger = None", "", (), "unsafe", "takes `trainer`"),
        (STATE, "print(pl_module.layer.weight)", "", (), "unsafe", "takes `pl_module`"),
        (STATE, KEPT, "", (), "unsafe", "setup keeps what"),
        (STATE, "pass", "class A:\n    def on_fit_start(self): pass\n", (), "unsafe", "b.py has on_fit_start too"),
        (STATE, "pass", "stop = LambdaCallback(on_fit_start=print)\n", (), "unsafe", "b.py has on_fit_start too"),
        (
            STATE,
            "pass\n\n    def setup(self, trainer, pl_module, stage):\n        self.t: Trainer = trainer",
            "",
            (),
            "unsafe",
            "setup keeps what",
        ),
        (
            STATE,
            "pass\n\n    def setup(self, trainer, pl_module, stage):\n        self.t, self.m = trainer, 1",
            "",
            (),
            "unsafe",
            "setup keeps what",
        ),
        (
            STATE,
            "pass\n\n    def setup(self, trainer, pl_module, stage):\n        super().setup(trainer, pl_module, stage)",
            "",
            (),
            "safe",
            "",
        ),
        (ENDED, "pass", "", (), "safe", "nothing tells the two apart"),
        ("on_batch_start", "print(trainer.global_step)", "", (), "safe", "nothing tells the two apart"),
        (ENDED, "print(trainer.global_step)", "", OLD, "safe", "it is taken out"),
        (ENDED, "print(trainer.global_step)", "", ("pytorch-lightning==1.7.7",), "safe", "nothing tells"),
        (ENDED, "print(trainer.global_step)", "", (), "unsafe", "It counts by global_step"),
        (ENDED, "print(trainer.global_step)", "Trainer(accumulate_grad_batches=2)\n", OLD, "unsafe", "It counts by"),
        (ENDED, "print(trainer.callback_metrics)", "", OLD, "unsafe", "It takes `trainer`"),
        (ENDED, "for pl_module in (): pass", "", OLD, "safe", ""),
        (ENDED, "trainer = self.folder", "", OLD, "unsafe", "It takes `trainer`"),
        (ENDED, "print(pl_module.layer)", "", OLD, "unsafe", "It takes `pl_module`"),
        (ENDED, "trainer.should_stop = True", "", OLD, "unsafe", "It takes `trainer`"),
        (ENDED, "self.folder(self.net.global_step)", "", OLD, "unsafe", "asks for `global_step`"),
        (ENDED, KEPT, "", OLD, "unsafe", "setup keeps what"),
        (ENDED, "pass", "class A:\n    def on_train_batch_end(self): pass\n", OLD, "unsafe", "b.py has on_train_"),
        ("on_pretrain_routine_end", "pass", "", (), "unsafe", ""),
    ],
)
def test_a_hook_of_a_callback_at_the_same_point(
    hook: str, body: str, other: str, pins: tuple[str, ...], level: str, why: str
) -> None:
    files = {"a.py": PLACED.format(hook, body), "b.py": other}
    [finding] = run_rules(files, rule("LIT211"), pins=pins).findings
    assert (finding.fix, why in finding.reason) == (level, True), finding.reason


def test_a_callback_that_is_built_with_a_module_is_left_to_a_person() -> None:
    text = PLACED.format(STATE, "pass").replace("folder", "model")
    [finding] = run_rules({"a.py": text}, rule("LIT211")).findings
    assert (finding.fix, "__init__ keeps" in finding.reason) == ("unsafe", True)


def test_a_callback_around_a_batch_that_is_built_with_a_module() -> None:
    text = PLACED.format(ENDED, "torch.save(self.model)").replace("folder", "model")
    assert [each.fix for each in run_rules({"a.py": text}, rule("LIT211")).findings] == ["safe"]
    [finding] = run_rules({"a.py": text + f"        {KEPT}"}, rule("LIT211")).findings
    assert finding.fix == "unsafe" and "setup keeps" in finding.reason


@pytest.mark.parametrize("hook", ["on_batch_start", ENDED])
def test_what_a_module_has_of_them_is_judged_by_a_person(hook: str) -> None:
    text = f"{HEAD}class A(LightningModule):\n    def {hook}(self):\n        pass\n"
    [finding] = run_rules({"a.py": text}, rule("LIT211")).findings
    assert finding.fix == "unsafe"


def test_hooks_at_the_same_point_are_called() -> None:
    for hook in (STATE, "on_batch_start", ENDED):
        text = PLACED.format(hook, "pass").replace("pytorch_lightning", "lightning.pytorch")
        assert stop(text) == []
        said = stop(rewritten({"a.py": text}, rule("LIT211"), unsafe=True)["a.py"])
        assert said == [hook] * (2 if hook == "on_batch_start" else 1)


RANKED = """\
from pytorch_lightning import Callback
from pytorch_lightning.utilities import rank_zero_only
from ours import timed


class Watch(Callback):
    def __init__(self):
        self.said = []

    @rank_zero_only
    def on_batch_end(self, trainer, _):
        self.said.append(trainer.global_step)
"""


def test_a_decorator_that_hands_everything_on_stays() -> None:
    made = run_rules({"a.py": RANKED}, rule("LIT211"), unsafe=True)
    [after] = made.final().values()
    said = "    @rank_zero_only\n    def on_train_batch_end(self, trainer, _, outputs, batch, batch_idx):"
    assert said in after.decode()
    assert run_rules({"a.py": RANKED}, rule("LIT211")).changes == ()


def test_a_count_of_batches_is_that_of_before_the_batch() -> None:
    text = RANKED.replace(
        "self.said.append(trainer.global_step)",
        """step = trainer.global_step
        self.said += [step, trainer.global_step % 5, str(trainer.global_step)]""",
    )
    after = run_rules({"a.py": text}, rule("LIT211"), pins=OLD).final()["a.py"].decode()
    assert "        step = trainer.global_step - 1\n" in after
    assert "[step, (trainer.global_step - 1) % 5, str(trainer.global_step - 1)]" in after


@pytest.mark.parametrize("decorator", ["timed", "rank_zero_only()", "staticmethod"])
def test_a_decorator_that_may_count_the_arguments_forbids_the_new_name(decorator: str) -> None:
    text = RANKED.replace("@rank_zero_only", f"@{decorator}")
    [reason] = refusals({"a.py": text}, "LIT211")
    assert "not an ordinary method" in reason


def test_a_hook_of_rank_zero_is_called_under_its_new_name() -> None:
    text = RANKED.replace("pytorch_lightning", "lightning.pytorch").replace("from ours import timed\n", "")
    watched = run_rules({"a.py": text}, rule("LIT211"), unsafe=True).final()["a.py"].decode()
    assert stop(watched) == [1] and stop(text) == []


def test_the_oldest_name_of_the_train_loader() -> None:
    text = (
        "import pytorch_lightning as pl\n\n\nclass A(pl.LightningModule):\n    @pl.data_loader\n"
        "    def tng_dataloader(self):\n        return self.loader\n"
    )
    after = rewritten({"a.py": text}, rule("LIT001"), rule("LIT211"))["a.py"]
    assert after.endswith("class A(pl.LightningModule):\n    def train_dataloader(self):\n        return self.loader\n")


def test_a_hook_that_outputs_of_the_epoch_need_too_is_left() -> None:
    text = HEAD + (
        "class Model(LightningModule):\n    def __init__(self):\n        super().__init__()\n\n"
        "    def training_step(self, batch, batch_idx):\n        return self.loss(batch)\n\n"
        '    def training_epoch_end(self, outputs):\n        print(outputs[0]["loss"])\n\n'
        "    def on_batch_end(self):\n        print('done')\n"
    )
    made = run_rules({"a.py": text}, rule("LIT201"), rule("LIT211"), unsafe=True)
    assert made.bugs == () and "def on_batch_end(self)" in made.final()["a.py"].decode()
    [left] = [item for item in made.findings if item.code == "LIT211"]
    assert left.fix == "manual" and "training_epoch_end of the same class" in left.reason


ASKED = ("get_tqdm_dict", "grad_norm", "log_grad_norm", "configure_ddp", "init_ddp_connection")
ASKED += ("on_pre_performance_check", "on_post_performance_check")


@pytest.mark.parametrize("name", ASKED)
def test_methods_that_lightning_asked_once_are_named(name: str) -> None:
    text = f"{HEAD}class Model(LightningModule):\n    def {name}(self, *args):\n        pass\n"
    (finding,) = run_rules({"a.py": text}, rule("LIT211")).findings
    assert (finding.fix, finding.span.line) == ("manual", 5)
    other = text.replace("(LightningModule)", "(LightningDataModule)")
    assert run_rules({"a.py": other}, rule("LIT211")).findings == ()


DEAD = (
    HEAD
    + """class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return {"loss": self(batch)}

    def training_step_end(self, output):
        return 100 * output["loss"]


class Watch(Callback):
    def on_batch_end(self, trainer, pl_module):
        print("batch")
"""
)


@pytest.mark.parametrize(
    ("pins", "levels"),
    [
        (("lightning~=2.3.0",), ["unsafe", "unsafe"]),
        (("pytorch-lightning==1.9.5",), ["safe", "unsafe"]),
        (("pytorch-lightning==1.7.7",), ["safe", "safe"]),
        (("pytorch-lightning>=1.9,<2.0",), ["safe", "unsafe"]),
        (("pytorch-lightning>=1.6",), ["safe", "safe"]),
        (("lightning",), ["safe", "safe"]),
        ((), ["safe", "safe"]),
    ],
)
def test_a_hook_that_the_lightning_of_the_project_does_not_call_is_not_woken_safely(
    pins: tuple[str, ...], levels: list[str]
) -> None:
    findings = run_rules({"a.py": DEAD}, rule("LIT211"), pins=pins).findings
    assert [finding.fix for finding in findings] == levels
    asleep = [finding.fix for finding in findings if "does not call it" in finding.reason]
    assert asleep == [level for level in levels if level == "unsafe"]


INIT = "class Watch(Callback):\n    def on_init_end(self, trainer):\n        print(trainer.max_epochs)\n"


def test_what_is_done_when_the_trainer_is_built_is_done_in_setup() -> None:
    text = HEAD + INIT
    assert rewritten({"a.py": text}, rule("LIT211"))["a.py"] == text
    wanted = text.replace("on_init_end(self, trainer)", "setup(self, trainer, pl_module, stage)")
    assert rewritten({"a.py": text}, rule("LIT211"), unsafe=True)["a.py"] == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(trainer.max_epochs)", "super().on_init_end(trainer)"),
        ("print(trainer.max_epochs)", "print(stage)"),
        ("self, trainer)", "self, trainer, *more)"),
        ("self, trainer)", "self)"),
        ("class Watch(Callback):\n", "class Watch(Callback):\n    def setup(self, trainer, module, stage): ...\n\n"),
        (
            "class Watch(Callback):\n",
            "class Watch(Callback):\n    def on_before_accelerator_backend_setup(self, t, m): ...\n\n",
        ),
    ],
)
def test_what_cannot_be_done_in_setup_is_left(old: str, new: str) -> None:
    text = HEAD + INIT.replace(old, new)
    after = rewritten({"a.py": text}, rule("LIT211"), unsafe=True)["a.py"]
    assert "def on_init_end(" in after
    assert [each for each in run_rules({"a.py": text}, rule("LIT211")).findings if "on_init_end" in each.message]


@pytest.mark.parametrize(
    ("given", "ordinary"),
    [("self, n=3", True), ("self, n=3, m=4", True), ("self, n", False), ("self, *, n=3", False), ("self, *n", False)],
)
def test_a_hook_may_take_more_that_has_a_default(given: str, ordinary: bool) -> None:
    before = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
        "    def training_step(self, batch, batch_idx):\n        return 1\n\n"
        f"    def on_epoch_end({given}):\n        self.draw(1)\n"
    )
    after = before.replace("on_epoch_end", "on_train_epoch_end") if ordinary else before
    assert rewritten({"a.py": before}, rule("LIT211"))["a.py"] == after
    assert ordinary or any("not an ordinary" in reason for reason in refusals({"a.py": before}, "LIT211"))


def test_a_hook_that_gets_more_now_takes_no_more_of_its_own() -> None:
    before = (
        "from pytorch_lightning import Callback\n\n\nclass Draw(Callback):\n"
        "    def on_batch_end(self, trainer, pl_module, n=3):\n        print(n)\n"
    )
    assert any("not an ordinary" in reason for reason in refusals({"a.py": before}, "LIT211"))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            '"""Saves."""\n        print(1)',
            '"""Saves."""\n        if isinstance(exception, KeyboardInterrupt):\n            print(1)',
        ),
        ('"""Does nothing."""', '"""Does nothing."""'),
        (
            "print(1)\n        'a'",
            "if isinstance(exception, KeyboardInterrupt):\n            print(1)\n            'a'",
        ),
    ],
)
def test_the_docstring_of_a_hook_stays_its_docstring(body: str, wanted: str) -> None:
    head = HEAD + "class A(Callback):\n    def {}(self, trainer, pl_module{}):\n        {}\n"
    after = rewritten({"train.py": head.format("on_keyboard_interrupt", "", body)}, rule("LIT211"))["train.py"]
    assert after == head.format("on_exception", ", exception", wanted)
