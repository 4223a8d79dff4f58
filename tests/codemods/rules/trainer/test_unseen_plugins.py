"""LIT111: strategies that were plugins, and that no Trainer in sight gets."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

TEXT = """\
from pytorch_lightning import Trainer
from pytorch_lightning.plugins import DDPPlugin, DeepSpeedPlugin


def strategy_of(name, unused):
    if name == "ddp":
        return DDPPlugin(find_unused_parameters=unused)
    return DeepSpeedPlugin(stage=2)


def main(options):
    Trainer(strategy=strategy_of(options.name, True)).fit(options.model)
"""
WANTED = (
    TEXT.replace("pytorch_lightning.plugins", "pytorch_lightning.strategies")
    .replace("DDPPlugin", "DDPStrategy")
    .replace("DeepSpeedPlugin", "DeepSpeedStrategy")
)


def test_they_are_renamed_where_the_doubt_is_accepted() -> None:
    made = run_rules({"a.py": TEXT}, rule("LIT111"))
    assert made.changes == ()
    assert {item.fix for item in made.findings} == {"unsafe"}
    assert all("assumes that it is given to a Trainer as strategy=" in item.reason for item in made.findings)
    assert rewritten({"a.py": TEXT}, rule("LIT111"), unsafe=True)["a.py"] == WANTED
    assert rewritten({"a.py": WANTED}, rule("LIT111"), unsafe=True)["a.py"] == WANTED


@pytest.mark.parametrize(
    ("path", "old", "new", "why"),
    [
        ("a.py", "Trainer(strategy=", "Trainer(plugins=", "takes no strategy"),
        ("b.py", "", "trainer_options = {'plugins': []}\n", "takes no strategy"),
        ("b.py", "", "args.plugins.append(other)\n", "takes no strategy"),
        ("a.py", "DDPPlugin(find_unused_parameters=unused)", "DDPPlugin(num_nodes=2)", "arguments of Trainer alone"),
        ("a.py", "DDPPlugin(find_unused_parameters=unused)", "DDPPlugin(unused)", "not all named"),
        ("a.py", "DDPPlugin(find_unused_parameters=unused)", "DDPPlugin(**unused)", "not all named"),
    ],
)
def test_what_may_be_given_otherwise_is_left_whole(path: str, old: str, new: str, why: str) -> None:
    files = {"a.py": TEXT, "b.py": ""}
    files[path] = files[path].replace(old, new, 1) if old else new
    assert all(why in reason for reason in refusals(files, "LIT111"))


def test_an_import_of_plugins_is_no_use_of_them() -> None:
    files = {"a.py": TEXT, "b.py": "from pytorch_lightning.plugins import TorchSyncBatchNorm\nimport x.plugins.y\n"}
    assert rewritten(files, rule("LIT111"), unsafe=True)["a.py"] == WANTED


NAMED = """\
from pytorch_lightning.plugins import DDPPlugin

TRAINING = {"max_steps": 3, "strategy": DDPPlugin(find_unused_parameters=False)}
"""


@pytest.mark.parametrize(
    "text", [NAMED, NAMED.replace('{"max_steps": 3, "strategy": ', "dict(strategy=").replace(")}", "))")]
)
def test_what_is_called_a_strategy_is_given_as_one(text: str) -> None:
    wanted = text.replace("pytorch_lightning.plugins", "pytorch_lightning.strategies").replace(
        "DDPPlugin", "DDPStrategy"
    )
    assert rewritten({"a.py": text}, rule("LIT111"))["a.py"] == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"strategy": ', '"plugin": '),
        ("find_unused_parameters=False", ""),
        ("DDPPlugin(find_unused_parameters=False)}", "[DDPPlugin(find_unused_parameters=False)]}"),
        ("3, ", '3, "other": DDPPlugin(find_unused_parameters=True), '),
        ("False)}\n", "False)}\nOTHER = DDPPlugin(find_unused_parameters=True)\n"),
    ],
)
def test_what_is_called_otherwise_waits_with_the_rest_of_its_file(old: str, new: str) -> None:
    made = run_rules({"a.py": NAMED.replace(old, new, 1)}, rule("LIT111"))
    assert (made.changes, {item.fix for item in made.findings}) == ((), {"unsafe"})


@pytest.mark.parametrize("other", ["options = {'plugins': []}\n", "Trainer(plugins=TRAINING['strategy'])\n"])
def test_what_is_called_a_strategy_may_be_given_as_a_plugin(other: str) -> None:
    assert all("takes no strategy" in reason for reason in refusals({"a.py": NAMED, "b.py": other}, "LIT111"))
    assert rewritten({"a.py": NAMED, "b.py": other}, rule("LIT111"), unsafe=True)["a.py"] == NAMED
