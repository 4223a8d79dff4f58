"""Which files of a tree define what its modules are trained on: datamodules and datasets, the nearest first."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import PurePosixPath

from verify.reading.names import in_tests
from verify.reading.sources import Sources

FILES = 4


def nearest(sources: Sources, path: str) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The files near `path` with the classes that may be datamodules, and those that may be datasets: first itself,
    what it loads and what loads it, then the rest by the folders between."""
    reached = sources.reach(path)[0]
    found = []
    for other in sources.paths():
        tree = sources.tree(other)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.bases] if tree else []
        modules = tuple(node.name for node in classes if _is_module(node))
        sets = tuple(node.name for node in classes if node.name not in modules and _is_set(node))
        if (modules or sets) and not in_tests(other):
            near = other == path or other in reached or path in sources.reach(other)[0]
            found.append((other != path, not near, between(path, other), other, modules, sets))
    for *_, other, modules, sets in sorted(found)[:FILES]:
        yield other, modules, sets


def _methods(node: ast.ClassDef) -> set[str]:
    return {each.name for each in node.body if isinstance(each, ast.FunctionDef)}


def _is_module(node: ast.ClassDef) -> bool:
    return "training_step" not in _methods(node) and (
        "train_dataloader" in _methods(node) or any(ast.unparse(base).endswith("DataModule") for base in node.bases)
    )


def _is_set(node: ast.ClassDef) -> bool:
    return bool({"__getitem__", "__iter__"} & _methods(node)) and not {"forward", "training_step"} & _methods(node)


def between(one: str, other: str) -> int:
    first, second = PurePosixPath(one).parent.parts, PurePosixPath(other).parent.parts
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    return len(first) + len(second) - 2 * shared
