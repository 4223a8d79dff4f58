"""What click hands a command, against click itself."""

from __future__ import annotations

import ast

import click
import pytest
from click.testing import CliRunner

from codemods.code.source import PythonFile, Source
from codemods.lightning.click_options import kind_of_click
from tests.codemods.support import rewritten, rule

OPTIONS = {
    '"--n-gpus", default=1': ("n_gpus", "int", ["--n-gpus", "2"]),
    '"-g", "--gpus", type=int': ("gpus", "int", ["-g", "2"]),
    '"--gpus", "kept", type=click.IntRange(0, 3)': ("kept", "int", ["--gpus", "2"]),
    '"--rate", default=0.5': ("rate", "number", ["--rate", "1"]),
    '"--gpus"': ("gpus", "str", ["--gpus", "2"]),
    '"--gpus", default="0"': ("gpus", "str", ["--gpus", "2"]),
    '"--fast", is_flag=True': ("fast", "bool", ["--fast"]),
    '"--on/--off", default=False': ("on", "bool", ["--on"]),
    '"--gpus", multiple=True, type=int': ("gpus", "?", ["--gpus", "2"]),
    '"--gpus", type=int, callback=own': ("gpus", "?", ["--gpus", "2"]),
}
TYPES = {int: "int", float: "number", str: "str", bool: "bool", tuple: "?"}
SCRIPT = """\
import click
from pytorch_lightning import Trainer


def own(context, parameter, value):
    return (value,)


@click.command()
@click.option(OPTION)
def main(NAME, **others):
    trainer = Trainer(gpus=NAME)
    trainer.fit(None)
"""


@pytest.mark.parametrize("option", OPTIONS)
def test_a_kind_is_that_of_what_click_hands_over(option: str) -> None:
    name, kind, words = OPTIONS[option]
    text = SCRIPT.replace("OPTION", option).replace("NAME", name)
    file = PythonFile.parse(Source("a.py", "python", text.encode()))
    function = next(node for node in file.tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    assert kind_of_click(file, function, name) == kind
    given: list[object] = []
    space = {"click": click, "given": given}
    exec(
        text.replace("from pytorch_lightning import Trainer\n", "").split("    trainer")[0]
        + f"    given.append({name})\n",
        space,
    )
    assert CliRunner().invoke(space["main"], words).exit_code == 0  # type: ignore[arg-type]
    assert TYPES[type(given[0])] == kind


def test_a_number_is_counted_safely_and_text_is_not() -> None:
    for option, safe in (('"--n-gpus", default=1', True), ('"--n-gpus", default="1"', False)):
        text = SCRIPT.replace("OPTION", option).replace("NAME", "n_gpus")
        after = rewritten({"a.py": text}, rule("LIT101"))["a.py"]
        assert ('Trainer(accelerator="gpu" if n_gpus else "cpu", devices=n_gpus or 1)' in after) == safe
