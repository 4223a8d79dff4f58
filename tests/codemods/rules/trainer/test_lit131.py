"""LIT131: where arguments of LightningCLI go, checked against the newest one."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI, SaveConfigCallback

from codemods.rules.trainer.lit131 import ROWS, CliArgumentRow
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from lightning.pytorch.cli import LightningCLI\n\n"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.argument)
def test_rows(row: CliArgumentRow) -> None:
    taken = inspect.signature(LightningCLI.__init__).parameters
    assert row.argument not in taken and row.dictionary in taken
    target = SaveConfigCallback if row.dictionary == "save_config_kwargs" else LightningArgumentParser
    assert row.key in inspect.signature(target.__init__).parameters


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("LightningCLI(save_config_filename='a')", "LightningCLI(save_config_kwargs={\"config_filename\": 'a'})"),
        (
            "LightningCLI(save_config_overwrite=a, save_config_multifile=b)",
            'LightningCLI(save_config_kwargs={"overwrite": a, "multifile": b})',
        ),
        (
            "LightningCLI(save_config_overwrite=a, save_config_kwargs={'x': 1})",
            "LightningCLI(save_config_kwargs={'x': 1, \"overwrite\": a})",
        ),
        ("LightningCLI(env_parse=True)", 'LightningCLI(parser_kwargs={"default_env": True})'),
        ("LightningCLI(seed_everything_default=None)", "LightningCLI(seed_everything_default=False)"),
    ],
)
def test_written(before: str, wanted: str) -> None:
    assert rewritten({"a.py": f"{HEAD}{before}\n"}, rule("LIT131"))["a.py"] == f"{HEAD}{wanted}\n"


def test_what_is_no_plain_dictionary_is_left() -> None:
    text = f"{HEAD}LightningCLI(description='a', parser_kwargs=dict(x=1))\n"
    assert "not a plain dictionary" in refusals({"a.py": text}, "LIT131")[0]


@pytest.mark.parametrize("text", ["LightningCLI(A, seed_everything_default=1)", "Other(save_config_overwrite=True)"])
def test_not_spoken_of(text: str) -> None:
    assert run_rules({"a.py": f"{HEAD}{text}\n"}, rule("LIT131")).findings == ()


OWN = "class Own(LightningCLI):\n    def add_arguments_to_parser(self, parser):\n        pass\n\n\n"
HANDING = "class Own(LightningCLI):\n    def __init__(self, model):\n        super().__init__(model, {})\n\n\nOwn(1)\n"


def test_a_class_of_the_project_takes_the_same_arguments() -> None:
    old, new = "save_config_overwrite=True", 'save_config_kwargs={"overwrite": True}'
    for text in (HEAD + OWN + "Own(Model, {})\n", HEAD + HANDING):
        assert rewritten({"a.py": text.format(old)}, rule("LIT131"))["a.py"] == text.replace("{}", new)
    apart = {"own.py": HEAD + OWN, "a.py": f"from own import Own\n\nOwn(Model, {old})\n"}
    assert new in rewritten(apart, rule("LIT131"))["a.py"]


def test_a_class_with_an_init_of_its_own_takes_what_it_says() -> None:
    own = (
        HANDING.replace("model)", "model, save_config_overwrite)", 1)
        .replace(", {})", ")")
        .replace("Own(1", "Own(1, {}")
    )
    text = (HEAD + own).format("save_config_overwrite=True")
    assert run_rules({"a.py": text}, rule("LIT131")).findings == ()
