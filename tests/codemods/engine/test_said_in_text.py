"""What a text may do that calls a rule, in whatever form it is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemods.engine.triggers import SaidInText
from codemods.rule import Rule, all_rules
from codemods.rules.companions import com002, com003
from codemods.rules.gradients import grd008
from codemods.rules.modules import lit226
from tests.codemods.support import run_rules

RULE = replace(com002.RULE, code="XYZ001", triggers=(b".fit(", b"def train_step(", b"gone", b"Trainer("))


@pytest.mark.parametrize(
    "text",
    [
        "trainer.fit(model)",
        "fit = trainer.fit\nfit(model)",
        "run(trainer.fit, model)",
        "getattr(trainer, 'fit')(model)",
        "partial(trainer.fit, model)()",
        "class A:\n    train_step = step\n",
        "class A:\n    def train_step(self): ...\n",
        "x = gone",
        "T = Trainer",
        "make('Trainer')",
    ],
)
def test_what_calls_a_rule_in_other_words(text: str) -> None:
    assert SaidInText(text.encode()).spells(RULE)


@pytest.mark.parametrize(
    "text",
    ["load(split='fit')", "outfit(1)", "x = 'train_step'", "monkeypatch.setattr(a, 'fit', b)", "hasattr(a, 'fit')"],
)
def test_a_method_named_in_a_string_alone_is_not_called(text: str) -> None:
    assert not SaidInText(text.encode()).spells(RULE)


def test_words_of_one_rule_are_not_those_of_another() -> None:
    text = SaidInText(b"load(split='train_step')")
    named = replace(RULE, code="XYZ002", triggers=(b"train_step",))
    assert not text.spells(RULE)
    assert text.spells(named)


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if rule.spelled], ids=lambda rule: rule.code)
def test_what_a_rule_finds_in_its_examples_is_spelled(rule: Rule) -> None:
    assert rule.spelled is not None
    spelled = rule.spelled
    found = [
        each
        for each in rule.examples
        if run_rules({each.path: each.before, **dict(each.files)}, replace(rule, spelled=None), pins=each.pins).findings
    ]
    assert found
    assert all(spelled(each.before) for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.load(p)",
        "import torch as t\nt.load(p)",
        "import os, torch as t\nt.load(p)",
        "from torch import nn, load\nload(p)",
        "from torch import (\n    load,\n)\nload(p)",
        "import torch\nt = torch\nt.load(p)",
        "import torch\n(torch).load(p)",
        "import torch\ngetattr(torch, name)(p)",
        "importlib.import_module('torch').load(p)",
    ],
)
def test_a_load_of_torch_is_seen_by_whatever_name(text: str) -> None:
    assert com003.RULE.spelled is not None and com003.RULE.spelled(text)


def test_texts_without_a_load_of_torch_a_method_train_or_a_checkpoint_are_told_apart() -> None:
    text = "import numpy as np\nimport torch\nfrom torch import Tensor\n\n\nnp.load(torch.zeros(1))\nrun('train')\n"
    for rule in (com003.RULE, grd008.RULE, lit226.RULE):
        assert rule.spelled is not None and not rule.spelled(text)
