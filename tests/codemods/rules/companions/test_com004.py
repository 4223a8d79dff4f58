from __future__ import annotations

import pytest

from codemods.rules.companions.com004 import MESSAGE, RULE
from tests.codemods.support import run_rules

CALL = "optimizer = AdamW(parameters, lr=1e-3)\n"


def found(text: str, pins: tuple[str, ...] = (), more: dict[str, str] | None = None) -> list[tuple[int, str]]:
    """The places that are named and left as they are, with the reasons."""
    made = run_rules({"train.py": text, **(more or {})}, RULE, unsafe=True, pins=pins)
    assert made.bugs == () and not made.final()
    assert all(finding.message == MESSAGE and finding.fix == "manual" for finding in made.findings)
    return [(finding.span.line, finding.reason) for finding in made.findings]


def rewritten(text: str, fix: str = "unsafe") -> str:
    made = run_rules({"train.py": text}, RULE, unsafe=fix == "unsafe")
    assert made.bugs == () and {finding.fix for finding in made.findings} == {fix}
    return made.final()["train.py"].decode()


@pytest.mark.parametrize(
    ("head", "call", "after"),
    [
        ("from transformers import AdamW, AutoModel\n", "AdamW", "from transformers import AutoModel\n"),
        (
            "from transformers import (\n    AdamW,\n    AutoModel\n)\n",
            "AdamW",
            "from transformers import (\n    AutoModel\n)\n",
        ),
        ("import transformers\n", "transformers.AdamW", "import transformers\n"),
        ("import transformers.optimization as to\n", "to.AdamW", "import transformers.optimization as to\n"),
        (
            "from transformers.optimization import AdamW, Adafactor\nfrom transformers import AdamW, AutoModel\n",
            "AdamW",
            "from transformers.optimization import Adafactor\nfrom transformers import AutoModel\n",
        ),
    ],
)
def test_a_call_becomes_one_of_torchs_with_the_defaults_spelled_out(head: str, call: str, after: str) -> None:
    new = rewritten(f"{head}\noptimizer = {call}(parameters, lr=1e-3, correct_bias=True)\n")
    assert (
        new
        == f"{after}import torch\n\noptimizer = torch.optim.AdamW(parameters, lr=1e-3, eps=1e-6, weight_decay=0.0)\n"
    )


def test_each_call_by_the_module_is_rewritten_once() -> None:
    new = rewritten("import torch\nimport transformers\n\ntransformers.AdamW(some)\ntransformers.AdamW(others)\n")
    assert new.count("eps=1e-6") == new.count("torch.optim.AdamW(") == 2 and "transformers.AdamW" not in new


def test_a_line_that_imports_nothing_else_goes() -> None:
    new = rewritten(f"import torch\nfrom transformers import AdamW\n\n{CALL}{CALL}")
    assert new.startswith("import torch\n\noptimizer") and new.count("torch.optim.AdamW(parameters, lr=1e-3, eps=") == 2


def test_what_is_given_is_not_spelled_out() -> None:
    new = rewritten("from transformers import AdamW, AutoModel\nAdamW(parameters, 1e-3, (0.9, 0.99), 1e-7, 0.1)\n")
    assert "torch.optim.AdamW(parameters, 1e-3, (0.9, 0.99), 1e-7, 0.1)" in new


def test_an_import_that_nothing_uses_goes_safely() -> None:
    assert rewritten("from transformers import AdamW, AutoModel\nprint(AutoModel)\n", "safe") == (
        "from transformers import AutoModel\nprint(AutoModel)\n"
    )


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
    assert f"In line {line} remove correct_bias, which torch does not take: it always corrects the bias." in reason
    assert f"`from torch.optim import AdamW{'' if call == 'AdamW' else f' as {call}'}`" in reason


def test_two_imports_of_one_name_are_both_told_what_its_calls_need() -> None:
    head = "from transformers.optimization import AdamW\nfrom transformers import AdamW\n"
    reasons = found(f"{head}AdamW(parameters, correct_bias=False)\n")
    assert [line for line, _ in reasons] == [1, 2]
    assert all("In line 3 remove correct_bias" in reason for _, reason in reasons)


@pytest.mark.parametrize(
    "text",
    [
        "from transformers import AdamW\nAdamW(parameters, **given)\n",
        "from transformers import AdamW\nAdamW(*given)\n",
        "from transformers import AdamW\nAdamW(parameters, 1e-3, (0.9, 0.99), 1e-6, 0.0, False)\n",
        f"from transformers import AdamW\n{CALL}AdamW(parameters, correct_bias=given)\n",
        f"from transformers import AdamW\n{CALL}MODES = {{'adamw': AdamW}}\n",
        f"from transformers import AdamW\n{CALL}print(isinstance(optimizer, AdamW))\n",
        "from transformers import AdamW\nclass Own(AdamW):\n    pass\n",
        "import transformers\nMODES = {'adamw': transformers.AdamW}\n",
        "def build(parameters):\n    from transformers import AdamW\n    return AdamW(parameters, lr=1e-3)\n",
        f"if cond:\n    from transformers import AdamW\n{CALL}",
        f"from transformers import AdamW\n__all__ = ['AdamW']\n{CALL}",
        f"from transformers import AdamW\n{CALL}optimizer = globals()['AdamW']\n",
    ],
)
def test_another_use_of_it_leaves_all_to_a_person(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize(
    "other", ["from train import AdamW\n", "from train import *\nAdamW(parameters)\n", "import train\ntrain.AdamW\n"]
)
def test_what_another_file_may_take_from_it_stays(other: str) -> None:
    assert [line for line, _ in found(f"from transformers import AdamW\n{CALL}", more={"other.py": other})] == [1]
    assert found("from transformers import AdamW\n", more={"other.py": other})


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
    assert len(found("from transformers import AdamW\nprint(AdamW)\n", (pin,))) == named
