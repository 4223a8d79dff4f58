"""Hooks that cannot be called with what Lightning gives them, where no other rule says how they came to that."""

from __future__ import annotations

import ast

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, parameters
from codemods.lightning.facts import CALLBACK, MODULE
from codemods.rule import Match

_BOTH = ("trainer", "pl_module")
_PAIRS = ("start", "end")
_STAGES = ("train", "validation", "test", "predict")
OF_CALLBACKS: dict[str, tuple[str, ...]] = {
    **{f"on_{stage}_{point}": _BOTH for stage in (*_STAGES, "fit", "sanity_check") for point in _PAIRS},
    **{f"on_{stage}_epoch_{point}": _BOTH for stage in _STAGES for point in _PAIRS},
    "on_exception": (*_BOTH, "exception"),
    "on_save_checkpoint": (*_BOTH, "checkpoint"),
    "on_load_checkpoint": (*_BOTH, "checkpoint"),
    "on_before_backward": (*_BOTH, "loss"),
    "on_after_backward": _BOTH,
    "on_before_optimizer_step": (*_BOTH, "optimizer"),
    "on_before_zero_grad": (*_BOTH, "optimizer"),
}
OF_MODULES: dict[str, tuple[str, ...]] = {
    "on_before_backward": ("loss",),
    "on_before_zero_grad": ("optimizer",),
    "on_save_checkpoint": ("checkpoint",),
    "on_load_checkpoint": ("checkpoint",),
}
"""What the hooks are given since 2.0, by position; the tests compare with the newest release."""
GIVEN = {CALLBACK: OF_CALLBACKS, MODULE: OF_MODULES}
NAMES = tuple(sorted({*OF_CALLBACKS, *OF_MODULES}))


def unfit(file: PythonFile, item: ClassNode, kind: str, name: str) -> Match | None:
    """The match of a hook that takes more, or fewer, arguments than it is given."""
    method, given = item.methods[name], GIVEN.get(kind, {}).get(name)
    decorators = [item.scope.resolve(node) or "" for node in method.decorator_list]
    if given is None or not all(each.endswith(".rank_zero_only") for each in decorators):
        return None
    taken = parameters(method)
    wanted = taken[: len(taken) - len(method.args.defaults)]
    more, keywords = wanted[len(given) :], zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
    more = [*more, *(argument.arg for argument, default in keywords if default is None)]
    fewer = given[len(taken) :] if method.args.vararg is None else ()
    if not more and not fewer:
        return None
    shown = ", ".join(f"`{each}`" for each in more or fewer)
    if more:
        message, then = f"{name} requires {shown}, which Lightning does not give it", ", and read the rest elsewhere"
    else:
        message, then = f"{name} is given {shown} by Lightning, and does not take it", ""
    reason = f"Not rewritten: the call fails. Write `{_head(method, given)}`{then}."
    return Match(file.head(method), message, "manual", reason)


def _head(method: Function, given: tuple[str, ...]) -> str:
    start = "async def" if isinstance(method, ast.AsyncFunctionDef) else "def"
    return f"{start} {method.name}({', '.join(('self', *given))})"
