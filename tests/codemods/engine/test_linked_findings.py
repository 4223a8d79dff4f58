"""What is found in files together with what their classes take from others, and what must not be made of it."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from codemods.code.parsed_files import Parsed, ParsedFiles
from codemods.code.source import PythonFile, Source
from codemods.engine.plan import find
from codemods.engine.scan import Options
from codemods.lightning.facts import Facts
from codemods.lightning.file_summary import collect_file
from codemods.lightning.linking import linked
from tests.codemods.support import rule, run_rules, sources

HEAD = "import torch\nfrom lightning.pytorch import LightningModule\n\n\n"
INIT = """\
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
"""
STEP = """\
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.net(batch).mean(), retain_graph=True)
        optimizer.step()
"""
BASE = f"{HEAD}class Half(LightningModule):\n{STEP}"
MIXIN = f"{HEAD}class Half:\n{STEP}"
BELOW = f"{HEAD}from half import Half\n\n\nclass Model({{}}):\n{INIT}"
KINDS = {
    "a base": {"half.py": BASE, "train.py": BELOW.format("Half")},
    "a mixin": {"half.py": MIXIN, "train.py": BELOW.format("Half, LightningModule")},
    "a function that is handed the module": {
        "half.py": "def whole(self, batch):\n" + STEP.split("\n", 1)[1].replace("        ", "    "),
        "train.py": f"{HEAD}from half import whole\n\n\nclass Model(LightningModule):\n{INIT}\n"
        "    def training_step(self, batch, batch_idx):\n        whole(self, batch)\n",
    },
    "a function that is taken for a method": {
        "half.py": "def whole(self, batch, batch_idx):\n" + STEP.split("\n", 1)[1].replace("        ", "    "),
        "train.py": f"{HEAD}from half import whole\n\n\nclass Model(LightningModule):\n{INIT}\n"
        "    training_step = whole\n",
    },
}
RULE = rule("BWD005")


@pytest.mark.parametrize("name", KINDS)
def test_what_is_in_two_files_is_named_once(name: str) -> None:
    made = find(sources(KINDS[name]), Options((RULE,)))
    assert len(made.findings) == 1 and made.findings[0].path in KINDS[name]


@pytest.mark.parametrize("name", KINDS)
def test_what_another_file_takes_too_is_not_rewritten_for_one(name: str) -> None:
    files = {**KINDS[name], "other.py": "from half import Half, whole\n\n\nclass Other(Half):\n    pass\n"}
    made = run_rules(files, RULE, unsafe=True)
    assert made.changes == () and made.bugs == ()


def test_a_module_that_hands_lightning_on_by_attributes() -> None:
    files = {
        "compat.py": "import pytorch_lightning as pl\n",
        "train.py": "import compat\n\ntrainer = compat.pl.Trainer(gpus=2)\n",
    }
    made = run_rules(files, rule("LIT101"))
    assert [finding.path for finding in made.findings] == ["train.py"]


@pytest.mark.parametrize(
    "compat",
    [
        "import pytorch_lightning as pl\n\nif SMALL:\n    pl = load()\n",
        "class pl:\n    pass\n",
        "from transformers import *\n",
        "pl = load()\n",
    ],
)
def test_a_module_that_may_hand_something_else_on(compat: str) -> None:
    files = {"compat.py": compat, "train.py": "from compat import pl\n\ntrainer = pl.Trainer(gpus=2)\n"}
    assert run_rules(files, rule("LIT101"), unsafe=True).changes == ()


def facts_of(files: dict[str, str], parsed: Parsed | None = None) -> Facts:
    every = {path: Source(path, "python", text.encode()) for path, text in files.items()}
    said = {path: collect_file(PythonFile.parse(source), {}) for path, source in every.items()}
    trees = ParsedFiles(every, parsed=parsed)
    return Facts(said, sources=every, trees=trees, kinds=dict.fromkeys(every, "python"))


def whole(files: dict[str, str]) -> str | None:
    facts = facts_of(files)
    found = linked(facts.trees.open("train.py"), facts)
    return None if found is None else ast.unparse(found.file.tree)


def test_what_files_are_together_is_kept_until_what_is_taken_changes() -> None:
    files = {"half.py": BASE, "train.py": BELOW.format("Half")}
    first = facts_of(files)
    before = linked(first.trees.open("train.py"), first)
    assert before is not None and before.file.normal is not None
    beside, other = (facts_of({**files, **more}, first.trees.known) for more in ({"a.py": "b = 1"}, {"half.py": MIXIN}))
    same, new = (linked(each.trees.open("train.py"), each) for each in (beside, other))
    assert same is not None and same.file is not before.file and same.file.tree is before.file.tree
    assert same.file.normal is not None and same.file.normal.tree is before.file.normal.tree
    assert [part is beside.trees.open("half.py") for part, _ in same.parts] == [True]
    assert new is not None and new.file.tree is not before.file.tree and "class Half:" in new.said.data.decode()


def test_only_what_is_needed_comes_along() -> None:
    half = BASE.replace("class Half", "def other():\n    pass\n\n\nclass Half")
    text = whole({"half.py": half, "train.py": BELOW.format("Half")})
    assert text is not None and "class Half" in text and "def other" not in text and text.count("import torch") == 1


def test_names_that_meet_are_not_put_together() -> None:
    half = BASE.replace("class Half", "SIZE = 1\n\n\nclass Half").replace("retain_graph=True", "retain_graph=SIZE")
    train = BELOW.format("Half").replace("class Model", "SIZE = 2\n\n\nclass Model")
    assert whole({"half.py": half, "train.py": train}) is None


def test_files_that_take_from_one_another_end() -> None:
    one = "from train import Model\n\n\nclass Half(Model):\n    pass\n"
    assert run_rules({"half.py": one, "train.py": BELOW.format("Half")}, RULE).bugs == ()


def test_what_the_file_of_a_base_does_not_import_is_not_written_there() -> None:
    base = "from lightning.pytorch import LightningModule\n\n\nclass Half(LightningModule):\n"
    grown = "    def grow(self):\n        self.layers = []\n        self.layers.append(make())\n"
    below = f"from torch import nn\nfrom half import Half\n\n\nclass Model(Half):\n{INIT}"
    made = run_rules({"half.py": base + grown, "train.py": below}, rule("GRD005"))
    assert made.bugs == () and "nn.ModuleList" not in made.final().get("half.py", b"").decode()


def test_a_rule_that_fails_on_files_together_says_so_and_keeps_what_it_found() -> None:
    def fails(file: PythonFile, facts: Facts) -> object:
        if file.text.count("class ") > 1:
            raise KeyError("nothing is there")
        return RULE.check(file, facts)  # type: ignore[arg-type]

    made = find(sources(KINDS["a base"]), Options((replace(RULE, check=fails),)))  # type: ignore[arg-type]
    assert any("BWD005 could not check all of this file" in item.message for item in made.findings)
