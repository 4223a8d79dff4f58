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
