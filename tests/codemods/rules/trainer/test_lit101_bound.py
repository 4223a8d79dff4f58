"""LIT101: `gpus=` beside an `accelerator=` by a variable that is bound on several ways."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

TEXT = """\
from pytorch_lightning import Trainer


def build(n: int, quick, how_else=None):
    {bound}
    return Trainer(gpus=n, accelerator=how)
"""
CHOSEN = "if n > 1:\n        how = 'ddp'\n    else:\n        how = None"


def made(strategy: str) -> str:
    return f'devices=n or 1, strategy={strategy}, accelerator="gpu" if n else "cpu"'


@pytest.mark.parametrize(
    ("bound", "strategy"),
    [
        (CHOSEN, 'how or "auto"'),
        ("how = None\n    if n > 1:\n        how = 'ddp'", 'how or "auto"'),
        (
            "if n > 1:\n        how, rest = 'ddp', 1\n    else:\n        how, rest = None, 2\n    print(rest)",
            'how or "auto"',
        ),
        ("if quick:\n        how = 'ddp_spawn'\n    else:\n        how = 'ddp'", "how"),
        ("how = 'ddp'\n    if quick:\n        how = 'ddp_spawn'", "how"),
        ("how = None\n    how = 'ddp'", "how"),
    ],
)
def test_all_that_a_variable_may_be_names_a_strategy(bound: str, strategy: str) -> None:
    text = TEXT.format(bound=bound)
    assert rewritten({"a.py": text}, rule("LIT101"))["a.py"] == text.replace("gpus=n, accelerator=how", made(strategy))


@pytest.mark.parametrize(
    "bound",
    [
        CHOSEN.replace("None", "'tpu'"),
        CHOSEN.replace("None", "'horovod'"),
        CHOSEN.replace("None", "'ddp_cpu'"),
        CHOSEN.replace("None", "quick"),
        CHOSEN.replace("None", "how_else"),
        CHOSEN.replace("'ddp'", "''"),
        f"{CHOSEN}\n    for how in quick:\n        pass",
        f"{CHOSEN}\n    with quick as how:\n        pass",
        f"global how\n    {CHOSEN}",
        "how = 'ddp'\n    if quick:\n        how = f'{how}_spawn'",
        "how = ['ddp'][0] if n else quick",
    ],
)
def test_what_a_variable_may_be_besides_stays(bound: str) -> None:
    assert refusals({"a.py": TEXT.format(bound=bound)}, "LIT101", unsafe=True)


def test_what_callers_give_is_not_taken_for_all() -> None:
    text = TEXT.format(bound="pass").replace("n: int, quick", "n: int, how").replace("how_else", "other")
    assert refusals({"a.py": f"{text}\n\nbuild(2, 'ddp')\nbuild(1, None)\n"}, "LIT101")


def test_a_variable_of_the_module_that_another_file_binds_stays() -> None:
    build = "def build():\n    return Trainer(gpus=2, accelerator=how)\n"
    text = f"from pytorch_lightning import Trainer\n\nhow = 'ddp'\n\n\n{build}"
    assert "strategy=how" in rewritten({"a.py": text}, rule("LIT101"))["a.py"]
    assert refusals({"a.py": text, "b.py": "import a\n\na.how = 'dp'\n"}, "LIT101")
