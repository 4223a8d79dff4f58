"""The projects of the table with arrays that lie in no repository in place of the numbers that they make themselves."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping

_NAME = re.compile(r"data/lent/(\d+)-([\dx]+)\.npy")


def lent(files: Mapping[str, str]) -> dict[str, str]:
    """The files with each tensor of numbers that a TensorDataset is made of loaded from a file."""
    return {name: _loading(text) if name.endswith(".py") else text for name, text in files.items()}


def plan(files: Mapping[str, str]) -> list[str]:
    """The entries of what these files load, as the harness is told them."""
    found = {match[0]: match for text in files.values() for match in _NAME.finditer(text)}
    return [
        json.dumps({"path": path, "kind": "file", "suffix": ".npy", "seed": int(match[1]),
                    "shape": [int(side) for side in match[2].split("x")]})
        for path, match in sorted(found.items())
    ]  # fmt: skip


def _loading(text: str) -> str:
    lines = text.splitlines(keepends=True)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text  # one of the mistakes
    for number, call in sorted(_made(tree), key=lambda one: (one[1].lineno, one[1].col_offset), reverse=True):
        shape = "x".join(str(ast.literal_eval(side)) for side in call.args)
        told = f'torch.from_numpy(__import__("numpy").load("data/lent/{number}-{shape}.npy"))'
        line = lines[call.lineno - 1]
        lines[call.lineno - 1] = line[: call.col_offset] + told + line[call.end_col_offset :]
    return "".join(lines)


def _made(tree: ast.Module) -> Iterator[tuple[int, ast.Call]]:
    """The calls of `torch.rand` and `torch.randn` in one line that a TensorDataset gets, with their places in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("TensorDataset"):
            for number, call in enumerate(node.args):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in ("torch.rand", "torch.randn"):
                    sides = [type(getattr(side, "value", None)) is int for side in call.args]
                    if all(sides) and not call.keywords and call.lineno == call.end_lineno:
                        yield number, call
