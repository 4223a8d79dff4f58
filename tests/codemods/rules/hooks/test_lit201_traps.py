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


@pytest.mark.parametrize("parameter", ["outer=None", "count=3", "kind"])
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
