"""AMP006: contexts between `and`."""

from __future__ import annotations

import pytest
import torch

from tests.codemods.support import rule, run_rules

HEAD = "import torch\nfrom torch.cuda.amp import autocast\n\n\ndef f(model, x):\n"


def run(line: str) -> tuple[list[str], str]:
    text = f"{HEAD}    with {line}:\n        return model(x)\n"
    made = run_rules({"a.py": text}, rule("AMP006"), unsafe=True)
    assert not made.bugs
    after = made.final().get("a.py", text.encode()).decode()
    return [item.fix for item in made.findings], after.removeprefix(f"{HEAD}    with ").partition(":\n")[0]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("torch.no_grad() and autocast()", "torch.no_grad(), autocast()"),
        ("autocast(enabled=False) and torch.no_grad()", "autocast(enabled=False), torch.no_grad()"),
        (
            'torch.no_grad() and torch.inference_mode() and torch.autocast("cpu")',
            'torch.no_grad(), torch.inference_mode(), torch.autocast("cpu")',
        ),
        ("(torch.no_grad()) and (autocast())", "(torch.no_grad()), (autocast())"),
        ("(torch.no_grad()\n          and\n          autocast())", "(torch.no_grad(),\n          autocast())"),
        ("open(x) as f, torch.no_grad() and autocast()", "open(x) as f, torch.no_grad(), autocast()"),
    ],
)
def test_all_are_entered(line: str, after: str) -> None:
    assert run(line) == (["unsafe"], after)


def test_or_is_left_to_a_person() -> None:
    assert run("torch.no_grad() or autocast()") == (["manual"], "torch.no_grad() or autocast()")


@pytest.mark.parametrize("line", ["(torch.no_grad() and autocast()) as x", "(torch.no_grad() and autocast()), open(x)"])
def test_in_brackets_beside_others_a_comma_makes_a_tuple(line: str) -> None:
    assert run(line) == (["manual"], line)


@pytest.mark.parametrize(
    "line",
    [
        "torch.no_grad(), autocast()",
        "x and torch.no_grad()",
        "torch.no_grad() if x and model else autocast()",
        "torch.set_grad_enabled(x and model)",
        "context() and torch.no_grad()",
    ],
)
def test_what_may_be_meant_stays(line: str) -> None:
    assert run(line) == ([], line)


def test_what_python_makes_of_it() -> None:
    with torch.no_grad() and torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.is_grad_enabled() and torch.is_autocast_enabled("cpu")
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert not torch.is_grad_enabled() and torch.is_autocast_enabled("cpu")
