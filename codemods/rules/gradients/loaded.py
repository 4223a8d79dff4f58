"""Models that a file loads from a checkpoint and uses by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import targets_of

LOADS = "load_from_checkpoint"
FILLS = "load_state_dict"
IDLE = frozenset({
    FILLS, "apply", "children", "cpu", "cuda", "double", "float", "half", "modules", "named_parameters", "parameters",
    "predict_dataloader", "prepare_data", "requires_grad_", "save_hyperparameters", "setup", "state_dict",
    "test_dataloader", "to", "to_onnx", "to_torchscript", "train", "train_dataloader", "val_dataloader",
})  # fmt: skip
"""Methods of a module that do not run it, or run it in evaluation mode."""


def uses_what_it_loads(file: PythonFile | None) -> bool:
    """Whether a file calls a model that it loads, or a method of it that may run it."""
    if file is None:
        return True
    loaded = frozenset(_loaded(file))
    return any(_runs(call.node.func, loaded) for call in file.calls)


def _loaded(file: PythonFile) -> Iterator[str]:
    """What the models that a file loads are spelled like."""
    for call in file.calls_near([FILLS]):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr == FILLS and isinstance(function.value, ast.Name):
            yield from () if function.value.id in ("self", "cls") else (function.value.id,)
    for node in walk(file.tree):
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is not None and any(map(_loads, walk(value))):
            yield from (ast.unparse(target) for target in targets_of(node))


def _loads(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == LOADS


def _runs(function: ast.expr, loaded: frozenset[str]) -> bool:
    if isinstance(function, ast.Attribute):
        of_it = _loads(function.value) or ast.unparse(function.value) in loaded
        return of_it and function.attr not in IDLE
    return _loads(function) or ast.unparse(function) in loaded
