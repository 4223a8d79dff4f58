"""Arguments that a Trainer of the project takes and hands on to Lightning's, which has them no more: where they ask for
nothing they go, else they are refused by name, as Trainer itself does."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import innermost
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_super_call
from codemods.lightning.arguments import rows
from codemods.lightning.kinds import is_stored
from codemods.lightning.parameters import default_of_parameter
from codemods.rewrite.keywords import is_commented
from codemods.rewrite.spelled import code_of
from codemods.rule import NodeEdit

if TYPE_CHECKING:
    import libcst as cst

REASON = "Where it has no effect, as by default, it is removed; otherwise an error names it, as Trainer's own does now"
ELSEWHERE: Mapping[str, tuple[tuple[object, ...], str]] = {
    "auto_select_gpus": ((None, False), "give devices=find_usable_cuda_devices(n)"),
    "distributed_backend": ((None,), "give strategy="),
    "ipus": ((None,), "Lightning 2.1 removed support for IPUs"),
    "num_processes": ((None, 1), "give accelerator='cpu' and devices="),
    "num_tpu_cores": ((None,), "give accelerator='tpu' and devices="),
    "track_grad_norm": ((-1,), "log grad_norm(self, norm_type=...) in on_before_optimizer_step"),
    "tpu_cores": ((None,), "give accelerator='tpu' and devices="),
}
"""What asks for nothing, and what to do else, of the arguments of which no row says both."""
LONG = 90


@dataclass(frozen=True)
class RefusedParameter:
    """A parameter of a constructor that is handed on, and the test that tells whether it asks for something."""

    function: ast.FunctionDef
    name: str
    test: str

    def edit(self, argument: str, advice: str) -> NodeEdit:
        """The constructor that refuses what asks for something."""
        told = _quoted(f"{argument} is not in Lightning 2: {advice}")
        text = f"\n        {told}\n    " if len(told) > LONG else told
        text = f"if {self.test}:\n    raise TypeError({text})\n"
        return NodeEdit(self.function, partial(_refusing, text=text))


def refused(file: PythonFile, call: CallNode, item: ast.keyword) -> RefusedParameter | None:
    """The parameter that a constructor hands on as an argument of `super().__init__(...)`; None where it is not the
    parameter as it came, where it asks for something by default, or where a comment stands beside it."""
    function = innermost(call.within, ast.FunctionDef)
    if function is None or function.name != "__init__" or not is_super_call(call.node, "__init__"):
        return None
    if not any(isinstance(each, ast.Expr) and each.value is call.node for each in function.body):
        return None
    value, nothing = item.value, asking_nothing(item.arg or "")
    if not isinstance(value, ast.Name) or is_stored(function, value.id) or not nothing:
        return None
    default = default_of_parameter(function.args, value.id)
    if (
        default is None
        or not asks_nothing(item.arg or "", default)
        or is_commented(file, call.node, item, beside=False)
    ):
        return None
    return RefusedParameter(function, value.id, _test(value.id, nothing))


def asks_nothing(argument: str, node: ast.expr) -> bool:
    """Whether a value of an argument is one with which it can be left out."""
    known, value = literal(node)
    return known and any(type(value) is type(each) and value == each for each in asking_nothing(argument))


def asking_nothing(argument: str) -> tuple[object, ...]:
    """The values with which an argument can be left out."""
    if argument in ELSEWHERE:
        return ELSEWHERE[argument][0]
    found = [row.value for row in rows().get(argument, ()) if row.action == "drop" and row.level == "safe"]
    return tuple(ast.literal_eval(text) for text in found if text not in ("*", "int", "str", "bool"))


def _test(name: str, nothing: tuple[object, ...]) -> str:
    if nothing == (None,):
        return f"{name} is not None"
    texts = [f'"{each}"' if isinstance(each, str) else repr(each) for each in nothing]
    return f"{name} != {texts[0]}" if len(texts) == 1 else f"{name} not in ({', '.join(texts)})"


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)


def _refusing(node: cst.FunctionDef, *, text: str) -> cst.FunctionDef:
    """The function with a refusal at its start, behind those that stand there."""
    import libcst as cst

    from codemods.rewrite.edits import after_docstring, body_of, statements, with_body

    body = body_of(node)
    index = after_docstring(body)
    while index < len(body) and isinstance(body[index], cst.If) and "is not in Lightning 2" in code_of(body[index]):
        index += 1
    return with_body(node, [*body[:index], *statements(text), *body[index:]])  # type: ignore[no-any-return]
