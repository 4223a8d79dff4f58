"""LIT101: `gpus=` whose kind an annotation states, of a parameter or of a field of one of the project's classes."""

from __future__ import annotations

import pytest

from codemods.finding import Fix
from tests.codemods.support import rewritten, rule, run_rules

HEAD = (
    "from dataclasses import dataclass\nfrom typing import Annotated, Any, List, Literal, Optional, Sequence, Union\n"
    "from pydantic import BaseModel, PositiveInt, conint\nfrom pytorch_lightning import Trainer\n\n\n"
)
FIELD = (
    HEAD + "{}\nclass Settings{}:\n    gpus: {} = 1\n\n\ndef run(config: Settings):\n    Trainer(gpus=config.gpus)\n"
)
WHOLE = (
    "int",
    "Optional[int]",
    "'int'",
    "int | None",
    "Union[int, List[int]]",
    "Optional[Union[int, Sequence[int]]]",
    "list[int] | int",
    "PositiveInt",
    "conint(ge=0)",
    "Literal[1, 2]",
    "Annotated[int, 'how many']",
)
OPEN = (
    "str",
    "Union[int, str]",
    "Any",
    "List[str]",
    "Other[int]",
    "Optional[Any]",
    "Literal[1, '1']",
    "'1 +'",
)


@pytest.mark.parametrize("note", WHOLE)
@pytest.mark.parametrize(("decorator", "base"), [("@dataclass", ""), ("", "(BaseModel)")])
def test_a_field_that_holds_numbers(note: str, decorator: str, base: str) -> None:
    text = FIELD.format(decorator, base, note)
    made = rewritten({"a.py": text}, rule("LIT101"))["a.py"]
    now = 'Trainer(accelerator="gpu" if config.gpus else "cpu", devices=config.gpus or 1)'
    assert made == text.replace("Trainer(gpus=config.gpus)", now)


@pytest.mark.parametrize("note", OPEN)
def test_a_field_that_may_hold_text(note: str) -> None:
    (finding,) = run_rules({"a.py": FIELD.format("@dataclass", "", note)}, rule("LIT101")).findings
    assert finding.fix == "unsafe"


@pytest.mark.parametrize(
    "more", ["config.gpus = input()\n", "setattr(config, input(), 'gpus')\n", "class int:\n    pass\n"], ids=str.split
)
def test_what_code_sets_or_calls_so_is_not_sure(more: str) -> None:
    (finding,) = run_rules({"a.py": FIELD.format("@dataclass", "", "int") + more}, rule("LIT101")).findings
    assert finding.fix == "unsafe"


def test_a_field_of_a_base_in_another_file_and_of_an_inner_class() -> None:
    base = "from typing import List, Union\n\n\nclass Devices:\n    gpus: Union[int, List[int]] = 0\n"
    text = (
        "from base import Devices\nfrom pytorch_lightning import Trainer\n\n\n"
        "class Part(Devices):\n    rate: float = 1\n\n\n"
        "class Settings:\n    trainer: Part\n\n\ndef run(config: Settings):\n    Trainer(gpus=config.trainer.gpus)\n"
    )
    made = rewritten({"a.py": text, "base.py": base}, rule("LIT101"))["a.py"]
    assert "devices=config.trainer.gpus or 1" in made
    own = text.replace("    rate: float = 1\n", "    gpus: str = '1'\n")
    (finding,) = run_rules({"a.py": own, "base.py": base}, rule("LIT101")).findings
    assert finding.fix == "unsafe"


@pytest.mark.parametrize(
    ("more", "level"),
    [
        ("if slow:\n    config.gpus = 0\n", "safe"),
        ("config.gpus = None\n", "safe"),
        ("config.gpus = '0'\n", "unsafe"),
        ("config.gpus = 0\nconfig.gpus = input()\n", "unsafe"),
        ("config.gpus += 1\n", "unsafe"),
        ("for config.gpus in given():\n    pass\n", "unsafe"),
    ],
)
def test_a_field_that_is_set_to_what_is_written_there(more: str, level: Fix) -> None:
    (finding,) = run_rules({"a.py": FIELD.format("@dataclass", "", "Optional[int]") + more}, rule("LIT101")).findings
    assert finding.fix == level


PARAMETER = f"{HEAD}import torch\n\n\ndef run(n: int, more):\n    BODY\n    Trainer(gpus=n)\n"


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ("n = int(torch.cuda.is_available()) if n == 0 else n", "safe"),
        ("n = n if more else 2", "safe"),
        ("if more:\n        n = torch.cuda.device_count()", "safe"),
        ("n = more", "unsafe"),
        ("n = '0' if more else n", "unsafe"),
        ("for n in more:\n        pass", "unsafe"),
        ("n += more", "unsafe"),
        ("n = 1\n    n, m = more", "unsafe"),
    ],
)
def test_a_parameter_that_gets_another_value_of_its_kind(body: str, level: Fix) -> None:
    (finding,) = run_rules({"a.py": PARAMETER.replace("BODY", body)}, rule("LIT101")).findings
    assert finding.fix == level


def test_an_option_of_click_that_gets_another_value_of_its_kind() -> None:
    text = (
        "import click\nimport torch\nfrom pytorch_lightning import Trainer\n\n\n"
        "@click.command()\n@click.option('--num-gpus', default=0)\ndef run(num_gpus):\n"
        "    num_gpus = int(torch.cuda.is_available()) if num_gpus == 0 else num_gpus\n    Trainer(gpus=num_gpus)\n"
    )
    (finding,) = run_rules({"a.py": text}, rule("LIT101")).findings
    assert finding.fix == "safe"


HELD = (
    HEAD + "class Runner:\n    def __init__(self, n: {}, more=None):\n        self.n = n\n        {}\n\n"
    "    def run(self):\n        Trainer(gpus=self.n)\n\n\n{}\n"
)


@pytest.mark.parametrize("note", ["int", "Optional[int]", "Union[int, List[int]]"])
@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("pass", ""),
        ("self.n = 2", ""),
        ("pass", "class Other:\n    def __init__(self, count: int):\n        self.n = count"),
        ("pass", "class Below(Runner):\n    pass"),
    ],
)
def test_an_attribute_that_holds_a_parameter_of_that_kind(note: str, line: str, more: str) -> None:
    text = HELD.format(note, line, more if note == "int" else "")
    if note == "Union[int, List[int]]":
        text = text.replace("self.n = 2", "pass")
    made = rewritten({"a.py": text}, rule("LIT101"))["a.py"]
    assert made == text.replace("gpus=self.n", 'accelerator="gpu" if self.n else "cpu", devices=self.n or 1')


@pytest.mark.parametrize(
    ("note", "line", "more"),
    [
        ("str", "pass", ""),
        ("Any", "pass", ""),
        ("int", "self.n = more", ""),
        ("int", "self.n = '1'", ""),
        ("int", "self.n += more", ""),
        ("int", "n = more", ""),
        ("int", "setattr(self, more, '1')", ""),
        ("int", "vars(self)[more] = '1'", ""),
        ("int", "pass", "class Other:\n    def __init__(self, n):\n        self.n = n"),
        ("int", "pass", "class Other:\n    def __init__(self, *n: int):\n        self.n = n"),
        ("int", "pass", "class Other:\n    def __init__(self, n: str):\n        self.n = n"),
        ("int", "pass", "def fill(runner):\n    runner.n = input()"),
        (
            "int",
            "pass",
            "class Below(Runner):\n    n = property(lambda self: '1', print)\n\n\nclass Beside(Runner):\n    pass",
        ),
        ("int", "pass", "class int:\n    pass"),
    ],
)
def test_an_attribute_that_may_hold_something_else(note: str, line: str, more: str) -> None:
    (finding,) = run_rules({"a.py": HELD.format(note, line, more)}, rule("LIT101")).findings
    assert finding.fix == "unsafe"
