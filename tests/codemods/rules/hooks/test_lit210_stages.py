"""LIT210: the stage that `setup` and `teardown` are given."""

from __future__ import annotations

import inspect
from typing import Any

import lightning.pytorch
import pytest

from tests.codemods.support import rewritten, rule, run_rules


@pytest.mark.parametrize("base", ["LightningModule", "LightningDataModule"])
@pytest.mark.parametrize("name", ["setup", "teardown"])
def test_a_hook_that_takes_no_stage(base: str, name: str) -> None:
    text = f"from pytorch_lightning import {base}\n\n\nclass A({base}):\n    def {name}(self) -> None:\n        pass\n"
    after = rewritten({"a.py": text}, rule("LIT210"))["a.py"]
    assert after == text.replace("(self)", "(self, stage=None)")
    inspect.signature(getattr(getattr(lightning.pytorch, base), name)).bind(None, stage="fit")
    for left in ("(self, stage)", "(self, stage=None)", "(self, **kwargs)", "(self, *, stage)"):
        assert run_rules({"a.py": text.replace("(self)", left)}, rule("LIT210")).findings == ()


STAGED = """\
from pytorch_lightning import {0}


class A({0}):
    def {1}({2}):
        named = dict
        if step == "fit":  # the step
            self.step = named(step=step)
            self.seen = [step for _ in range(2)]
"""


def staged(base: str, name: str, parameter: str = "step") -> str:
    placed = "self, trainer, pl_module" if base == "Callback" else "self"
    return STAGED.format(base, name, f"{placed}, {parameter}")


@pytest.mark.parametrize("base", ["LightningModule", "LightningDataModule", "Callback"])
@pytest.mark.parametrize("name", ["setup", "teardown"])
def test_a_stage_by_another_name_is_renamed(base: str, name: str) -> None:
    after = rewritten({"a.py": staged(base, name)}, rule("LIT210"), unsafe=True)["a.py"]
    expected = staged(base, name, "stage").replace('if step == "fit"', 'if stage == "fit"')
    assert after == expected.replace("step=step", "step=stage").replace("[step for", "[stage for")
    space: dict[str, Any] = {}
    exec(after, space)
    item = space["A"]()
    getattr(item, name)(**({"trainer": None, "pl_module": None} if base == "Callback" else {}), stage="fit")
    assert (item.step, item.seen) == ({"step": "fit"}, ["fit", "fit"])
    assert run_rules({"a.py": after}, rule("LIT210")).findings == ()


@pytest.mark.parametrize(
    ("given", "body", "level"),
    [
        ("mode", "if mode in ('fit', None):\n            print()", "safe"),
        ("mode=None", "if mode == 'test' or mode is None:\n            print()", "safe"),
        ("mode", "super().setup(mode)", "safe"),
        ("batch_size=32", "self.batch_size = batch_size", "unsafe"),
        ("features", "self.layer = make(features)", "unsafe"),
        ("mode", "if mode == 'train':\n            print()", "unsafe"),
    ],
)
def test_what_is_surely_the_stage(given: str, body: str, level: str) -> None:
    head = "import pytorch_lightning as pl\n\n\nclass A(pl.LightningDataModule):\n"
    [found] = run_rules({"a.py": f"{head}    def setup(self, {given}):\n        {body}\n"}, rule("LIT210")).findings
    assert found.fix == level


def test_a_default_of_the_stage_stays() -> None:
    text = "import pytorch_lightning as pl\n\n\nclass A(pl.LightningDataModule):\n"
    after = rewritten({"a.py": f"{text}    def setup(self, step: str = None):\n        pass\n"}, rule("LIT210"))["a.py"]
    assert "def setup(self, stage: str = None):" in after


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("named = dict", "named = lambda step: step", "fixer cannot tell"),
        ("named = dict", "def named(step):\n            return step", "fixer cannot tell"),
        ("self.step = ", "print(locals())\n            self.step = ", "fixer cannot tell"),
        (":  # the step", " and f'{step=}':", "fixer cannot tell"),
        (":  # the step", " and stage:", "a `stage` of its own"),
        (", step):", ", step, other):", "it has the parameters `step`, `other`"),
        (", step):", ", *step):", "more than plain arguments"),
        ("    def setup", "    @staticmethod\n    def setup", "decorated"),
    ],
)
def test_a_stage_that_cannot_be_renamed_is_named(before: str, after: str, why: str) -> None:
    text = staged("LightningModule", "setup")
    assert before in text
    made = run_rules({"a.py": text.replace(before, after)}, rule("LIT210"))
    assert made.changes == ()
    assert [(finding.fix, why in finding.reason) for finding in made.findings] == [("manual", True)]


def test_a_stage_that_is_given_by_its_old_name_stays() -> None:
    files = {"a.py": staged("LightningDataModule", "setup"), "b.py": 'from a import A\n\nA().setup(step="fit")\n'}
    made = run_rules(files, rule("LIT210"))
    assert made.changes == ()
    assert "b.py seems to give it `step=`" in made.findings[0].reason


def test_setups_of_other_classes_are_left() -> None:
    text = "from unittest import TestCase\n\n\nclass A(TestCase):\n    def setup(self):\n        pass\n"
    assert run_rules({"a.py": text}, rule("LIT210")).findings == ()


def test_a_stage_of_ones_own_is_not_hidden() -> None:
    text = "import pytorch_lightning as pl\n\nstage = 1\n\n\nclass Data(pl.LightningDataModule):\n"
    made = run_rules({"data.py": f"{text}    def setup(self):\n        print(stage)\n"}, rule("LIT210"))
    assert made.changes == ()
    assert [finding.fix for finding in made.findings] == ["manual"]
