"""What pytest gives the parameters of tests: the results of fixtures of their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from codemods.code.calls import last_name
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import Facts

_BESIDE = "conftest.py"


def fixtures_of(file: PythonFile, facts: Facts, function: Function, name: str) -> Iterator[tuple[PythonFile, Function]]:
    """The fixtures of a name that a test or a fixture may be given: those of its file, else of the nearest
    `conftest.py`."""
    if not (function.name.startswith("test") or _is_fixture(function)):
        return
    folders = PurePosixPath(file.path).parents
    for path in (file.path, *(str(folder / _BESIDE) for folder in folders)):
        home = file if path == file.path else facts.open(path)
        functions = (
            (node for node in home.statements if isinstance(node, Function)) if home and name in home.text else ()
        )
        found = [node for node in functions if node.name == name and node is not function and _is_fixture(node)]
        if home and found:
            yield from ((home, node) for node in found)
            return


def _is_fixture(function: Function) -> bool:
    called = (item.func if isinstance(item, ast.Call) else item for item in function.decorator_list)
    return any(last_name(item) == "fixture" for item in called)
