"""LIT201: shapes on which a rewrite would go wrong without anybody seeing it, and layout that must survive."""

from __future__ import annotations

import pytest

from codemods.rules.hooks.lit201 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

LIT = rule("LIT201")
STEP = """\
    def validation_step(self, batch, batch_idx):
        x, y = batch
        return {"error": (self.layer(x) - y).abs().mean()}
"""
DEF = "    def validation_step(self, batch, batch_idx):\n"
HOOK = """\
    def validation_epoch_end(self, outputs):
        self.log("error", torch.stack([output["error"] for output in outputs]).mean())
"""
INIT = "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(4, 1)\n\n"
CALLBACK = """\
from pytorch_lightning import Callback


class Show(Callback):
    def on_validation_epoch_end(self, trainer, pl_module):
        print(trainer.callback_metrics)
"""


def with_step(step: str) -> str:
    return BEFORE.replace(STEP, step)


def training(body: str) -> str:
    text = with_step("    def training_step(self, batch, batch_idx):\n" + body)
    return text.replace("validation_epoch_end", "training_epoch_end").replace('"error"', '"loss"')


REFUSED = {
    "hook under another name too": (BEFORE + "\n    test_epoch_end = validation_epoch_end\n", "used by name in line"),
    "class written twice": (BEFORE + "\n\n" + BEFORE, "two classes"),
    "backward at the end": (
        training('        return {"loss": self.layer(batch).mean()}\n') + '        outputs[0]["loss"].backward()\n',
        "calls backward",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[str, str]) -> None:
    text, reason = case
    assert reason in refusals({"model.py": text}, "LIT201")[0]


@pytest.mark.parametrize(
    ("ended", "strategy", "level"),
    [
        ("{'error': sum(out['error']) / len(out['error'])}", "dp", "manual"),
        ("{'error': out['error'].mean()}", "dp", "safe"),
        ("{'error': out['error'].sum()}", "dp", "safe"),
        ("{'error': sum(out['error']) / len(out['error'])}", "ddp", "safe"),
    ],
)
def test_what_joined_the_copies_of_data_parallel_is_left(ended: str, strategy: str, level: str) -> None:
    text = f"{BEFORE}\n    def validation_step_end(self, out):\n        return {ended}\n"
    [found] = run_rules({"model.py": text, "run.py": f"Trainer(strategy='{strategy}')\n"}, LIT).findings
    assert found.fix == level, found
    assert ("DataParallel" in found.reason) == (level == "manual")


RELATIVES = {
    "step end in a subclass": (
        "from model import Model\n\n\nclass Child(Model):\n    def validation_step_end(self, output):\n        ...\n",
        "validation_step_end",
    ),
    "new hook in a subclass": (
        "from model import Model\n\n\nclass Child(Model):\n    def on_validation_epoch_end(self):\n        ...\n",
        "Child",
    ),
    "hook of a subclass that calls it": (
        "from model import Model\n\n\nclass Child(Model):\n    def validation_epoch_end(self, outputs):\n"
        "        super().validation_epoch_end(outputs)\n",
        "used by name in child.py",
    ),
    "patched by a test": (
        'from unittest import mock\n\nfrom model import Model\n\nmock.patch.object(Model, "validation_epoch_end")\n',
        "used by name in child.py",
    ),
}


@pytest.mark.parametrize("case", RELATIVES.values(), ids=RELATIVES.keys())
def test_relatives_and_users_in_other_files_forbid_it(case: tuple[str, str]) -> None:
    child, reason = case
    found = refusals({"model.py": BEFORE, "child.py": child}, "LIT201")
    assert any(reason in text for text in found)


def test_start_hook_of_a_subclass_would_replace_the_one_that_makes_the_list() -> None:
    child = "from model import Model\n\n\nclass Child(Model):\n    def on_validation_epoch_start(self):\n        ...\n"
    assert "Child" in refusals({"model.py": BEFORE.replace(INIT, ""), "child.py": child}, "LIT201")[0]
    assert "model.py" in run_rules({"model.py": BEFORE, "child.py": child}, LIT).final()


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
    assert "calls it before" in refusals(files, "LIT201")[0]


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
    assert "calls it before" in refusals(watched(asked), "LIT201")[0]


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


@pytest.mark.parametrize(
    "text",
    [
        BEFORE.replace(HOOK, "    validation_epoch_end = lambda self, outputs: print(outputs)\n"),
        BEFORE.replace(HOOK, "    if torch:\n\n        def validation_epoch_end(self, outputs):\n            ...\n"),
        BEFORE.replace(HOOK, "") + "\n\nModel.validation_epoch_end = print\n",
        "from pytorch_lightning import LightningModule\n\n\nclass Mixin:\n    pass\n\n\n"
        "class Model(Mixin, LightningModule):\n    validation_epoch_end = print\n",
    ],
    ids=["lambda", "branch", "from outside", "mixin"],
)
def test_odd_definitions_are_findings(text: str) -> None:
    assert len(refusals({"model.py": text}, "LIT201")) == 1


def test_branches_that_serve_both_versions_are_left_alone() -> None:
    both = (
        "    if torch:\n\n        def validation_epoch_end(self, outputs):\n            ...\n"
        "    else:\n\n        def on_validation_epoch_end(self):\n            ...\n"
    )
    assert run_rules({"model.py": BEFORE.replace(HOOK, both)}, LIT).findings == ()


def test_comments_of_one_line_blocks_survive() -> None:
    body = "        if batch_idx: return {}  # why\n        x = 1; return {'error': x}  # tail\n"
    text = with_step(DEF + body).replace("outputs):\n        self.log(", "outputs): self.log(").rstrip() + "  # hm\n"
    after = rewritten({"model.py": text}, LIT)["model.py"]
    assert "            return output  # why\n" in after
    assert "        x = 1\n        output = {'error': x}\n" in after
    assert "        return output  # tail\n" in after
    assert after.endswith(".mean())  # hm\n")


def test_hook_that_looks_at_its_locals_gets_them() -> None:
    after = rewritten({"model.py": BEFORE.replace(HOOK, HOOK.split("\n")[0] + "\n        print(locals())\n")}, LIT)
    assert "outputs, self.validation_step_outputs =" in after["model.py"]


COLLECTED = {
    "return in finally": DEF
    + "        try:\n            return {}\n        finally:\n            return {'error': 1}\n",
    "statement after a return": DEF + "        return {}; print(1)\n",
    "step under another name too": STEP + "\n    test_step = validation_step\n",
    "step by getattr": STEP
    + '\n    def test_step(self, b, i):\n        return getattr(self, "validation_step")(b, i)\n',
}


@pytest.mark.parametrize("step", COLLECTED.values(), ids=COLLECTED.keys())
def test_steps_that_are_not_plain_stay_as_they_are(step: str) -> None:
    after = rewritten({"model.py": with_step(step)}, LIT)["model.py"]
    assert step in after
    assert "    def on_validation_batch_end(self, outputs, batch, batch_idx):\n" in after


def test_tabs_are_kept() -> None:
    after = rewritten({"model.py": BEFORE.replace("    ", "\t")}, LIT)["model.py"]
    assert "    " not in after


def test_class_in_a_function_that_imports_lightning_itself_is_seen() -> None:
    text = "def make():\n" + "".join(f"    {line}\n" if line else "\n" for line in BEFORE.splitlines())
    assert "def on_validation_epoch_end(self):" in rewritten({"model.py": text}, LIT)["model.py"]


def test_comments_of_parameters_stay_with_them() -> None:
    head = "(\n        self,  # me\n        outputs,  # all\n    )"
    after = rewritten({"model.py": BEFORE.replace("(self, outputs)", head)}, LIT)["model.py"]
    assert "    def on_validation_epoch_end(\n        self,  # me\n    ):\n" in after


CHILD = "class Child(Net):\n    def validation_step(self, batch, batch_idx):\n        ...\n"


@pytest.mark.parametrize(
    ("exports", "imports"),
    [
        ("from .model import Model as Net\n", "from pkg import Net\n\n\n"),
        ("from .model import Model as Net\n", "from pkg import *\n\n\n"),
        ("from .model import Model\n\nNet = Model\n", "from pkg import Net\n\n\n"),
    ],
    ids=["renamed", "renamed after a star", "assigned"],
)
def test_subclass_that_knows_the_class_by_another_name_is_heard(exports: str, imports: str) -> None:
    files = {"pkg/__init__.py": exports, "pkg/model.py": BEFORE, "train.py": imports + CHILD}
    assert "def on_validation_batch_end(" in rewritten(files, LIT)["pkg/model.py"]


def test_a_class_of_the_same_name_elsewhere_that_calls_lightning_does_not_matter() -> None:
    text = BEFORE.replace("        self.log(", "        super().validation_epoch_end(outputs)\n        self.log(")
    after = rewritten({"one.py": text, "two.py": text}, LIT)
    assert after["one.py"] == after["two.py"]
    assert "        super().on_validation_epoch_end()\n" in after["one.py"]


def test_a_service_that_speaks_of_a_precision_is_about_no_training() -> None:
    text = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
        "    def training_step(self, batch, batch_idx):\n        return {'loss': self(batch)}\n\n"
        "    def training_step_end(self, output):\n        return {'loss': self.scaled(output['loss'])}\n\n"
        "    def training_epoch_end(self, outputs):\n        print(outputs)\n"
    )
    services, trainer = {"a.py": text, ".codecov.yaml": "precision: 0\n"}, {"a.py": text, "t.yaml": "precision: 16\n"}
    region = "        with torch.autocast(self.device.type, enabled=False):  # as Lightning 1.x called it\n"
    left = f"{region}            return {{'loss': self.scaled("
    assert left not in rewritten(services, rule("LIT201"))["a.py"]
    made = rewritten(trainer, rule("LIT201"))["a.py"]
    assert left in made and "return self.training_step_end({'loss': self(batch)})" in made
    assert run_rules({**trainer, "a.py": made}, rule("LIT201"), rule("LIT211")).findings == ()
    assert {finding.fix for finding in run_rules(trainer, rule("LIT201"), rule("LIT211")).findings} == {"safe"}


@pytest.mark.parametrize(
    "body",
    [
        "outputs = [one for group in outputs for one in group]\n        print([one['error'] for one in outputs])",
        "for one in outputs:\n            for one in one:\n                print(one['error'])",
    ],
    ids=["bound again", "one name for both"],
)
def test_a_hook_that_flattens_its_outputs_gets_a_list_for_each_dataloader(body: str) -> None:
    step = "def validation_step(self, batch, batch_idx, dataloader_idx)"
    text = BEFORE.replace("def validation_step(self, batch, batch_idx)", step)
    head, _, _ = text.rpartition("self.log(")
    after = rewritten({"model.py": f"{head}{body}\n"}, LIT)["model.py"]
    assert "self.validation_step_outputs[dataloader_idx].append(output)" in after


@pytest.mark.parametrize("parameter", ["stage='val'", "outer=None", "log=True", "kind"])
def test_a_parameter_that_is_no_index_of_a_dataloader_is_not_taken_for_one(parameter: str) -> None:
    step = f"def validation_step(self, batch, batch_idx, {parameter})"
    text = BEFORE.replace("def validation_step(self, batch, batch_idx)", step)
    after = rewritten({"model.py": text.replace("output[", "outputs[0][")}, LIT)["model.py"]
    assert "self.validation_step_outputs[dataloader_idx].append(outputs)" in after
    assert after.count(".append(") == 1 and "[[] for _ in self.trainer.num_val_batches]" in after


OUTER = """\
from pytorch_lightning import LightningModule


class Outer(LightningModule):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def validation_step(self, batch, batch_idx):
        return self.inner.STEP(batch, batch_idx)
"""


def test_a_step_that_another_module_calls_of_what_it_was_given_keeps_nothing_itself() -> None:
    after = rewritten({"model.py": BEFORE, "outer.py": OUTER.replace("STEP", "validation_step")}, LIT)["model.py"]
    assert "    def on_validation_batch_end(self, outputs, batch, batch_idx):\n" in after
    assert "        return {" in after


def test_a_hook_that_another_module_calls_of_what_it_was_given_stays() -> None:
    files = {"model.py": BEFORE, "outer.py": OUTER.replace("STEP", "validation_epoch_end")}
    made = run_rules(files, LIT)
    assert not made.changes and "used by name in outer.py" in made.findings[0].reason


TESTED = (
    BEFORE
    + """
    def test_step(self, batch, batch_idx):
        return self.validation_step(batch, batch_idx)

    def test_epoch_end(self, outputs):
        return self.validation_epoch_end(outputs)
"""
)


@pytest.mark.parametrize(
    ("name", "head"),
    [("ModelOfNames", ""), ("Other", "# As Model, with other names.\n"), ("Other", "from model import Model\n")],
)
def test_a_hook_that_an_unrelated_module_calls_of_itself_is_its_own(name: str, head: str) -> None:
    files = {"model.py": TESTED, "other.py": head + TESTED.replace("class Model(", f"class {name}(")}
    after = rewritten(files, LIT)
    assert all("def on_test_epoch_end(self)" in text and "def test_epoch_end" not in text for text in after.values())
    assert sorted(after) == ["model.py", "other.py"]


@pytest.mark.parametrize(
    "child",
    [
        "    def test_epoch_end(self, outputs):\n        return self.validation_epoch_end(outputs)\n",
        "    def validation_epoch_end(self, outputs):\n        self.last = outputs\n\n"
        "    def summary(self, outputs):\n        return self.validation_epoch_end(outputs)\n",
    ],
)
def test_a_hook_that_a_subclass_calls_of_itself_stays(child: str) -> None:
    files = {"model.py": BEFORE, "child.py": f"from model import Model\n\n\nclass Child(Model):\n{child}"}
    made = run_rules(files, LIT)
    assert "model.py" not in {change.path for change in made.changes}
    assert "child.py" in next(found.reason for found in made.findings if found.path == "model.py")


TWO = """\
import pytorch_lightning as pl


class Plain(pl.LightningModule):
    def validation_step(self, batch, batch_idx):
        return self.net(batch)

    def validation_epoch_end(self, outputs):
        print("validation_epoch_end")
        self.show()


class Other(pl.LightningModule):
    def validation_step(self, batch, batch_idx):
        return self.net(batch)

    def test_step(self, batch, batch_idx):
        return self.net(batch)

    def validation_epoch_end(self, outputs):
        self.log("n", len(outputs))

    def test_epoch_end(self, outputs):
        self.validation_epoch_end(outputs)
"""


def test_what_another_class_calls_of_its_own_and_what_is_printed_is_no_use() -> None:
    after = rewritten({"a.py": TWO}, rule("LIT201"))["a.py"]
    assert "def validation_epoch_end" not in after and "def test_epoch_end" not in after
    assert 'print("validation_epoch_end")' in after and "self._validation_epoch_end(outputs)" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Plain(pl.LightningModule)", "class Plain(Base)"),
        ('print("validation_epoch_end")', 'getattr(self, "validation_epoch_end")'),
        ('print("validation_epoch_end")', 'print(getattr(self, "validation_epoch_end"))'),
    ],
)
def test_what_a_class_above_calls_may_be_this_one(old: str, new: str) -> None:
    base = "class Base(pl.LightningModule):\n    def validation_epoch_end(self, outputs):\n        self.x = 1\n\n"
    base += "    def again(self):\n        self.validation_epoch_end([])\n\n\n"
    text = TWO.replace(old, new).replace("class Plain", f"{base}class Plain" if "Base" in new else "class Plain")
    made = run_rules({"a.py": text}, rule("LIT201"))
    assert any(item.fix == "manual" and "used by name" in item.reason for item in made.findings)


ABSTRACT = """\
from abc import abstractmethod
from pytorch_lightning import LightningModule


class Base(LightningModule):
    @abstractmethod
    def validation_epoch_end(self, outputs):
        \"\"\"Says what is made of the outputs.\"\"\"
"""
BELOW = BEFORE.replace("(LightningModule)", "(Base)").replace("import torch\n", "import torch\nfrom base import Base\n")


def test_an_abstract_hook_is_renamed_with_those_below_it() -> None:
    after = rewritten({"base.py": ABSTRACT, "model.py": BELOW}, LIT)
    assert "    @abstractmethod\n    def on_validation_epoch_end(self):\n" in after["base.py"]
    assert "def on_validation_epoch_end(self):" in after["model.py"]


@pytest.mark.parametrize("change", [("@abstractmethod", "@marked"), ("abc import", "marks import")])
def test_a_hook_below_one_that_is_left_is_left(change: tuple[str, str]) -> None:
    files = {"base.py": ABSTRACT.replace(*change), "model.py": BELOW}
    assert rewritten(files, LIT, unsafe=True) == files and len(refusals(files, "LIT201")) == 2
