"""Comments and docstrings speak for nothing that a class does."""

from __future__ import annotations

import ast

import pytest

from codemods.code.said_by_code import code_of
from codemods.code.source import PythonFile, Source
from tests.codemods.support import rule, run_rules

TEXT = '''\
class A:
    """It steps: optimizer.step()."""

    def f(self):
        # self.optimizer.step()
        "optimizer.step()"
        self.g("step")  # then step()

    def h(self):
        """Nothing."""
'''
CODE = """\
class A:

    def f(self):
        self.g('step')

    def h(self):
        pass"""


def test_only_code_is_said() -> None:
    file = PythonFile.parse(Source("a.py", "python", TEXT.encode()))
    (node,) = file.tree.body
    assert isinstance(node, ast.ClassDef)
    assert code_of(file, node) == CODE == code_of(file, node)
    assert ast.get_docstring(node) == "It steps: optimizer.step()."


SAID = {
    "TBP105": "optimizer.step()",
    "TBP110": "torch.clear_autocast_cache()",
    "TBP111": "self.state.detach_()",
    "BWD007": "with self.trainer.model.no_sync():",
}


@pytest.mark.parametrize("form", ["# {}", '"""{}"""'])
@pytest.mark.parametrize("code", SAID)
def test_what_is_commented_out_silences_no_rule(code: str, form: str) -> None:
    example = rule(code).examples[0]
    head, step, rest = example.before.partition("    def training_step(self, batch, batch_idx):\n")
    text = f"{head}{step}        {form.format(SAID[code])}\n{rest}"
    alone, more = (
        run_rules({example.path: each}, rule(code), pins=example.pins).findings for each in (example.before, text)
    )
    assert step and [item.message for item in more] == [item.message for item in alone] != []
