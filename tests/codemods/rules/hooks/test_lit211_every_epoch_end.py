"""LIT211: on_epoch_start and on_epoch_end, called by the hooks of the stages."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.support import rule, run_rules, sources
from tests.training import train

LIT = rule("LIT211")
MODULE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen = []

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def validation_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def on_train_epoch_end(self):
        self.seen.append("train")

    def on_validation_epoch_end(self):
        for name in ("validation", "checked"):
            self.seen.append(name)

    def on_epoch_end(self):
        self.seen.append("any")
"""
CALL = "        self.on_epoch_end()\n"
PINNED = ("pytorch-lightning>=1.4,<1.8",)
SHOWING = """
    def show(self):
        print(self.lr_schedulers())
"""


def made(text: str, pins: tuple[str, ...] = PINNED, unsafe: bool = False, **files: str) -> tuple[list[str], str]:
    """The levels of what is found in a file, and what becomes of it."""
    given = {"a.py": text, **{f"{name}.py": more for name, more in files.items()}}
    done = run_rules(given, LIT, pins=pins, unsafe=unsafe)
    final = done.final()
    after = final["a.py"].decode() if "a.py" in final else text
    return [found.fix for found in done.findings if found.path == "a.py"], after


def test_each_hook_calls_it() -> None:
    levels, after = made(MODULE)
    wanted = MODULE.replace('append("train")\n', f'append("train")\n{CALL}').replace(
        "append(name)\n", f"append(name)\n{CALL}"
    )
    assert (levels, after) == (["safe"], wanted)
    assert made(after) == ([], after)


@pytest.mark.parametrize("pins", [(), ("pytorch-lightning>=1.0",), ("pytorch-lightning==1.1.8",)])
def test_training_is_taken_to_be_meant_where_a_release_called_it_there_alone(pins: tuple[str, ...]) -> None:
    assert made(MODULE, pins) == (["unsafe"], MODULE)
    assert made(MODULE, pins, unsafe=True)[1] == MODULE.replace('append("train")\n', f'append("train")\n{CALL}')


def test_a_callback_with_one_makes_it_unsafe() -> None:
    head = "from pytorch_lightning import Callback\n\n\n"
    callback = f"{head}class Show(Callback):\n    def on_epoch_end(self, a, b):\n        ...\n"
    assert made(MODULE, callback=callback)[0] == ["unsafe"]


def test_metrics_that_are_logged_make_it_unsafe() -> None:
    logging = MODULE.replace("        return self.layer(batch).mean()\n", "        self.log('a', self.accuracy)\n", 1)
    assert made(logging)[0] == ["unsafe"]


BARE = MODULE.replace("    def on_train_epoch_end(self):", "    def first(self):").replace(
    "    def on_validation_epoch_end(self):", "    def second(self):"
)
HOOKS = """
    def on_train_epoch_end(self):
        self.on_epoch_end()

    def on_validation_epoch_end(self):
        self.on_epoch_end()
"""


def test_a_module_without_the_hooks_gets_those_of_the_stages_that_it_has() -> None:
    assert made(BARE) == (["safe"], BARE + HOOKS)
    assert made(BARE + HOOKS) == ([], BARE + HOOKS)
    started = BARE.replace("on_epoch_end", "on_epoch_start")
    assert made(started) == (["safe"], started + HOOKS.replace("_end", "_start"))


@pytest.mark.parametrize("text", [MODULE, BARE])
def test_a_base_that_may_have_more_steps_makes_it_unsafe(text: str) -> None:
    mixed = text.replace("(LightningModule)", "(Tested, LightningModule)")
    mixed = mixed.replace("import torch\n", "import torch\nfrom steps import Tested\n", 1)
    assert made(mixed)[0] == ["unsafe"]
    assert made(text)[0] == ["safe"]


def test_a_rename_that_is_certain_says_it_more_plainly() -> None:
    started = BARE.replace("on_epoch_end", "on_epoch_start").replace('self.seen.append("any")', "self.layer.eval()")
    assert made(started) == (["safe"], started.replace("on_epoch_start", "on_train_epoch_start"))


def test_a_start_runs_before_what_a_hook_does() -> None:
    text = MODULE.replace("_epoch_end", "_epoch_start")
    text = text.replace("            self.seen.append(name)\n", "            return\n")
    levels, after = made(text, unsafe=True)
    assert levels == ["unsafe"]
    assert '_start(self):\n        self.on_epoch_start()\n        self.seen.append("train")' in after
    assert "_start(self):\n        self.on_epoch_start()\n        for name in" in after


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        (BARE, ("pytorch-lightning>=1.2,<1.8",)),
        (BARE.replace('"any"', "self.trainer.global_step"), PINNED),
        (BARE.replace('"any"', "self.optimizers().param_groups[0]"), PINNED),
        (BARE.replace('self.seen.append("any")', "self.show()") + SHOWING, PINNED),
        (BARE, ("pytorch-lightning==1.8.6",)),
        (BARE, ("pytorch-lightning==1.1.8",)),
        (BARE, ()),
    ],
    ids=["validated behind it", "step", "rate", "rate by a helper", "asleep", "training alone", "open"],
)
def test_added_hooks_that_may_see_something_else_are_unsafe(text: str, pins: tuple[str, ...]) -> None:
    assert made(text, pins) == (["unsafe"], text)


CALLBACK = """\
import torch
from pytorch_lightning import Callback


class Show(Callback):
    @torch.no_grad()
    def on_epoch_end(self, trainer, module):
        module.seen.append("any")

    def on_test_epoch_end(self, trainer, net):
        net.seen.append("test")
"""
CALLED = """
    def on_train_epoch_end(self, trainer, pl_module):
        self.on_epoch_end(trainer, pl_module)

    def on_validation_epoch_end(self, trainer, pl_module):
        self.on_epoch_end(trainer, pl_module)
"""


def test_a_callback_gets_the_hooks_of_all_stages() -> None:
    wanted = CALLBACK.replace('append("any")\n', f'append("any")\n{CALLED}')
    wanted = wanted.replace('append("test")\n', 'append("test")\n        self.on_epoch_end(trainer, net)\n')
    assert made(CALLBACK) == (["unsafe"], CALLBACK)
    assert made(CALLBACK, unsafe=True)[1] == wanted
    assert made(wanted) == ([], wanted)


def test_a_callback_without_any_is_renamed() -> None:
    alone = CALLBACK.partition("\n    def on_test_epoch_end")[0]
    assert made(alone, unsafe=True) == (["unsafe"], alone.replace("on_epoch_end", "on_train_epoch_end"))


@pytest.mark.parametrize("pins", [(), ("pytorch-lightning==1.1.8",)])
def test_a_callback_that_may_have_run_in_training_alone_is_renamed(pins: tuple[str, ...]) -> None:
    wanted = CALLBACK.replace("on_epoch_end", "on_train_epoch_end")
    assert made(CALLBACK, pins, unsafe=True) == (["unsafe"], wanted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import Callback", "import Callback, EarlyStopping"),
        ("    @torch.no_grad()\n", "    @torch.no_grad()\n    async "),
        ("trainer, module)", "trainer, module, outputs)"),
        ("(self, trainer, net)", "(self, *given)"),
    ],
    ids=["a base has them", "async", "takes more", "a hook takes any"],
)
def test_a_callback_that_is_left(old: str, new: str) -> None:
    text = CALLBACK.replace(old, new).replace("async     def", "async def")
    text = text.replace("(Callback)", "(EarlyStopping)") if "EarlyStopping" in new else text
    assert "self.on_epoch_end(" not in made(text, unsafe=True)[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            '        self.seen.append("train")\n',
            '        if self.seen:\n            return\n        self.seen = ["train"]\n',
        ),
        ('        self.seen.append("train")\n', "        raise RuntimeError\n"),
        ("    def on_train_epoch_end(self):", "    def on_train_epoch_end(self, more=1):"),
        ("    def on_epoch_end(self):", "    def on_epoch_end(self, more=1):"),
        ('self.seen.append("any")', "super().on_epoch_end()"),
    ],
    ids=["ends early", "never ends", "a hook takes more", "takes more", "calls its base class"],
)
def test_left(old: str, new: str) -> None:
    assert old in MODULE
    assert made(MODULE.replace(old, new))[0] == ["manual"]


def test_a_relative_with_one_of_the_hooks_is_left() -> None:
    child = "from a import Model\n\n\nclass Child(Model):\n    def on_train_epoch_end(self):\n        pass\n"
    assert made(MODULE, child=child)[0] == ["manual"]


OLD = MODULE.replace("    def on_train_epoch_end(self)", "    def training_epoch_end(self, outputs)").replace(
    "    def on_validation_epoch_end(self)", "    def validation_epoch_end(self, outputs)"
)


def test_the_hooks_that_get_outputs_call_it_once_they_are_rewritten() -> None:
    options = Options(rules=(rule("LIT201"), LIT), pins=PINNED)
    done = plan(sources({"a.py": OLD}), options)
    after = done.final()["a.py"].decode()
    assert after.count(CALL) == 2 and "outputs" not in after


RUN = """

def main():
    data = torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2)
    model = Model()
    model.configure_optimizers = lambda: torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(max_epochs=2, num_sanity_val_steps=0, logger=False, enable_checkpointing=False)
    trainer.fit(model, data, data)
    return model.seen
"""


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (MODULE, ["validation", "checked", "any", "train", "any"]),
        (BARE, ["any", "any"]),
        (BARE.replace("def on_epoch_end", "def other") + "\n\n" + CALLBACK.partition("\n\n\n")[2], ["any", "any"]),
    ],
    ids=["module", "without hooks", "callback"],
)
def test_it_runs_at_the_end_of_each_epoch(text: str, seen: list[str]) -> None:
    imports = "import Callback, LightningModule, Trainer"
    after = made(text.replace("import LightningModule", imports) + RUN, unsafe=True)[1]
    given = after.replace("Trainer(", "Trainer(callbacks=[Show()], ") if "class Show" in after else after
    done = train({"train.py": given}, script=None, module="train", function="main")
    assert done.failure is None, done.failure
    assert done.returned == seen * 2
