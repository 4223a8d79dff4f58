"""LIT240: nothing in the newest release reads the variables, and what the rule leaves alone."""

from __future__ import annotations

from pathlib import Path

import lightning
import pytest

from codemods.rules.variables.lit240 import VARIABLES
from tests.codemods.support import refusals, rewritten, rule, run_rules


def test_the_newest_release_reads_none_of_them() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(lightning.__file__).parent.rglob("*.py")]
    assert len(texts) > 200
    assert [name for name in VARIABLES if any(name in text for text in texts)] == []


@pytest.mark.parametrize(
    "text",
    ['import os\n\nos.environ["PL_GLOBAL_SEED"] = "1"\n', '"""PL_INTER_BATCH_PARALLELISM is explained here."""\n'],
)
def test_left_alone(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT240"))
    assert made.findings == () and made.changes == ()


def test_the_only_statement_of_a_block_leaves_a_pass() -> None:
    text = 'import os\n\nif fast:\n    os.environ["PL_INTER_BATCH_PARALLELISM"] = "1"\n'
    assert rewritten({"a.py": text}, rule("LIT240"))["a.py"] == "if fast:\n    pass\n"


def test_statements_that_are_all_of_a_block_leave_one_pass() -> None:
    gone = [f'    os.environ["{name}"] = "1"\n' for name, variable in VARIABLES.items() if not variable.advice]
    text = "import os\n\nif fast:\n" + gone[0] * 2
    assert rewritten({"a.py": text}, rule("LIT240"))["a.py"] == "if fast:\n    pass\n"


def test_what_had_an_effect_is_a_finding() -> None:
    [reason] = refusals({"a.py": 'import os\n\nos.environ["PL_TORCH_DISTRIBUTED_BACKEND"] = "gloo"\n'}, "LIT240")
    assert "process_group_backend" in reason
