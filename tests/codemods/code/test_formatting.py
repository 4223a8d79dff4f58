"""F-strings whose values hold what no release of Python before 3.12 can spell there."""

from __future__ import annotations

import ast

import pytest

from codemods.code.formatting import formatted, is_unspellable
from tests.codemods.normal_forms import must_do_the_same, shown
from tests.codemods.support import run_rules

RED = r"""RED = "\033[91m"
"""
NAMES = {"a": 3.14159, "b": "{x}", "w": 7}


def _joined(text: str) -> ast.JoinedStr:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.JoinedStr)
    return node


@pytest.mark.parametrize(
    "text",
    [
        "f'{a}'",
        "f'{{{a}}} {{}}'",
        "f'{a:.2f}|{a:>{w}.2f}|{b:{w}}'",
        "f'{b!r}{b!s:>9}{b!a:<{w}}'",
        "f'{a}{b}{a + 1}\\n'",
        "f'{a=}'",
        "f'{b if w else a}{[b for _ in range(2)]}'",
        "f'{(lambda: b)()}{{'",
    ],
)
def test_format_gives_what_the_f_string_gives(text: str) -> None:
    call = ast.fix_missing_locations(ast.Expression(formatted(_joined(text))))
    assert eval(compile(call, "<call>", "eval"), dict(NAMES)) == eval(text, dict(NAMES))


@pytest.mark.parametrize("value", [r"'\\'", r"'\033'", r"'\r'", r"b'\n'", "'\"' \"'\"", r"'\u200b'"])
def test_what_cannot_be_spelled(value: str) -> None:
    held = ast.parse(value, mode="eval").body
    assert is_unspellable(ast.JoinedStr([ast.FormattedValue(held, -1, None)]))
    assert not is_unspellable(ast.JoinedStr([held]))


@pytest.mark.parametrize("value", [r"'\n'", r"'\t'", "'a'", "b'a'", "'\"'", "1"])
def test_what_can_be_spelled(value: str) -> None:
    assert not is_unspellable(ast.JoinedStr([ast.FormattedValue(ast.parse(value, mode="eval").body, -1, None)]))


@pytest.mark.parametrize(
    "inside",
    ["f'{RED}loss {x}'", "f'{RED.join(x)}'", "f'{RED!r:>20}{x}'", "f'{x:{len(RED)}}'", "f'{f\"{RED}{x}\"}'"],
)
def test_a_constant_with_a_backslash_in_an_f_string(inside: str) -> None:
    program = f"{RED}def f(x):\n    give({inside})\n    return {inside}\ngive(f('ab'))\n"
    must_do_the_same(program)
    assert "RED" not in shown(program).partition("def f")[2]


@pytest.mark.parametrize("inside", ["f'{RED}loss {batch}'", "f'{RED.join(batch)}'"])
def test_no_rule_is_blind_where_colours_are_printed(inside: str) -> None:
    text = f"""from pytorch_lightning import LightningModule
{RED}
class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        self.manual_backward(self(batch))
        optimizer.step()
        print({inside})
        return {inside}
"""
    made = run_rules({"train.py": text})
    assert [found.code for found in made.findings if "could not check" in found.message] == []
    assert "TBP104" in {found.code for found in made.findings}
