"""Parameters that a project keeps from gradients itself: that none reaches them is no flaw of what was rewritten."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from verify.judging.record import RunRecord
from verify.reading.names import last_name
from verify.reading.sources import Sources

_OFF = ("no_grad", "inference_mode")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def without_own_cuts(old: RunRecord | None, new: RunRecord, before: Sources, after: Sources) -> RunRecord:
    """A run of the tree `after`, in which no parameter counts as unreached that is used within `no_grad()` alone, by a
    training step of which nothing was changed on the way there. Where the tree before trained, that tells it."""
    if old is not None and old.recording.fitted:
        return new
    known = {lines: _is_own(lines, before, after) for each in new.through.values() for lines in each}
    own = {name for name, each in new.through.items() if each and all(known[lines] for lines in each)}
    left = tuple(name for name in new.recording.unreached if name not in own)
    return replace(new, recording=replace(new.recording, unreached=left))


def _is_own(lines: Sequence[str], before: Sources, after: Sources) -> bool:
    """Whether the lines lead from a training step into a `with` or a function that switches gradients off, through
    functions which the tree before has too, and with its optimizers."""
    is_off, name, optimizers = False, "", False
    for place in lines:
        path, _, line = place.rpartition(":")
        new, old = after.tree(path), before.tree(path)
        if new is None or old is None or not line.isdecimal():
            return False
        function = next((one for one in reversed(list(_functions(new))) if _holds(one, int(line))), None)
        if function is None or ast.dump(function) not in _named(old, function.name):
            return False
        is_off, name = is_off or _switches_off(function, int(line)), function.name
        optimizers = _named(new, "configure_optimizers") == _named(old, "configure_optimizers")
    return is_off and name == "training_step" and optimizers


def _functions(tree: ast.AST) -> Iterator[_Function]:
    """The functions of a file, those within others behind them."""
    return (node for node in ast.walk(tree) if isinstance(node, _Function))


def _named(tree: ast.AST, name: str) -> set[str]:
    return {ast.dump(function) for function in _functions(tree) if function.name == name}


def _switches_off(function: _Function, line: int) -> bool:
    blocks = (node for node in ast.walk(function) if isinstance(node, ast.With) and _holds(node, line))
    given = [item.context_expr for block in blocks for item in block.items]
    return any(map(_is_off, (*function.decorator_list, *given)))


def _is_off(node: ast.expr) -> bool:
    """`torch.no_grad()`, or without its brackets as a decorator."""
    if isinstance(node, ast.Call):
        return not node.args and not node.keywords and _is_off(node.func)
    return last_name(node) in _OFF


def _holds(node: ast.With | _Function, line: int) -> bool:
    return node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
