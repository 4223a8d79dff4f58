"""A value that may be one of several constants is repaired no more surely than the least sure of them."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\n\n\n"
ONE = (
    "def build(fast):\n    amp = {}\n    if fast:\n        amp = {}\n"
    "    return pl.Trainer(precision=16, amp_backend=amp)\n"
)


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [
        ("None", "'native'", "safe"),
        ("'native'", "'apex'", "unsafe"),
        ("'apex'", "'native'", "unsafe"),
        ("None", "'apex'", "unsafe"),
        ("'apex'", "None", "unsafe"),
    ],
)
def test_the_least_sure_value_says_how_sure_a_repair_is(first: str, second: str, level: str) -> None:
    files = {"train.py": HEAD + ONE.format(first, second)}
    (found,) = run_rules(files, rule("LIT110"), unsafe=True).findings
    assert (found.fix, "Apex was removed" in found.reason) == (level, level == "unsafe")
    assert "amp_backend" not in rewritten(files, rule("LIT110"), unsafe=True)["train.py"]
    assert run_rules(files, rule("LIT110")).changes == () or level == "safe"


def test_a_value_that_may_be_is_not_told_as_one_that_is() -> None:
    config = "from dataclasses import dataclass\n\n\n@dataclass\nclass Config:\n    how: str = 'dp'\n"
    build = "from config import Config\n\n\ndef build(config: Config):\n    return pl.Trainer(accelerator=config.how)\n"
    (found,) = run_rules({"config.py": config, "train.py": HEAD + build}, rule("LIT111")).findings
    assert found.fix == "manual" and found.reason.startswith(
        "Not rewritten: it may be 'dp' (config.py:6), or something"
    )
    assert "DataParallel was removed in 2.0" in found.reason
