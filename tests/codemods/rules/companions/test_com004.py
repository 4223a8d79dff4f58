from __future__ import annotations

import pytest

from codemods.rules.companions.com004 import MESSAGE, RULE
from tests.codemods.support import run_rules


def found(text: str, pins: tuple[str, ...] = ()) -> list[tuple[int, str]]:
    made = run_rules({"train.py": text}, RULE, pins=pins)
    assert made.bugs == () and not made.final()
    assert all(finding.message == MESSAGE and finding.fix == "manual" for finding in made.findings)
    return [(finding.span.line, finding.reason) for finding in made.findings]


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("from transformers import AdamW", "AdamW"),
        ("from transformers.optimization import AdamW as Adam", "Adam"),
        ("from transformers import (\n    AdamW, AutoModel\n)", "AdamW"),
    ],
)
def test_an_import_of_it_is_named_with_what_its_calls_need(head: str, call: str) -> None:
    ((_, reason),) = found(f"{head}\noptimizer = {call}(parameters, lr=1e-3, correct_bias=False)\n")
    line = head.count("\n") + 2
    assert f"In line {line} add eps=1e-6 and weight_decay=0.0" in reason
    assert f"In line {line} remove correct_bias" in reason
    assert f"`from torch.optim import AdamW{'' if call == 'AdamW' else f' as {call}'}`" in reason


def test_what_is_given_is_not_asked_for() -> None:
    ((_, reason),) = found("from transformers import AdamW\nAdamW(parameters, 1e-3, (0.9, 0.99), 1e-6, 0.1)\n")
    assert "line 2" not in reason
    ((_, reason),) = found("from transformers import AdamW\nAdamW(parameters, **given)\n")
    assert "In line 2 add eps=1e-6" in reason


def test_the_class_by_its_module_is_named_where_it_is_read() -> None:
    text = "import transformers\n\nprint(transformers.AdamW)\nprint(transformers.optimization.AdamW)\n"
    assert [line for line, _ in found(text)] == [3, 4]


@pytest.mark.parametrize(
    "wrapped", ["    from transformers import AdamW", "    import transformers\n    transformers.AdamW"]
)
def test_a_handler_without_another_class_changes_nothing(wrapped: str) -> None:
    assert found(f"try:\n{wrapped}\nexcept ImportError as error:\n    raise SystemExit from error\n")


@pytest.mark.parametrize(
    "text",
    [
        "from torch.optim import AdamW\nAdamW(parameters)\n",
        "from transformers import AdamWeightDecay, Adafactor\n",
        "from .transformers import AdamW\n",
        "from transformers_own import AdamW\n",
        "try:\n    from transformers import AdamW\nexcept ImportError:\n    from torch.optim import AdamW\n",
        "import torch\ntry:\n    from transformers import AdamW\nexcept ImportError:\n    AdamW = torch.optim.AdamW\n",
    ],
)
def test_other_classes_of_that_name_are_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("pin", "named"), [("transformers<4.50", 0), ("transformers==4.30.2", 0), ("transformers>=4.6", 1)]
)
def test_pins_that_admit_no_release_without_it_are_believed(pin: str, named: int) -> None:
    assert len(found("from transformers import AdamW\n", (pin,))) == named
