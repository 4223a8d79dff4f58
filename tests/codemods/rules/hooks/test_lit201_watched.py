"""LIT201: callbacks that may see what a hook does, and functions that they ask."""

from __future__ import annotations

import pytest

from codemods.rules.hooks.lit201 import BEFORE
from tests.codemods.rules.hooks.test_lit201_traps import LIT
from tests.codemods.support import refusals, rewritten, run_rules

CALLBACK = """\
from pytorch_lightning import Callback


class Show(Callback):
    def on_validation_epoch_end(self, trainer, pl_module):
        print(trainer.callback_metrics)
"""


def doubts(files: dict[str, str]) -> list[str]:
    """The reasons for which nothing is rewritten without asking."""
    made = run_rules(files, LIT)
    assert (made.changes, made.bugs) == ((), ())
    return [item.reason for item in made.findings if item.fix != "safe"]


QUIET = {
    "metrics of its own": "trainer.current_epoch",
    "the device": "pl_module.device",
    "a prediction": "pl_module(self.batch)",
    "an attribute that the hook leaves alone": "pl_module.bank, trainer.train_dataloader",
}


@pytest.mark.parametrize("asked", QUIET.values(), ids=QUIET.keys())
def test_callback_that_asks_for_nothing_of_the_hook_does_not_matter(asked: str) -> None:
    files = {"model.py": BEFORE, "show.py": CALLBACK.replace("trainer.callback_metrics", asked)}
    assert "on_validation_epoch_end" in rewritten(files, LIT)["model.py"]


HELPER = """

def logger_of(module, trainer):
    if isinstance(trainer, type):
        return None
    for each in trainer.loggers:
        return each
"""


@pytest.mark.parametrize("call", ["logger_of(pl_module, trainer)", "logger_of(trainer=trainer, module=None)"])
def test_callback_that_asks_a_function_of_its_file_is_followed(call: str) -> None:
    files = {"model.py": BEFORE, "show.py": CALLBACK.replace("print(trainer.callback_metrics)", call) + HELPER}
    assert "on_validation_epoch_end" in rewritten(files, LIT)["model.py"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("trainer.loggers", "list(trainer)"),
        ("trainer.loggers", "trainer.logged_metrics"),
        ("(module, trainer)", "(module, *trainer)"),
        ("def logger_of", "@cache\ndef logger_of"),
        ("\n\ndef logger_of", "\n\nfrom other import *\nlogger_of = find()\n\n\ndef logger_of"),
        ("print", "for logger_of in self.all:\n            print"),
        ("self, trainer, pl_module", "self, trainer, pl_module, logger_of=None"),
        ("logger_of(pl_module, trainer)", "logger_of(*(pl_module, trainer))"),
        ("logger_of(pl_module, trainer)", "self.logger_of(trainer)"),
        ("def logger_of", "from other import logger_of\n\n\ndef logger_of"),
    ],
)
def test_a_function_that_may_see_what_the_hook_does(old: str, new: str) -> None:
    text = CALLBACK.replace("trainer.callback_metrics", "logger_of(pl_module, trainer)") + HELPER
    assert text.replace(old, new, 1) != text
    files = {"model.py": BEFORE, "show.py": text.replace(old, new, 1)}
    assert "before the module's own" in doubts(files)[0]


def test_a_callback_that_hands_the_module_to_a_function_cannot_wait() -> None:
    files = watched("mark(pl_module)")
    show = files["show.py"] + "\n\ndef mark(module):\n    module.best = None\n"
    assert "calls it before" in refusals({**files, "show.py": show}, "LIT201")[0]


READING = {
    "what the hook sets": "pl_module.best",
    "what a method of the hook sets": "pl_module.worst",
    "through the Trainer": "trainer.lightning_module.best",
    "what a method of the module reads": "pl_module.report()",
    "in another method of the callback": "self.of(pl_module)",
    "what others may monitor": "pl_module.best, trainer.callback_metrics",
}
NOSY = {
    "the module itself": "show(pl_module)",
    "by name": "getattr(pl_module, self.name)",
    "what the logger gets": "pl_module.best, trainer.logged_metrics",
    "what it logs itself": "pl_module.log('best', pl_module.best)",
}


def watched(asked: str) -> dict[str, str]:
    text = BEFORE.replace("self.log(", "self.best = self.add(").rstrip() + (
        "\n\n    def add(self, value):\n        self.worst = value\n\n    def report(self):\n        return self.best\n"
    )
    callback = CALLBACK.replace("trainer.callback_metrics", asked)
    callback += "\n    def of(self, module):\n        return module.best\n"
    return {"model.py": text, "show.py": callback}


@pytest.mark.parametrize("asked", READING.values(), ids=READING.keys())
def test_callback_that_reads_what_the_hook_does_is_called_behind_it(asked: str) -> None:
    files = watched(asked)
    made = run_rules(files, LIT)
    assert made.changes == () and {finding.fix for finding in made.findings} == {"unsafe"}
    after = rewritten(files, LIT, unsafe=True)
    assert after["show.py"] == files["show.py"].replace("on_validation_epoch_end", "on_validation_end")
    assert "def on_validation_epoch_end(self):" in after["model.py"]
    assert rewritten(after, LIT, unsafe=True) == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    def of(", "    def on_validation_end(self, trainer, module):\n        ...\n\n    def of("),
        ("        print(", "        super().on_validation_epoch_end(trainer, pl_module)\n        print("),
        ("        print(", "        pl_module.seen = 1\n        print("),
        ("    def of(", "    def again(self):\n        self.on_validation_epoch_end(None, None)\n\n    def of("),
        ("(Callback)", "(Base)"),
        ("class Show", "class Other(Callback):\n    pass\n\n\nclass More(Other):\n    pass\n\n\nclass Show(More)#"),
    ],
)
def test_callback_that_cannot_wait_forbids_it(old: str, new: str) -> None:
    files = watched("pl_module.best")
    show = files["show.py"].replace(old, new, 1)
    if "#" in new:
        show = show.replace("#(Callback):", ":")
    assert show != files["show.py"]
    assert "calls it before" in refusals({**files, "show.py": show}, "LIT201")[0]


def test_callback_stays_where_the_module_does() -> None:
    files = watched("pl_module.best")
    named = files["model.py"] + "\n\nprint(Model.validation_epoch_end)\n"
    made = run_rules({**files, "model.py": named}, LIT, unsafe=True)
    assert made.changes == () and {finding.path for finding in made.findings} == {"model.py"}


@pytest.mark.parametrize("asked", NOSY.values(), ids=NOSY.keys())
def test_callback_that_sees_what_the_hook_does_forbids_it(asked: str) -> None:
    assert "before the module's own" in doubts(watched(asked))[0]


def test_callback_that_1_x_called_after_the_hook_forbids_it() -> None:
    made = run_rules({"model.py": BEFORE, "show.py": CALLBACK}, LIT)
    assert made.changes == () and {finding.fix for finding in made.findings} == {"unsafe"}
    blind = CALLBACK.replace("trainer.callback_metrics", "trainer.current_epoch")
    assert run_rules({"model.py": BEFORE, "show.py": blind}, LIT).changes


BAR = """\
from pytorch_lightning.callbacks import ProgressBarBase


class Bar(ProgressBarBase):
    def on_validation_epoch_end(self, trainer, pl_module):
        super().on_validation_epoch_end(trainer, pl_module)
        self.bar.set_postfix(self.get_metrics(trainer, pl_module))
"""


@pytest.mark.parametrize("bar", [BAR, CALLBACK.replace("callback_metrics", "progress_bar_metrics")])
def test_progress_bar_shows_it_later(bar: str) -> None:
    files = {"model.py": BEFORE, "show.py": bar}
    [finding] = [item for item in run_rules(files, LIT).findings if item.path == "model.py"]
    assert finding.fix == "unsafe" and "what the epoch before logged" in finding.reason
    assert "on_validation_epoch_end" in rewritten(files, LIT, unsafe=True)["model.py"]
    own = bar + "\n    def get_metrics(self, trainer, module):\n        return trainer.callback_metrics\n"
    quiet = {**files, "model.py": BEFORE.replace("self.log(", "self.note(")}
    assert [item.fix for item in run_rules(quiet, LIT).findings if item.path == "model.py"] == ["safe"]
    if bar is BAR:
        assert "callback_metrics" in refusals({**files, "show.py": own}, "LIT201")[0]


def test_a_callback_that_hands_the_module_on_leaves_a_doubt() -> None:
    files = {"model.py": BEFORE, "show.py": CALLBACK.replace("print(trainer.callback_metrics)", "self.draw(pl_module)")}
    made = run_rules(files, LIT)
    (found,) = [item for item in made.findings if item.path == "model.py"]
    assert found.fix == "unsafe"
    assert "show.py passes the module or the Trainer on in on_validation_epoch_end" in found.reason
    assert made.changes == ()
    assert "def on_validation_epoch_end(self):" in rewritten(files, LIT, unsafe=True)["model.py"]


def test_one_that_also_asks_for_what_the_hook_leaves_is_for_a_person() -> None:
    asked = "self.draw(pl_module, trainer.callback_metrics)"
    files = {"model.py": BEFORE, "show.py": CALLBACK.replace("print(trainer.callback_metrics)", asked)}
    made = run_rules(files, LIT, unsafe=True)
    assert {item.fix for item in made.findings if item.path == "model.py"} == {"manual"}
    assert made.changes == ()
