"""What to write for a metric that wants a task, where only its owner knows which."""

from __future__ import annotations

import ast

from codemods.code.source import PythonFile

ADVICE = 'write it with `task="multiclass", num_classes=...`, `task="binary"`, or `task="multilabel", num_labels=...`'
GONE = frozenset({
    "absent_score", "argmax_dim", "class_reduction", "compute_on_step", "is_multiclass", "mdmc_average", "mdmc_reduce",
    "multiclass", "multilabel", "pos_label", "reduce", "reduction", "return_state", "subset_accuracy",
})  # fmt: skip
"""The keywords that no metric with a task takes any more (run on 1.9), those of Lightning's own functions with them."""


def advice(file: PythonFile, call: ast.Call, function: bool) -> str:
    """The call as it is to be written, with what only its owner knows left open; in general where it cannot stay as it
    is besides: its first argument is the task now, that of a function the third, and some keywords were removed. One
    class alone was asked for of two (`utilities/checks.py` of torchmetrics 0.10.3 refuses all else)."""
    named = {item.arg for item in call.keywords}
    gone = sorted(name for name in named if name in GONE)
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    if gone or starred or len(call.args) > (2 if function else 0):
        without = f", without {', '.join(f'{name}=' for name in gone)}" if gone else ""
        return ADVICE + without + (", and its other arguments by name" if call.args and not function else "")
    two = any(item.arg == "num_classes" and ast.unparse(item.value) == "1" for item in call.keywords)
    task = 'task="multiclass"' if "num_classes" in named else 'task="multiclass", num_classes=...'
    rest = [
        f"{item.arg or '**'}{'=' if item.arg else ''}{file.source_of(item.value)}"
        for item in call.keywords
        if not (two and item.arg == "num_classes")
    ]
    given = ", ".join([*map(file.source_of, call.args), 'task="binary"' if two else task, *rest])
    written = f"{file.source_of(call.func)}({given})"
    return (
        f"write `{written}`"
        if two
        else f'write `{written}`, or `task="binary"`, or `task="multilabel", num_labels=...`'
    )
