"""COM010: modules of numpy.lib that NumPy 2 took out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.versions import admits_from
from codemods.rule import Example, Match, Rule, TextEdit

SINCE = "2.0"
_LINES = Path(__file__).with_name("numpy_lib_names.txt").read_text(encoding="ascii").splitlines()
MODULES: Mapping[str, frozenset[str]] = {words[0]: frozenset(words[1:]) for line in _LINES if (words := line.split())}
"""The modules that are gone, with the names that are `numpy.<name>` as well: in NumPy 1.26 the same object, and there
in 2 still (listed by running both)."""
SAME = "`numpy` itself has it by that name: the same object in NumPy 1.26, and still there in NumPy 2."
OTHERWISE = "Not rewritten: `numpy` itself has no {}. Keep NumPy 1 by `numpy<2` in the requirements, or do without it."
WHOLE = "Not rewritten: ask numpy itself for what is used of it, as in `numpy.average`."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not admits_from(facts, ("numpy",), SINCE):
        return
    for node in file.imports:
        if isinstance(node, ast.ImportFrom) and node.module and node.module in MODULES and not node.level:
            yield _from_gone(file, node, node.module)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in MODULES:
                    yield Match(file.span(node), _message(alias.name), "manual", WHOLE)


def _message(module: str) -> str:
    return f"the module `{module}` was removed in NumPy {SINCE}"


def _from_gone(file: PythonFile, node: ast.ImportFrom, module: str) -> Match:
    unknown = [alias.name for alias in node.names if alias.name not in MODULES[module]]
    start = file.text.find(module, file.offsets(node)[0])
    if unknown or start < 0:
        return Match(file.span(node), _message(module), "manual", OTHERWISE.format(f"`{(unknown or [module])[0]}`"))
    edit = TextEdit(start, start + len(module), "numpy")
    return Match(file.span(node), _message(module), "safe", SAME, edits=(edit,))


BEFORE = """\
import numpy as np
from numpy.lib.function_base import average as mean, percentile


def told(rows):
    return mean(rows), percentile(np.array(rows), 90)
"""
AFTER = BEFORE.replace("numpy.lib.function_base", "numpy")
KEPT = "from numpy.lib.stride_tricks import sliding_window_view\nfrom numpy.lib.recfunctions import append_fields\n"
UNKNOWN = "from numpy.lib.utils import byte_bounds\n"

RULE = Rule(
    code="COM010",
    name="numpy-modules",
    summary="Names of modules that NumPy dropped are imported from numpy itself",
    why=(
        "NumPy 2 made the modules private in which it defines its functions: `from numpy.lib.function_base import "
        "average` ends with a ModuleNotFoundError where the file is imported. NumPy itself has the functions by the "
        "same names: in 1.26 they are the same objects, and 2 has them still."
    ),
    fix="safe",
    versions="NumPy 2.0 and later",
    triggers=(b"numpy.lib.",),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(KEPT, KEPT),
        Example(UNKNOWN, UNKNOWN),
        Example(BEFORE, BEFORE, pins=("numpy<2",)),
    ),
    stops=True,
    references=("https://numpy.org/doc/stable/numpy_2_0_migration_guide.html",),
)
