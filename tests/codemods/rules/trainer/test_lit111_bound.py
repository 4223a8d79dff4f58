"""LIT111: `distributed_backend=` by a variable that is bound on several ways."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

TEXT = """\
from pytorch_lightning import Trainer


def build(n, how_else=None):
    {bound}
    return Trainer(distributed_backend=how)
"""
CHOSEN = "if n > 1:\n        how = 'ddp'\n    else:\n        how = None"


@pytest.mark.parametrize(
    ("bound", "strategy"),
    [
        (CHOSEN, 'how or "auto"'),
        ("how = None\n    if n > 1:\n        how = 'ddp'", 'how or "auto"'),
        ("how = 'ddp'\n    if n > 1:\n        how = 'ddp_spawn'", "how"),
        ("how = 'ddp' if n else None", 'how or "auto"'),
    ],
)
def test_all_that_a_variable_may_be_is_known(bound: str, strategy: str) -> None:
    text = TEXT.format(bound=bound)
    made = rewritten({"a.py": text}, rule("LIT111"))["a.py"]
    assert made == text.replace("distributed_backend=how", f"strategy={strategy}")


@pytest.mark.parametrize(
    "bound",
    [CHOSEN.replace("None", "n"), CHOSEN.replace("None", "how_else"), f"{CHOSEN}\n    for how in n:\n        pass"],
)
def test_what_it_may_be_besides_is_assumed_to_be_a_strategy(bound: str) -> None:
    made = run_rules({"a.py": TEXT.format(bound=bound)}, rule("LIT111"), unsafe=True)
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert b'strategy=how or "auto"' in made.final()["a.py"]


@pytest.mark.parametrize("gone", ["horovod", "ddp_cpu", "ddp2"])
def test_a_name_among_them_that_strategy_does_not_take_stays(gone: str) -> None:
    text = TEXT.format(bound=f"how = None\n    if n > 1:\n        how = '{gone}'\n    if n > 9:\n        how = 'ddp'")
    (why,) = refusals({"a.py": text}, "LIT111", unsafe=True)
    assert f'it may be "{gone}"' in why
